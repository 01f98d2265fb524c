"""Comparisons: verdicts in words, budgets always said."""

import math

import pytest
from made_up_runs import write_run

from olive_iw.errors import InputError
from olive_iw.reports.comparison import TOO_FEW, compare_runs, judge_scores
from olive_iw.reports.published import published_names
from olive_iw.stats import Summary

UNKNOWN = math.nan


def judged(ours, theirs, **more):
    return judge_scores(Summary(*ours), Summary(*theirs), **more)


def test_verdicts_in_words():
    theirs = (53.0, 7.0, 350.0, 50)
    assert judged((60.0, UNKNOWN, 60.0, 1), theirs) == (None, "too few episodes")
    assert judged((60.0, 5.0, 80.0, 10), theirs)[1] == "within noise"
    difference, verdict = judged((153.0, 7.0, 200.0, 50), theirs)
    assert verdict == "higher"
    assert difference == pytest.approx(100 / math.hypot(7, 7))
    assert judged((3.0, 2.0, 9.0, 50), theirs)[1] == "lower"
    assert judged((53.0, 2.0, 60.0, 10), theirs) == (0.0, "equal")


def test_few_episodes_need_a_larger_difference():
    # Two episodes leave one degree of freedom: 12.7 standard errors are needed, not 2.
    assert judged((63.0, 1.0, 64.0, 2), (53.0, 0.0, 60.0, 50))[1] == "within noise"
    assert judged((63.0, 1.0, 64.0, 10), (53.0, 0.0, 60.0, 50))[1] == "higher"


def test_no_spread_at_all():
    assert judged((100.0, 0.0, 100.0, 9), (98.0, 0.0, 99.0, 50)) == (math.inf, "higher")


def test_one_episode_on_either_side_gives_no_verdict():
    # 93 standard errors of the ten, none of them known of the one.
    ten, one = (10.0, 1.0, 15.0, 10), (103.0, UNKNOWN, 103.0, 1)
    assert judged(ten, one) == judged(one, ten) == judged(one, one) == (None, TOO_FEW)
    assert judged(ten, (103.0, 1.0, 110.0, 2))[1] == "lower"


def test_an_unknown_error_of_theirs_is_said(tmp_path):
    assert judged((60.0, 1.0, 80.0, 10), (401.2, UNKNOWN, UNKNOWN, 0))[1] == "lower"
    write_run(tmp_path, [60, 61, 59])
    (comparison,) = compare_runs(tmp_path, "efficientzero")
    assert comparison.games[0].verdict == "lower"
    assert any("no standard error, its mean is taken as exact" in n for n in comparison.notes())


def test_significance_is_two_sided():
    ours, theirs = (56.4, 1.0, 90.0, 10_000), (53.0, math.sqrt(3.0), 60.0, 10_000)
    difference, verdict = judged(ours, theirs)
    assert (difference, verdict) == (pytest.approx(1.7), "within noise")  # p = 0.089
    assert judged(ours, theirs, significance=0.10)[1] == "higher"
    assert judged(ours, theirs, significance=0.08)[1] == "within noise"


@pytest.mark.parametrize("significance", [0.0, 1.0, -0.1, 5.0, UNKNOWN])
def test_an_impossible_significance_is_refused(tmp_path, significance):
    write_run(tmp_path, [50, 60])
    with pytest.raises(InputError, match="must lie between 0 and 1"):
        compare_runs(tmp_path, "paper", significance)


def test_against_the_paper(tmp_path):
    write_run(tmp_path, [50, 60, 55], game="breakout", training_calls=5000)
    write_run(tmp_path, [1, 2, 3], game="grid:corridor", training_calls=5000)
    (comparison,) = compare_runs(tmp_path, "paper")
    breakout, corridor = comparison.games
    assert breakout.theirs.mean == 53
    assert breakout.verdict == "within noise"
    assert (corridor.theirs, corridor.verdict) == (None, "no score")
    assert comparison.tally.wins == comparison.tally.games == 1
    notes = "\n".join(comparison.notes())
    assert "5,000 training calls, 100 calls per action" in notes
    assert "training: 100,000 calls; planning: 100 calls per action" in notes
    assert "The budgets are not the same" in notes
    assert "Planners use the simulator" in notes
    assert "By mean: higher in 1, lower in 0, equal in 0 of 1 game." in notes
    assert "two-sided p < 0.05" in notes
    table = comparison.table()
    assert table.columns == ("game", "verdict", "ours (3)", "theirs (50)", "diff.")
    assert [cell.text for cell in table.rows[0]] == [
        "Breakout",
        "within noise",
        "55 ± 2.89",
        "53 ± 7",
        "+0.26",
    ]
    write_run(tmp_path, [50, 60], game="qbert", training_calls=5000)
    (comparison,) = compare_runs(tmp_path, "paper")
    assert comparison.table().columns[2:4] == ("ours", "theirs (50)")
    assert comparison.table().rows[0][2].text == "55 ± 2.89 (3)"


