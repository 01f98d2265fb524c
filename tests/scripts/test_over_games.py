"""Statistics that draw from games: known answers, and coverage where the truth is known."""

import pytest
from scipy.stats import trim_mean

from olive_iw.errors import InputError
from olive_iw.randomness import generator
from olive_iw.stats import METRICS, sign_test_p, tally_by_mean
from results_page.over_games import difference_over_games, interval_over_games

IQM = METRICS["interquartile mean"]


def scores_of(values):
    return {f"game {place}": float(value) for place, value in enumerate(values)}


@pytest.mark.parametrize(
    ("wins", "losses", "ties", "p"),
    [(5, 0, 0, 2 / 32), (3, 3, 9, 1.0), (9, 1, 4, 22 / 1024), (0, 0, 3, 1.0)],
)
def test_the_sign_test_is_a_coins(wins, losses, ties, p):
    first = scores_of([1] * wins + [0] * losses + [7] * ties)
    second = scores_of([0] * wins + [1] * losses + [7] * ties)
    assert sign_test_p(tally_by_mean(first, second)) == pytest.approx(p)


def test_the_point_is_the_metric_of_the_games():
    values = generator(3).normal(size=12)
    found = interval_over_games(scores_of(values), IQM, generator(0))
    assert found.point == pytest.approx(trim_mean(values, 0.25))
    assert found.low < found.point < found.high
    assert found == interval_over_games(scores_of(values), IQM, generator(0))


def test_games_that_differ_much_do_not_hide_a_difference_that_all_share():
    first = scores_of([1, 10, 100, 1000])
    second = scores_of([0, 9, 99, 999])
    found = difference_over_games(first, second, METRICS["mean"], generator(0))
    assert (found.point, found.low, found.high) == pytest.approx((1.0, 1.0, 1.0))


def test_only_games_of_both_sides_count():
    first, second = {"a": 3.0, "b": 5.0, "c": 100.0}, {"b": 1.0, "a": 1.0, "d": -50.0}
    found = difference_over_games(first, second, METRICS["mean"], generator(0))
    assert found.point == pytest.approx(3.0)
    with pytest.raises(InputError, match="share no game"):
        difference_over_games({"a": 1.0}, {"b": 1.0}, IQM, generator(0))


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    held = 0
    for trial in range(200):
        values = generator(trial, 1).normal(5.0, 2.0, size=20)
        found = interval_over_games(scores_of(values), METRICS["mean"], generator(trial), 300)
        held += found.low <= 5.0 <= found.high
    assert 0.90 <= held / 200 <= 0.99
