"""Tables about runs themselves: time in both units, where the calls went, what a run came to."""

import numpy as np
from made_up_runs import write_episode, write_run

from olive_iw.reports.paper_tables import scores_table
from olive_iw.reports.published import published
from olive_iw.reports.results import COUNTED, EpisodeRow, read_results, systems
from olive_iw.reports.run_tables import (
    calls_table,
    run_calls_table,
    run_table,
    runs_table,
    runtime_table,
)
from olive_iw.runs.records import Result
from olive_iw.runs.verification import verify_folder
from olive_iw.runs.verified import remember
from olive_iw.tables import Cell, Table


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


def groups_of(tmp_path):
    return systems(read_results([tmp_path]))


def test_time_per_action_and_per_hundred_calls(tmp_path):
    # Two episodes of 2 actions, 50 calls and 0.5 s each.
    write_run(tmp_path, [50, 60])
    write_run(tmp_path, [1, 2], game="grid:corridor")
    table = runtime_table(groups_of(tmp_path), [published("olive"), published("vae-iw")])
    assert table.columns == (
        "game",
        "olive: s/action",
        "olive: s/100 calls",
        "Olive (paper): s/100 calls",
    )
    assert texts(table) == [["Breakout", "0.25", "1", "0.39"], ["grid:corridor", "0.25", "1", "–"]]


def test_where_the_calls_went_of_older_files(tmp_path):
    folder = write_run(tmp_path, [50])
    write_episode(
        folder, "evaluation", 0, 50, rollouts=10, rollout_depth=45, exhausted=1, calls=150
    )
    (row,) = texts(calls_table(groups_of(tmp_path)))
    assert row == ["Breakout", "75", "5", "4.50", "–", "–", "–", "–", "–", "50%"]


def test_where_the_calls_of_a_run_went_episode_by_episode(tmp_path):
    folder = write_run(tmp_path, [50, 60])
    calls = {"calls": 150, "unused_calls": 50, "twins": 15, "tied_decisions": 1, "rollouts": 10}
    write_episode(
        folder, "evaluation", 1, 60, rollout_depth=45, pruned_new=75, skipped_twins=3, **calls
    )
    table = run_calls_table(folder)
    # 2 actions an episode; of the first one little was recorded.
    assert [row[:2] for row in texts(table)] == [["0", "25"], ["1", "75"]]
    assert texts(table)[1][2:] == ["5", "4.50", "1.50", "25%", "10%", "50%", "50%", "0%"]
    lines = table.as_text(80).splitlines()
    assert sum(line.startswith(" game ") for line in lines) == 1, "in one piece, on 80 columns"


def row_with(counts):
    return EpisodeRow("breakout", 0, 0, 5.0, None, counts, np.empty((2, 0)))


class FakeSystem:
    label = "olive"

    def __init__(self, *counts):
        self.episodes = [row_with(one) for one in counts]


def test_where_the_calls_went_adds_episodes_up():
    counts = dict.fromkeys(COUNTED, 0.0) | {"actions": 10.0, "calls": 800.0, "unused_calls": 200.0}
    counts |= {"rollouts": 100.0, "rollout_depth": 650.0, "twins": 80.0, "pruned_new": 400.0}
    counts["skipped_twins"] = 15.0
    more = counts | {"tied_decisions": 10.0, "exhausted": 5.0, "table_overflows": 1.0}
    table = calls_table([FakeSystem(counts, more)])
    row = ["Breakout", "80", "10", "6.50", "1.50", "20%", "10%", "50%", "50%", "25%"]
    assert texts(table) == [row]
    assert "Breakout: in 1 decision a novelty table was full" in table.notes[1]
    # A count that one episode lacks is not known of the game.
    del more["twins"]
    assert texts(calls_table([FakeSystem(counts, more)]))[0][6] == "–"


def test_rows_are_told_apart_by_system_where_there_are_several(tmp_path):
    write_run(tmp_path, [50], algorithm="rollout-iw", training_calls=0)
    write_run(tmp_path, [50])
    names = [row[0] for row in texts(calls_table(groups_of(tmp_path)))]
    assert names == ["Breakout, rollout-iw", "Breakout, olive"]