def test_the_verdict_comes_first_and_all_fits_eighty_columns(tmp_path):
    for game, scores in (("montezuma_revenge", [0, 2500]), ("up_n_down", [834351, 654321])):
        write_run(tmp_path, scores, game=game)
    (comparison,) = compare_runs(tmp_path, "paper")
    lines = comparison.table().as_text(80).splitlines()
    assert lines[0] == "olive against Olive (paper): within noise in 2 of 2 games"
    assert max(map(len, lines)) <= 80
    row = next(line for line in lines if "Montezuma" in line)
    assert "within noise" in row
    assert row.endswith("+0.95")  # one table, not in parts
    write_run(tmp_path / "one", [5])
    (comparison,) = compare_runs(tmp_path / "one", "paper")
    assert comparison.verdict() == "olive against Olive (paper): too few episodes in Breakout"


def test_equal_budgets_are_not_complained_of(tmp_path):
    write_run(tmp_path, [50, 60], training_calls=100_000, max_actions=18_000)
    (comparison,) = compare_runs(tmp_path, "paper")
    notes = "\n".join(comparison.notes())
    assert "The budgets are not the same" not in notes
    assert "Caps of an episode" not in notes


def test_a_shorter_episode_is_another_budget(tmp_path):
    write_run(tmp_path, [50, 60], training_calls=100_000, max_actions=200)
    (comparison,) = compare_runs(tmp_path, "paper")
    notes = "\n".join(comparison.notes())
    assert "The budgets are not the same" in notes
    assert "200 actions an episode, laptop profile" in notes
    assert "18,000 actions an episode" in notes
    assert comparison.notes()[0] == (
        "Caps of an episode differ, so these scores do not compare: 200 actions in olive; "
        "18,000 actions in Olive (paper)."
    )


def test_against_an_agent_without_simulator(tmp_path):
    write_run(tmp_path, [50, 60])
    (comparison,) = compare_runs(tmp_path, "efficientzero")
    assert any("does not use the simulator to act" in note for note in comparison.notes())


@pytest.mark.parametrize("name", published_names())
def test_against_every_published_system(tmp_path, name):
    write_run(tmp_path, [50, 60])
    (comparison,) = compare_runs(tmp_path, name)
    assert comparison.games[0].theirs is not None
    assert comparison.table().as_text()


def test_against_another_folder_pairs_the_same_algorithm(tmp_path):
    write_run(tmp_path / "ours", [50, 60, 70])
    write_run(tmp_path / "theirs", [5, 6, 7])
    write_run(tmp_path / "theirs", [1, 2, 3], algorithm="rollout-iw")
    (comparison,) = compare_runs(tmp_path / "ours", str(tmp_path / "theirs"))
    assert comparison.theirs.label == "olive"
    assert comparison.games[0].verdict == "higher"
    assert str(tmp_path / "theirs") in comparison.theirs.source


def test_against_another_folder_pairs_the_same_variant(tmp_path):
    for folder in ("ours", "theirs"):
        write_run(tmp_path / folder, [50, 60])
        write_run(tmp_path / folder, [5, 6], settings={"width": 2})
    found = compare_runs(tmp_path / "ours", str(tmp_path / "theirs"))
    assert [(one.ours.label, one.theirs.label) for one in found] == [
        ("olive", "olive"),
        ("olive, width=2", "olive, width=2"),
    ]


def test_against_another_folder_of_another_algorithm(tmp_path):
    write_run(tmp_path / "ours", [50, 60, 70])
    write_run(tmp_path / "theirs", [1, 2, 3], algorithm="rollout-iw")
    (comparison,) = compare_runs(tmp_path / "ours", str(tmp_path / "theirs"))
    assert comparison.theirs.label == "rollout-iw"


def test_what_cannot_be_compared_is_refused(tmp_path):
    write_run(tmp_path, [50], algorithm="olive-passive")
    with pytest.raises(InputError, match="prints no scores by game for olive-passive"):
        compare_runs(tmp_path, "paper")
    with pytest.raises(InputError, match="cannot compare with 'nowhere'"):
        compare_runs(tmp_path, "nowhere")
