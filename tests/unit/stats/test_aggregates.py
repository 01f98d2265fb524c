"""Aggregates over games and curves: known answers."""

import numpy as np
import pytest
from scipy.stats import trim_mean

from olive_iw.errors import InputError
from olive_iw.stats import (
    METRICS,
    Strata,
    TrainingTrace,
    anytime_curve,
    bootstrap_interval,
    human_normalised,
    interquartile_mean,
    learning_curve,
    mean,
    median,
    optimality_gap,
    performance_profile,
    probability_of_improvement,
)

TWO_GAMES = {"x": np.array([0.0, 2.0]), "y": np.array([0.5])}


def generator():
    return np.random.default_rng(7)


def test_normalisation_puts_random_at_zero_and_human_at_one():
    scores = {"x": np.array([10.0, 30.0, 50.0]), "unknown": np.array([1.0])}
    normalised = human_normalised(scores, {"x": 10.0}, {"x": 30.0})
    assert list(normalised) == ["x"]
    assert normalised["x"].tolist() == [0.0, 1.0, 2.0]


def test_games_weigh_the_same_whatever_their_runs():
    strata = Strata.of(TWO_GAMES)
    assert mean(strata)[0] == 0.75
    assert median(strata)[0] == 0.75
    # Shortfalls: 1 and 0 in x (mean 0.5), 0.5 in y.
    assert optimality_gap(strata)[0] == 0.5


def test_median_is_of_game_means():
    scores = {"x": np.array([0.0, 10.0]), "y": np.array([1.0, 1.0]), "z": np.array([9.0, 9.0])}
    assert median(Strata.of(scores))[0] == 5.0


def test_interquartile_mean_by_hand_with_a_run_on_the_edge():
    # Six runs: the middle half is three runs' worth, half of the 2nd, 3rd, 4th, half of the 5th.
    value = interquartile_mean(Strata.of({"x": np.array([0.0, 1.0, 2.0, 4.0, 9.0, 99.0])}))[0]
    assert value == pytest.approx((0.5 * 1 + 2 + 4 + 0.5 * 9) / 3)


def test_interquartile_mean_is_scipys_trimmed_mean_where_that_is_exact():
    values = np.random.default_rng(1).normal(size=(4, 5))
    scores = {str(index): row for index, row in enumerate(values)}
    assert interquartile_mean(Strata.of(scores))[0] == pytest.approx(
        trim_mean(values.ravel(), 0.25)
    )


def test_profile_counts_runs_strictly_above_each_threshold():
    profile = performance_profile(Strata.of(TWO_GAMES), [-1.0, 0.0, 0.5, 2.0])
    assert profile.tolist() == [[1.0, 0.75, 0.25, 0.0]]


def test_profile_integrates_to_the_mean_of_scores_within_its_thresholds():
    scores = {"x": np.array([0.1, 0.4]), "y": np.array([0.9, 0.2])}
    thresholds = np.linspace(0.0005, 0.9995, 1000)
    profile = performance_profile(Strata.of(scores), thresholds)[0]
    assert profile.mean() == pytest.approx(mean(Strata.of(scores))[0], abs=1e-3)


def test_resampling_stays_within_games():
    strata = Strata.of({"x": np.array([1.0, 2.0]), "y": np.array([30.0, 40.0, 50.0])})
    drawn = strata.resample(generator(), 200)
    assert drawn.values.shape == (200, 5)
    assert set(drawn.games[0].ravel()) == {1.0, 2.0}
    assert set(drawn.games[1].ravel()) == {30.0, 40.0, 50.0}


def test_bootstrap_interval_of_the_mean_is_close_to_normal_theory():
    values = np.random.default_rng(3).normal(10.0, 2.0, size=400)
    interval = bootstrap_interval({"x": values}, mean, generator(), samples=4000)
    half_width = 1.96 * values.std() / 20
    assert interval.point == pytest.approx(values.mean())
    assert interval.low == pytest.approx(values.mean() - half_width, abs=0.03)
    assert interval.high == pytest.approx(values.mean() + half_width, abs=0.03)


def test_bootstrap_is_repeatable_and_follows_the_generator():
    scores = {"x": np.arange(9.0) ** 1.7}
    first = bootstrap_interval(scores, mean, generator())
    assert first == bootstrap_interval(scores, mean, generator())
    assert first != bootstrap_interval(scores, mean, np.random.default_rng(8))


def test_one_run_per_game_gives_an_interval_of_no_width():
    for metric in METRICS.values():
        interval = bootstrap_interval({"x": np.array([0.5])}, metric, generator(), samples=10)
        assert interval.low == interval.point == interval.high


def test_probability_of_improvement_counts_ties_half():
    found = probability_of_improvement({"x": [1, 2]}, {"x": [1, 0]}, generator(), samples=2)
    assert found.point == 0.875


def test_probability_of_improvement_averages_games():
    first = {"x": np.array([5.0, 6.0]), "y": np.array([1.0]), "z": np.array([1.0])}
    second = {"x": np.array([1.0]), "y": np.array([1.0, 1.0])}
    interval = probability_of_improvement(first, second, generator(), samples=50)
    assert (interval.low, interval.point, interval.high) == (0.75, 0.75, 0.75)


def test_nothing_in_common_or_nothing_at_all_is_refused():
    with pytest.raises(InputError, match="share no game"):
        probability_of_improvement({"x": np.ones(1)}, {"y": np.ones(1)}, generator())
    with pytest.raises(InputError, match="no scores"):
        Strata.of({})


def test_learning_curve_has_a_point_for_each_training_episode():
    first = TrainingTrace.of([100, 100, 200], [1.0, 2.0, 4.0])  # ends at 100, 200, 400
    second = TrainingTrace.of([200, 400], [10.0, 20.0])  # ends at 200, 600
    curve = learning_curve([first, second, TrainingTrace.of([], [])])
    assert [point.calls for point in curve] == [150.0, 400.0, 400.0]
    assert [point.mean for point in curve] == [5.5, 11.0, 4.0]
    assert [point.count for point in curve] == [2, 2, 1]
    assert learning_curve([]) == []


def test_anytime_curve_groups_by_calls_in_order():
    curve = anytime_curve([(100, 4.0), (10, 1.0), (100, 6.0)])
    assert [(point.calls, point.mean, point.count) for point in curve] == [(10, 1, 1), (100, 5, 2)]
    assert np.isnan(curve[0].standard_error)
    with pytest.raises(InputError, match="positive"):
        anytime_curve([(0, 1.0)])
