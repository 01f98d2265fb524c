"""Wins and losses: known answers by hand and scipy."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from olive_iw.errors import InputError
from olive_iw.stats import (
    Tally,
    Verdict,
    best_in_group,
    mann_whitney_p,
    portfolio,
    summarise,
    tally_by_mean,
    tally_by_test,
    verdict_by_test,
    win_matrix,
)

WIN, LOSS, TIE = Verdict.WIN, Verdict.LOSS, Verdict.TIE
LOW, HIGH = np.arange(5.0), np.arange(10.0, 15.0)


def test_summary_by_hand():
    summary = summarise([1, 2, 3, 4])
    assert summary.mean == 2.5
    assert summary.standard_error == pytest.approx(np.sqrt(5 / 3) / 2)
    assert (summary.maximum, summary.count) == (4, 4)


def test_one_score_has_no_standard_error():
    assert np.isnan(summarise([7.0]).standard_error)


@pytest.mark.parametrize("bad", [[], [[1.0]], [np.nan], [1.0, np.inf]])
def test_scores_that_cannot_be_summarised_are_refused(bad):
    with pytest.raises(InputError, match="scores must be"):
        summarise(bad)


def test_p_value_of_two_separated_samples_of_five():
    # All 25 pairs agree; the exact two-sided p is 2 / C(10, 5).
    assert mann_whitney_p(LOW, HIGH) == pytest.approx(2 / 252)


def test_p_value_with_ties_is_scipys():
    a, b = [1, 1, 2, 3, 5, 5], [1, 2, 2, 8, 9, 9]
    expected = mannwhitneyu(a, b, alternative="two-sided").pvalue
    assert mann_whitney_p(a, b) == pytest.approx(expected, rel=1e-12)


def test_equal_constants_are_a_tie():
    assert mann_whitney_p([3.0] * 4, [3.0] * 6) == 1.0
    assert verdict_by_test([3.0] * 4, [3.0] * 6) is TIE


def test_higher_mean_wins_only_with_significance():
    assert verdict_by_test(HIGH, LOW) is WIN
    assert verdict_by_test(LOW, HIGH) is LOSS
    assert verdict_by_test([5, 6, 7], [1, 2, 3, 4]) is TIE  # p = 2 / C(7, 3) = 0.057
    assert verdict_by_test([5, 6, 7, 8], [1, 2, 3, 4]) is WIN  # p = 2 / C(8, 4) = 0.029
    assert verdict_by_test(HIGH, LOW, significance=0.001) is TIE


def test_significant_ranks_with_equal_means_are_a_tie():
    a = np.array([10.0] * 20)
    b = np.array([9.0] * 19 + [29.0])
    assert mann_whitney_p(a, b) < 0.05
    assert a.mean() == b.mean()
    assert verdict_by_test(a, b) is TIE


def test_tally_covers_shared_games_only():
    tally = tally_by_test({"x": HIGH, "y": LOW, "z": LOW}, {"x": LOW, "y": HIGH, "w": LOW})
    assert dict(tally.verdicts) == {"x": WIN, "y": LOSS}
    assert (tally.wins, tally.losses, tally.ties, tally.games) == (1, 1, 0, 2)


def test_tally_by_mean_counts_exact_ties():
    tally = tally_by_mean({"x": 2, "y": 1, "z": 5}, {"x": 1, "y": 2, "z": 5})
    assert (tally.wins, tally.losses, tally.ties) == (1, 1, 1)


def test_portfolio_truth_table():
    pairs = [(WIN, WIN), (WIN, TIE), (WIN, LOSS), (TIE, TIE), (TIE, LOSS), (LOSS, LOSS)]
    expected = [WIN, WIN, WIN, TIE, TIE, LOSS]
    first = Tally({str(i): pair[0] for i, pair in enumerate(pairs)})
    second = Tally({str(i): pair[1] for i, pair in enumerate(pairs)})
    assert list(portfolio(first, second).verdicts.values()) == expected
    assert list(portfolio(second, first).verdicts.values()) == expected


def test_portfolio_leaves_out_games_of_one_member():
    assert portfolio(Tally({"x": WIN, "y": WIN}), Tally({"y": LOSS})).verdicts == {"y": WIN}


def test_win_matrix_has_every_ordered_pair():
    matrix = win_matrix({"a": {"x": HIGH}, "b": {"x": LOW}, "c": {"x": LOW}})
    assert len(matrix) == 6
    assert matrix["a", "b"].wins == matrix["a", "c"].wins == 1
    assert matrix["b", "a"].losses == 1
    assert matrix["b", "c"].ties == 1


def test_best_in_group_counts_ties_for_all():
    group = {"a": {"x": 1.0, "y": 2.0, "only": 9.0}, "b": {"x": 1.0, "y": 3.0}}
    assert best_in_group(group) == {"a": 1, "b": 2}
    assert best_in_group({}) == {}