def test_every_run_is_listed_with_its_proof(tmp_path):
    write_run(tmp_path, [50, 60])
    write_run(tmp_path, [5], seed=1, settings={"width": 2})
    forged = write_run(tmp_path, [7, 9], seed=2)
    write_episode(forged, "evaluation", 1, 9, game="pong", seed=2)
    table = runs_table(groups_of(tmp_path))
    assert texts(table) == [
        ["Breakout, olive, seed 0", "not verified", "2", "55"],
        ["Breakout, olive, seed 2", "contradicts", "1", "7"],
        ["Breakout, olive, width=2, seed 1", "not verified", "1", "5"],
    ]
    one, wide = groups_of(tmp_path)
    assert one.proof == "1 contradicts, 1 not verified"
    assert wide.proof == "not verified"


def test_a_run_that_was_verified_says_so_until_it_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    world = {"game": "grid:corridor", "algorithm": "patch-iw"}
    folder = write_run(tmp_path / "runs", [0], training_calls=0, max_actions=2, **world)
    # Two steps against a wall: they can be replayed.
    write_episode(folder, "evaluation", 0, 0, frame_skip=None, **world)
    remember(verify_folder(tmp_path / "runs"))
    groups = groups_of(tmp_path / "runs")
    assert texts(runs_table(groups))[0][1] == "verified"
    assert scores_table(groups).notes[0].endswith("laptop profile; verified.")
    write_episode(folder, "evaluation", 0, 0, frame_skip=None, seconds=9.0, **world)
    assert texts(runs_table(groups_of(tmp_path / "runs")))[0][1] == "not verified"


def test_what_a_run_came_to_stands_beside_the_paper_with_both_caps():
    result = Result("breakout", "olive", "laptop", 0, [50.0, 60.0], 20_000, 100, 20, 0.17)
    table = run_table(result)
    assert table.title == "Breakout: mean score"
    assert texts(table)[0] == ["olive-laptop, here", "55 ± 5", "60", "2", "20,000", "100"]
    assert texts(table)[3] == ["Olive (paper)", "53 ± 7", "350", "50", "100,000", "100"]
    assert (
        "20 actions in olive-laptop, here; 18,000 actions in Rollout-IW (paper)" in table.notes[0]
    )
    assert table.notes[1].endswith("Here 0.17 seconds per action.")
    text = table.as_text(80).splitlines()
    assert max(map(len, text)) <= 80


def test_the_variant_of_a_run_is_part_of_its_name():
    more = {"variant": "calls_per_action=20,width=2"}
    result = Result("breakout", "olive", "laptop", 0, [50.0], 20_000, 20, 20, 0.17, **more)
    assert texts(run_table(result))[0][0] == "olive-laptop, width=2, here"


def test_a_game_without_published_scores_stands_alone():
    result = Result("grid:corridor", "rollout-iw", "laptop", 0, [1.0], 0, 100, 20, None)
    table = run_table(result)
    assert texts(table) == [["rollout-iw-laptop, here", "1", "1", "1", "0", "100"]]
    assert table.notes == ["Training and per action: budgets in simulator calls."]


def test_a_long_first_column_is_broken_rather_than_the_table():
    rows = [[Cell("a-long-name/" * 9), Cell("confirmed"), Cell("1", 1.0)]]
    text = Table("Episodes", ("episode", "outcome", "score"), rows).as_text(80)
    assert "continued" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert "".join(line.split()[0] for line in text.splitlines()[4:] if line) == "a-long-name/" * 9


def test_a_path_is_broken_at_its_slashes_however_wide_the_terminal_is():
    run = "gym-CartPole-v1/value-iw-laptop,calls_per_action=30/seed-0/"
    path = f"{run}episodes/evaluation-0000.json"
    row = (Cell(path), Cell("confirmed"), Cell("30", 30.0))
    table = Table("Episodes replayed", ("episode", "outcome", "score"), [row], left={0, 1})
    lines = [line.split() for line in table.as_text(80).splitlines()[4:]]
    assert lines == [
        [run, "confirmed", "30"],
        ["episodes/evaluation-0000.json"],
        [],
    ]
    assert path in table.as_text(140)
    sentence = Cell("sees one/two things at once " * 5)
    assert "one/two" in Table("t", ("what",), [(sentence,)]).as_text(80)
