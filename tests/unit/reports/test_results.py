"""Reading run folders, also damaged ones."""

import json

import pytest
from made_up_runs import write_episode, write_run

from olive_iw.errors import DamagedFileError, InputError
from olive_iw.reports.choice import check_budgets, choose
from olive_iw.reports.results import read_results, systems
from olive_iw.runs.records import read_episode


def test_one_row_per_evaluation_episode(tmp_path):
    write_run(tmp_path, [1, 2], training=[5, 6, 7])
    results = read_results([tmp_path])
    assert results.warnings == []
    assert [row.score for row in results.episodes] == [1.0, 2.0]
    row = results.episodes[0]
    (run,) = results.runs
    assert (run.game, run.algorithm, run.profile, run.seed) == ("breakout", "olive", "laptop", 0)
    assert (row.game, row.seed, row.episode) == ("breakout", 0, 0)
    assert row.counts["seconds"] / row.counts["actions"] == 0.25
    assert row.path.name == "evaluation-0000.json"
    assert str(run.budget) == "1,000 training calls, 100 calls per action, 200 actions an episode"
    assert results.runs[0].training.calls.tolist() == [50.0, 100.0, 150.0]
    assert results.runs[0].training.scores.tolist() == [5.0, 6.0, 7.0]


def test_a_training_episode_that_was_cut_short_is_no_point_of_a_curve(tmp_path):
    folder = write_run(tmp_path, [1], training=[5, 6])
    write_episode(folder, "training", 2, 0, ended="calls spent")
    assert read_results([tmp_path]).runs[0].training.scores.tolist() == [5.0, 6.0]


def test_the_game_is_that_of_the_file_not_of_the_folder(tmp_path):
    write_run(tmp_path, [1], game="grid:key-door")
    assert (tmp_path / "grid-key-door").is_dir()
    assert read_results([tmp_path]).episodes[0].game == "grid:key-door"


def test_a_score_without_an_episode_that_can_be_replayed_does_not_count(tmp_path):
    folder = write_run(tmp_path, [1, 2, 3])
    torn = folder / "episodes" / "evaluation-0001.json"
    torn.write_text(torn.read_text()[:40])
    results = read_results([tmp_path])
    assert [row.score for row in results.episodes] == [1.0, 3.0]
    assert any("evaluation-0001.json: cannot be read" in line for line in results.warnings)
    assert any("a score of episode 1, which has no file" in line for line in results.warnings)


def test_a_torn_result_falls_back_on_episodes_and_config(tmp_path):
    folder = write_run(tmp_path, [1, 2], training=[3])
    (folder / "result.json").write_text("{")
    results = read_results([tmp_path])
    assert [row.score for row in results.episodes] == [1.0, 2.0]
    assert results.runs[0].budget.training_calls == 1000
    assert any("result.json: cannot be read" in line for line in results.warnings)


def test_an_unfinished_run_without_training_spent_no_training_calls(tmp_path):
    (write_run(tmp_path, [1, 2], algorithm="rollout-iw") / "result.json").unlink()
    budget = read_results([tmp_path]).runs[0].budget
    assert (budget.training_calls, budget.calls_per_action, budget.max_actions) == (0, 100, 200)


def test_an_unfinished_run_without_a_budget_is_left_out_and_the_rest_read(tmp_path):
    folder = write_run(tmp_path, [1, 2])
    (folder / "result.json").unlink()
    (folder / "config.toml").unlink()
    write_run(tmp_path, [8], seed=1)
    results = read_results([tmp_path])
    assert [row.score for row in results.episodes] == [8.0]
    assert any("not finished" in line for line in results.warnings)
    assert any("neither config.toml nor result.json" in line for line in results.warnings)


def test_scores_that_disagree_are_told_and_do_not_count(tmp_path):
    folder = write_run(tmp_path, [1, 2])
    write_episode(folder, "evaluation", 1, 99)
    results = read_results([tmp_path])
    assert [row.score for row in results.episodes] == [1.0]
    assert any("score 2 of episode 1, but 99 in its file" in line for line in results.warnings)


def test_another_run_of_the_same_name_is_told_and_counts(tmp_path):
    write_run(tmp_path / "a", [1, 2])
    write_run(tmp_path / "b", [1, 5])
    results = read_results([tmp_path])
    assert [row.score for row in results.episodes] == [1.0, 2.0, 1.0, 5.0]
    (warning,) = results.warnings
    assert "a/breakout" in warning
    assert "b/breakout" in warning
    assert "both count" in warning


def test_the_same_run_twice_counts_once(tmp_path):
    write_run(tmp_path / "a", [1, 2])
    write_run(tmp_path / "b", [1, 2])
    results = read_results([tmp_path / "a", tmp_path / "a", tmp_path / "b"])
    assert len(results.episodes) == 2
    assert len(results.warnings) == 1
    assert "the same run as" in results.warnings[0]


def test_nothing_to_read_is_refused(tmp_path):
    with pytest.raises(InputError, match="no evaluation episode found"):
        read_results([tmp_path])
    with pytest.raises(InputError, match="is not a folder"):
        read_results([tmp_path / "nowhere"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "format 2"),
        ({"actions": [0]}, "1 actions but 2 rewards"),
        ({"score": float("nan")}, "NaN is no number"),
        ({"versions": 3}, "wrong form"),
        ({"actions": None}, "wrong form"),
    ],
)
def test_wrong_entries_are_named(tmp_path, change, message):
    path = write_episode(tmp_path, "evaluation", 0, 1, **change)
    with pytest.raises(DamagedFileError, match=message):
        read_episode(path)


