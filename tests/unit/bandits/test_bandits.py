"""Bandits and their statistics against closed forms, known distributions and cases by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from olive_iw.bandits import (
    BANDITS,
    INITIAL_VARIANCE,
    UCB1,
    ActionStatistics,
    Max,
    SuccessiveHalving,
    Thompson,
    TopTwoThompson,
    Uniform,
    make_bandit,
)
from olive_iw.bandits.base import back_up, checked_choice, updated
from olive_iw.bandits.check import check_bandit
from olive_iw.bandits.draws import best_of, chi_square, normal, one_of, open_stream, uniform
from olive_iw.bandits.rules import draw_return
from olive_iw.errors import InputError

SAMPLES = 20_000


def frequencies(bandit, count, mean, variance=None, *, unsolved=None, samples=4000):
    """Share of each action among many independent choices from the same statistics."""
    count = np.asarray(count, np.int64)
    mean = np.asarray(mean, np.float64)
    variance = np.full(len(count), 0.2) if variance is None else np.asarray(variance, np.float64)
    unsolved = np.ones(len(count), bool) if unsolved is None else np.asarray(unsolved, bool)
    generator = np.random.default_rng(0)
    statistics = ActionStatistics(count, mean, variance, unsolved)
    chosen = [bandit.choose(statistics, generator) for _ in range(samples)]
    return np.bincount(chosen, minlength=len(count)) / samples


def test_statistics_follow_the_closed_form_at_every_step():
    values = np.random.default_rng(1).normal(3, 20, 200)
    count, mean, variance = 0, 0.0, INITIAL_VARIANCE
    for n, value in enumerate(values, start=1):
        count, mean, variance = updated(count, mean, variance, value)
        seen = values[:n]
        assert count == n
        assert mean == pytest.approx(seen.mean(), rel=1e-9)
        expected = (INITIAL_VARIANCE + np.sum((seen - seen.mean()) ** 2)) / (n + 1)
        assert variance == pytest.approx(expected, rel=1e-9)


def test_first_return_moves_the_mean_but_shrinks_the_variance():
    assert updated(0, 0.0, 0.2, 7.0) == (1, 7.0, pytest.approx(0.1))


def test_back_up_discounts_from_the_end_and_touches_only_the_path():
    count = np.zeros((4, 3), np.int64)
    mean = np.zeros((4, 3))
    variance = np.full((4, 3), INITIAL_VARIANCE)
    low, high = np.full((4, 3), np.inf), np.full((4, 3), -np.inf)
    known = count, mean, variance, low, high
    nodes = np.array([0, 2, 3], np.int32)
    actions = np.array([1, 0, 2], np.int32)
    value = back_up(*known, nodes, actions, np.array([1.0, 10.0, 100.0]), 0.5)
    assert value == 1 + 0.5 * (10 + 0.5 * 100)
    assert mean[0, 1] == 31.0
    assert mean[2, 0] == 60.0
    assert mean[3, 2] == 100.0
    assert count.sum() == 3
    assert count[nodes, actions].tolist() == [1, 1, 1]
    assert (low[0, 1], high[0, 1]) == (31.0, 31.0)
    back_up(*known, nodes[:1], actions[:1], np.array([1.0]), 0.5)
    assert (low[0, 1], high[0, 1], low[2, 0], high[2, 0]) == (1.0, 31.0, 60.0, 60.0)
    assert (count[0, 1], mean[0, 1]) == (2, 16.0)
    assert variance[0, 1] == pytest.approx((0.2 + 2 * 15.0**2) / 3)
    untouched = np.ones((4, 3), bool)
    untouched[nodes, actions] = False
    assert (variance[untouched] == INITIAL_VARIANCE).all()
    assert (low[untouched] == np.inf).all()
    assert (high[untouched] == -np.inf).all()


def test_back_up_of_an_edge_that_occurs_twice_counts_twice():
    count, mean = np.zeros((1, 1), np.int64), np.zeros((1, 1))
    variance = np.full((1, 1), INITIAL_VARIANCE)
    twice = np.zeros(2, np.int32)
    low, high = np.full((1, 1), np.inf), np.full((1, 1), -np.inf)
    back_up(count, mean, variance, low, high, twice, twice, np.array([1.0, 1.0]), 1.0)
    assert (count[0, 0], mean[0, 0]) == (2, 1.5)


def test_back_up_of_an_empty_path_is_nothing():
    empty = np.zeros(0, np.int32)
    count, mean, variance = np.zeros((1, 1), np.int64), np.zeros((1, 1)), np.zeros((1, 1))
    known = count, mean, variance, mean.copy(), mean.copy()
    assert back_up(*known, empty, empty, np.zeros(0), 0.99) == 0.0
    assert count[0, 0] == 0


def test_streams_of_neighbouring_seeds_are_unlike():
    first = np.array([uniform(open_stream(k * 2.0**-53)) for k in range(SAMPLES)])
    assert stats.kstest(first, "uniform").pvalue > 0.001
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 0.03


@pytest.mark.parametrize("degrees", [2, 3, 7, 101])
def test_chi_square_draws(degrees):
    stream = open_stream(0.123)
    draws = [chi_square(stream, degrees) for _ in range(SAMPLES)]
    assert stats.kstest(draws, stats.chi2(degrees).cdf).pvalue > 0.001


def test_normal_draws():
    stream = open_stream(0.456)
    draws = [normal(stream) for _ in range(SAMPLES)]
    assert stats.kstest(draws, "norm").pvalue > 0.001


def test_one_of_is_uniform_over_the_true_entries():
    mask = np.array([True, False, True, True, False])
    stream = open_stream(0.789)
    shares = np.bincount([one_of(mask, stream) for _ in range(9000)], minlength=5) / 9000
    assert shares[[1, 4]].tolist() == [0, 0]
    assert shares[[0, 2, 3]] == pytest.approx(1 / 3, abs=0.03)
    assert one_of(np.zeros(3, bool), stream) == -1


def test_best_of_ignores_what_is_no_candidate():
    stream = open_stream(0.5)
    score = np.array([5.0, -math.inf, 1.0])
    assert best_of(score, np.array([False, True, True]), stream) == 2
    assert best_of(score, np.array([False, True, False]), stream) == 1


@pytest.mark.parametrize(("n", "mean", "variance"), [(1, 0.0, 0.1), (3, -2.0, 4.0), (40, 7.5, 0.3)])
def test_thompson_draws_are_student_t(n, mean, variance):
    stream = open_stream(0.321)
    draws = np.array([draw_return(n, mean, variance, stream) for _ in range(SAMPLES)])
    scale = math.sqrt(variance * (1 + 1 / n))
    expected = stats.t(df=n + 1, loc=mean, scale=scale)
    assert stats.kstest(draws, expected.cdf).pvalue > 0.001
    assert np.median(draws) == pytest.approx(mean, abs=0.05 * scale)
    if n > 10:
        assert draws.mean() == pytest.approx(expected.mean(), abs=0.03 * scale)
        assert draws.var() == pytest.approx(expected.var(), rel=0.05)


THREE = ([4, 9, 2], [0.0, 0.4, -0.5], [1.0, 0.5, 2.0])


def win_chances(count, mean, variance, draws=200_000):
    """Chance of each action to have the largest draw, by scipy."""
    count, mean, variance = (np.asarray(x, float) for x in (count, mean, variance))
    scale = np.sqrt(variance * (1 + 1 / count))
    drawn = stats.t.rvs(
        count + 1, mean, scale, size=(draws, len(count)), random_state=np.random.default_rng(5)
    )
    return np.bincount(drawn.argmax(axis=1), minlength=len(count)) / draws


def test_thompson_chooses_as_often_as_it_wins():
    shares = frequencies(Thompson(), *THREE, samples=SAMPLES)
    assert shares == pytest.approx(win_chances(*THREE), abs=0.015)


def test_thompson_leaves_solved_actions_out():
    unsolved = [True, False, True]
    shares = frequencies(Thompson(), *THREE, unsolved=unsolved, samples=SAMPLES)
    chances = win_chances(*(np.asarray(row)[[0, 2]] for row in THREE))
    assert shares[[0, 2]] == pytest.approx(chances, abs=0.015)


@pytest.mark.parametrize("keep", [0.5, 0.8])
def test_top_two_frequencies(keep):
    win = win_chances(*THREE)
    share = keep * win
    for leader in range(3):
        for challenger in set(range(3)) - {leader}:
            share[challenger] += (1 - keep) * win[leader] * win[challenger] / (1 - win[leader])
    bandit = TopTwoThompson(keep_probability=keep, retries=1000)
    assert frequencies(bandit, *THREE, samples=SAMPLES) == pytest.approx(share, abs=0.015)


def test_top_two_takes_the_best_other_when_the_leader_always_wins():
    count, mean, variance = [5, 5, 5], [1000.0, 500.0, 0.0], [0.01, 0.01, 0.01]
    shares = frequencies(TopTwoThompson(retries=3), count, mean, variance)
    assert shares == pytest.approx([0.5, 0.5, 0.0], abs=0.03)
    assert frequencies(TopTwoThompson(retries=0), count, mean, variance)[1] == pytest.approx(
        0.5, abs=0.03
    )


def test_top_two_with_one_unsolved_action():
    shares = frequencies(TopTwoThompson(), *THREE, unsolved=[False, False, True], samples=50)
    assert shares.tolist() == [0, 0, 1]


def test_ucb1_by_hand():
    # N = 10: bounds sqrt(2 ln 10 / n) are 2.146, 0.8762, 1.517
    count, mean = [1, 6, 2, 1], [0.0, 1.5, 0.6, 99.0]
    unsolved = [True, True, True, False]
    assert frequencies(UCB1(), count, mean, unsolved=unsolved, samples=20)[1] == 1.0
    mean[0] = 0.24
    assert frequencies(UCB1(), count, mean, unsolved=unsolved, samples=20)[0] == 1.0


def test_ucb1_counts_tries_of_solved_actions():
    # 0.3 + bound(4) against 1.0 + bound(8): the second wins iff N is small
    unsolved = [True, True, False]
    few = frequencies(UCB1(), [4, 8, 0], [0.35, 1.0, 0.0], unsolved=unsolved, samples=20)
    many = frequencies(UCB1(), [4, 8, 10**6], [0.35, 1.0, 0.0], unsolved=unsolved, samples=20)
    assert few.tolist() == [0, 1, 0]
    assert many.tolist() == [1, 0, 0]


def test_normalised_ucb1_does_not_depend_on_the_scale_of_rewards():
    count, mean = [3, 5, 9], np.array([0.2, 0.1, 0.9])
    plain = frequencies(UCB1(), count, 1000 * mean, samples=20)
    scaled = frequencies(UCB1(normalised=True), count, 1000 * mean - 7, samples=20)
    # by hand: scaled means 0.125, 0, 1; N = 17, bounds 1.374, 1.065, 0.793
    assert plain.tolist() == scaled.tolist() == [0, 0, 1]
    count = [1, 5, 9]  # N = 15: bounds 2.327, 1.041, 0.776
    assert frequencies(UCB1(normalised=True), count, 1000 * mean, samples=20).tolist() == [1, 0, 0]


def test_normalised_ucb1_with_equal_means_takes_the_least_tried():
    shares = frequencies(UCB1(normalised=True), [3, 2, 3], [8.0, 8.0, 8.0], samples=20)
    assert shares.tolist() == [0, 1, 0]


def test_max_breaks_ties_at_random():
    shares = frequencies(Max(), [1, 1, 1, 1], [2.0, 1.0, 2.0, 3.0], unsolved=[1, 1, 1, 0])
    assert shares == pytest.approx([0.5, 0, 0.5, 0], abs=0.03)


def test_uniform_does_not_look_at_returns():
    shares = frequencies(Uniform(), [0, 50, 3, 1], [0.0, 99.0, 1.0, 5.0], unsolved=[1, 1, 1, 0])
    assert shares == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0], abs=0.03)


def play(bandit, means, pulls, unsolved=None):
    """Counts after so many pulls of actions that always return their mean."""
    actions = len(means)
    count = np.zeros(actions, np.int64)
    mean, variance = np.zeros(actions), np.full(actions, 0.2)
    unsolved = np.ones(actions, bool) if unsolved is None else np.asarray(unsolved)
    generator = np.random.default_rng(2)
    for _ in range(pulls):
        a = bandit.choose(ActionStatistics(count, mean, variance, unsolved), generator)
        count[a], mean[a], variance[a] = updated(count[a], mean[a], variance[a], means[a])
    return count


def test_successive_halving_schedule():
    means = [0.1, 0.4, 0.3, 0.2, 0.0, -1.0, -2.0, -3.0]
    halving = SuccessiveHalving()
    # phase 1, quota 1: all once, the best four 3 times, the best two 7 times
    assert play(halving, means, 8).tolist() == [1] * 8
    assert play(halving, means, 8 + 4 * 2).tolist() == [3, 3, 3, 3, 1, 1, 1, 1]
    assert play(halving, means, 16 + 2 * 4).tolist() == [3, 7, 7, 3, 1, 1, 1, 1]
    # phase 2, quota 2: all 2 times, the best four 6 times, the best two 14 times
    assert play(halving, means, 24 + 4).tolist() == [3, 7, 7, 3, 2, 2, 2, 2]
    assert play(halving, means, 28 + 6).tolist() == [6, 7, 7, 6, 2, 2, 2, 2]
    assert play(halving, means, 34 + 14).tolist() == [6, 14, 14, 6, 2, 2, 2, 2]
    # phase 3, quota 4
    assert play(halving, means, 48 + 8).tolist() == [6, 14, 14, 6, 4, 4, 4, 4]


def test_successive_halving_keeps_survivors_among_equals():
    assert sorted(play(SuccessiveHalving(), [0.0] * 4, 4 + 4)) == [1, 1, 3, 3]


def test_successive_halving_starves_nobody():
    means = [1.0, 0.0, 0.0, 0.0, 0.0, 0.5]
    unsolved = [True, True, False, True, True, True]
    few = play(SuccessiveHalving(), means, 100, unsolved)
    many = play(SuccessiveHalving(), means, 1000, unsolved)
    assert few[2] == many[2] == 0
    assert (many[unsolved] >= 5 * few[unsolved]).all()


def test_make_bandit():
    assert isinstance(make_bandit("ttts"), TopTwoThompson)
    own = Max()
    assert make_bandit(own) is own
    with pytest.raises(InputError, match="did you mean thompson"):
        make_bandit("tompson")


class Chooses:
    """A bandit that always gives the same answer."""

    def __init__(self, answer):
        self.answer = answer

    def choose(self, statistics, generator):
        return self.answer


TWO_OF_THREE = ActionStatistics(
    np.zeros(3, np.int64), np.zeros(3), np.full(3, 0.2), np.array([True, False, True])
)


@pytest.mark.parametrize("answer", [1, 3, -1, None, 0.0, "0", np.array([0, 2])])
def test_a_choice_that_is_no_unsolved_action_is_refused_in_one_line(answer):
    with pytest.raises(InputError, match=r"bandit Chooses chose .* unsolved actions, \[0, 2\]"):
        checked_choice(Chooses(answer), TWO_OF_THREE, np.random.default_rng(0))


@pytest.mark.parametrize("answer", [2, np.int64(2)])
def test_a_choice_may_be_any_kind_of_integer(answer):
    chosen = checked_choice(Chooses(answer), TWO_OF_THREE, np.random.default_rng(0))
    assert (type(chosen), chosen) == (int, 2)


@pytest.mark.parametrize("name", sorted(BANDITS))
def test_every_bandit_says_in_a_line_what_it_does(name):
    first = BANDITS[name].__doc__.splitlines()[0]
    assert first.endswith(".")


class Remembers:
    count = 0

    def choose(self, statistics, generator):
        self.count += 1
        unsolved = np.flatnonzero(statistics.unsolved)
        return int(unsolved[self.count % len(unsolved)])


class Changes:
    def choose(self, statistics, generator):
        statistics.mean[:] = 1
        return int(statistics.unsolved.argmax())


@pytest.mark.parametrize(
    ("bandit", "message"),
    [
        (Chooses(99), "bandit Chooses chose 99"),
        (Remembers(), "for the same arguments: it must draw from the generator alone"),
        (Changes(), "the bandit Changes changed the statistics"),
    ],
)
def test_check_bandit_names_what_is_wrong(bandit, message):
    with pytest.raises(InputError, match=message):
        check_bandit(bandit)
