"""Properties that hold of the statistics for any scores."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from olive_iw.stats import (
    METRICS,
    Strata,
    Tally,
    Verdict,
    bootstrap_interval,
    interquartile_mean,
    mann_whitney_p,
    performance_profile,
    portfolio,
    probability_of_improvement,
    tally_by_test,
)
from olive_iw.stats.intervals import interval_around

values = hnp.arrays(
    np.float64, st.integers(1, 9), elements=st.integers(-20, 20).map(lambda number: number / 4)
)
games = st.sampled_from(["breakout", "pong", "seaquest", "venture"])
algorithm = st.dictionaries(games, values, min_size=1)
tallies = st.dictionaries(games, st.sampled_from(Verdict)).map(Tally)


@given(algorithm, algorithm)
def test_my_wins_are_your_losses(first, second):
    one, other = tally_by_test(first, second), tally_by_test(second, first)
    assert (one.wins, one.losses, one.ties) == (other.losses, other.wins, other.ties)
    assert dict(one.reversed.verdicts) == dict(other.verdicts)


@given(values, values)
def test_p_values_are_symmetric_probabilities(first, second):
    p = mann_whitney_p(first, second)
    assert 0.0 <= p <= 1.0
    np.testing.assert_allclose(p, mann_whitney_p(second, first))


@given(values)
def test_nothing_beats_itself(scores):
    assert tally_by_test({"pong": scores}, {"pong": scores}).ties == 1


@given(tallies, tallies)
def test_a_portfolio_wins_no_less_and_loses_no_more_than_its_members(first, second):
    shared = set(first.verdicts) & set(second.verdicts)
    together = portfolio(first, second)
    for member in (first, second):
        member_here = Tally({game: member.verdicts[game] for game in shared})
        assert together.wins >= member_here.wins
        assert together.losses <= member_here.losses


@given(algorithm)
def test_the_interquartile_mean_lies_between_the_quartiles(scores):
    strata = Strata.of(scores)
    order = np.argsort(strata.values[0], kind="stable")
    mass = np.cumsum(strata.weights[order])
    ordered = strata.values[0][order]
    last = ordered.size - 1
    lower = ordered[min(np.searchsorted(mass, 0.25 - 1e-9), last)]
    upper = ordered[min(np.searchsorted(mass, 0.75 + 1e-9), last)]
    assert lower - 1e-9 <= interquartile_mean(strata)[0] <= upper + 1e-9


@settings(max_examples=40)
@given(algorithm, st.sampled_from(sorted(METRICS)), st.integers(0, 2**32 - 1))
def test_intervals_hold_their_point_and_the_percentiles(scores, name, seed):
    metric = METRICS[name]
    interval = bootstrap_interval(scores, metric, np.random.default_rng(seed), samples=40)
    assert interval.low <= interval.point <= interval.high
    strata = Strata.of(scores)
    drawn = metric(strata.resample(np.random.default_rng(seed), 40))
    percentiles = interval_around(interval.point, drawn)
    assert interval.low <= percentiles.low + 1e-9
    assert percentiles.high <= interval.high + 1e-9
    if name != "optimality gap":
        everything = strata.values
        assert everything.min() - 1e-9 <= percentiles.low
        assert percentiles.high <= everything.max() + 1e-9


@given(algorithm)
def test_profiles_fall_from_one_to_nothing(scores):
    profile = performance_profile(Strata.of(scores), np.linspace(-6.0, 6.0, 25))[0]
    assert profile[0] > 1 - 1e-9
    assert profile[-1] == 0.0
    assert (np.diff(profile) <= 1e-12).all()


@given(values, values)
def test_improvement_of_both_sides_sums_to_one(first, second):
    random = np.random.default_rng(0)
    ways = ((first, second), (second, first))
    chances = [probability_of_improvement({"x": a}, {"x": b}, random, 1).point for a, b in ways]
    np.testing.assert_allclose(sum(chances), 1.0)