def test_missing_entries_and_other_json_are_named(tmp_path):
    path = write_episode(tmp_path, "evaluation", 0, 1)
    content = json.loads(path.read_text())
    del content["rewards"]
    path.write_text(json.dumps(content))
    with pytest.raises(DamagedFileError, match="'rewards' is missing"):
        read_episode(path)
    path.write_text("[1]")
    with pytest.raises(DamagedFileError, match="must hold a JSON object, not list"):
        read_episode(path)


def test_systems_are_ordered_as_in_the_paper_and_labelled_by_what_differs(tmp_path):
    write_run(tmp_path, [1], algorithm="olive")
    write_run(tmp_path, [1], algorithm="rollout-iw", training_calls=0)
    write_run(tmp_path, [1], algorithm="my-own")
    groups = systems(read_results([tmp_path]))
    assert [system.label for system in groups] == ["rollout-iw", "olive", "my-own"]
    check_budgets(groups)
    write_run(tmp_path, [1], profile="paper")
    labels = [system.label for system in systems(read_results([tmp_path]))]
    assert "olive (laptop)" in labels
    assert "olive (paper)" in labels


def test_different_budgets_are_refused_by_name_and_told_apart(tmp_path):
    write_run(tmp_path, [1], seed=0, calls_per_action=10)
    write_run(tmp_path, [1], seed=1, calls_per_action=100)
    groups = systems(read_results([tmp_path]))
    assert [system.label for system in groups] == [
        "olive [10 calls/action]",
        "olive [100 calls/action]",
    ]
    write_run(tmp_path, [1], seed=2, calls_per_action=100)
    with pytest.raises(InputError) as refused:
        check_budgets(systems(read_results([tmp_path])), ["olive-iw", "report", "my runs"])
    assert str(refused.value) == (
        "these runs have different calls per action (10, 100). Choose one: olive-iw report "
        "'my runs' --only calls_per_action=100; or see them apart with --mix-budgets"
    )


def test_a_refused_mix_of_many_budgets_is_told_in_few_words(tmp_path):
    for calls in range(1, 40):
        write_run(tmp_path, [1], seed=calls, calls_per_action=calls, max_actions=100 * calls)
    with pytest.raises(InputError) as refused:
        check_budgets(systems(read_results([tmp_path])))
    assert "calls per action (1 to 39) and actions an episode (100 to 3,900)" in str(refused.value)
    assert len(str(refused.value)) < 250


@pytest.mark.parametrize(
    ("only", "left"),
    [
        ([], 6),
        (["pong"], 2),
        (["pong", "breakout"], 6),
        (["rollout-iw"], 1),
        (["olive"], 5),
        (["olive, width=2"], 1),
        (["calls_per_action=100"], 4),
        (["calls_per_action=100", "breakout", "olive [100 calls/action]"], 2),
        (["training_calls=1000", "breakout"], 4),
        (["calls_per_action=10", "calls_per_action=100", "pong"], 2),
    ],
)
def test_runs_are_chosen_by_game_system_and_budget(tmp_path, only, left):
    write_run(tmp_path, [1], calls_per_action=10)
    write_run(tmp_path, [1], seed=1)
    write_run(tmp_path, [1], seed=2)
    write_run(tmp_path, [1], game="pong", settings={"width": 2})
    write_run(tmp_path, [1], game="pong", calls_per_action=10)
    write_run(tmp_path, [1], algorithm="rollout-iw", training_calls=0)
    results = read_results([tmp_path])
    assert len(choose(results, only).runs) == left


def test_a_choice_of_what_is_not_there_is_refused(tmp_path):
    write_run(tmp_path, [1])
    write_run(tmp_path, [1], game="pong", algorithm="rollout-iw", training_calls=0)
    results = read_results([tmp_path])
    with pytest.raises(InputError, match="did you mean breakout"):
        choose(results, ["brekout"])
    with pytest.raises(InputError, match="no episode is of all that --only names: olive, pong"):
        choose(results, ["olive", "pong"])


def test_run_means_weigh_runs_and_scores_weigh_episodes(tmp_path):
    write_run(tmp_path, [1, 2, 3], seed=0)
    write_run(tmp_path, [10], seed=1)
    system = systems(read_results([tmp_path]))[0]
    assert system.scores["breakout"].tolist() == [1, 2, 3, 10]
    assert system.run_means["breakout"].tolist() == [2, 10]


def test_variants_are_never_pooled_and_labels_say_them(tmp_path):
    write_run(tmp_path, [1], algorithm="patch-iw", training_calls=0)
    write_run(
        tmp_path,
        [2],
        algorithm="patch-iw",
        training_calls=0,
        settings={"width": 2, "discount": 0.5},
    )
    groups = systems(read_results([tmp_path]))
    assert [system.label for system in groups] == ["patch-iw", "patch-iw, width=2,discount=0.5"]
    assert [system.scores["breakout"].tolist() for system in groups] == [[1.0], [2.0]]
    check_budgets(groups)


def test_a_budget_is_no_variant(tmp_path):
    write_run(tmp_path, [1], calls_per_action=10, settings={"width": 2})
    (system,) = systems(read_results([tmp_path]))
    assert (system.variant, system.label) == ("width=2", "olive, width=2")
