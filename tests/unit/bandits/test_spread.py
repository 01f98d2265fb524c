"""Bandits that fit their bonus to the spread of returns, against numbers by hand."""

import numpy as np
import pytest

from olive_iw.bandits import INITIAL_VARIANCE, ActionStatistics, UCB1Normal2, UCB1Uniform
from olive_iw.bandits.base import updated
from olive_iw.bandits.spread import normal2_scores, uniform_scores
from olive_iw.errors import InputError


def statistics(*returns, unsolved=None):
    """What a node knows after each of its actions returned what is listed."""
    states = []
    for values in returns:
        state = (0, 0.0, INITIAL_VARIANCE)
        for value in values:
            state = updated(*state, float(value))
        states.append(state)
    count, mean, variance = (np.array(row) for row in zip(*states, strict=True))
    low = np.array([min(values, default=np.inf) for values in returns], float)
    high = np.array([max(values, default=-np.inf) for values in returns], float)
    allowed = np.ones(len(returns), bool) if unsolved is None else np.array(unsolved)
    return ActionStatistics(count, mean, variance, allowed, low, high)


def chosen(bandit, node, samples=300):
    generator = np.random.default_rng(0)
    picks = [bandit.choose(node, generator) for _ in range(samples)]
    return np.bincount(picks, minlength=len(node.count)) / samples


def test_normal2_scores_by_hand():
    node = statistics([0, 0], [-1, 1])
    assert normal2_scores(*node[:3]) == pytest.approx([0, 2.35482], abs=1e-5)
    assert chosen(UCB1Normal2(), node).tolist() == [0, 1]


def test_normal2_frees_the_variance_of_its_prior():
    node = statistics([1, 3, 8])
    score = normal2_scores(*node[:3])[0]
    assert ((score - 4) ** 2 / (2 * np.log(3))) == pytest.approx(13)


def test_uniform_scores_by_hand_favour_the_one_tried_more():
    node = statistics([4, 6, 5, 5], [4, 6])
    assert uniform_scores(node.count, node.low, node.high) == pytest.approx(
        [18.1152, 14.2739], abs=1e-4
    )
    assert chosen(UCB1Uniform(), node).tolist() == [1, 0]


@pytest.mark.parametrize("bandit", [UCB1Normal2(), UCB1Uniform()])
def test_every_unsolved_action_is_tried_twice_first(bandit):
    node = statistics([9, 9], [0], [0], [5, 7], unsolved=[True, True, True, False])
    assert chosen(bandit, node) == pytest.approx([0, 0.5, 0.5, 0], abs=0.1)
    node = statistics([9, 9], [0], [], [5, 7])
    assert chosen(bandit, node).tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("kind", [UCB1Normal2, UCB1Uniform])
def test_the_second_try_is_an_option(kind):
    node = statistics([9, 9], [0])
    assert chosen(kind(second_try=False), node).tolist() == [1, 0]


@pytest.mark.parametrize("bandit", [UCB1Normal2(), UCB1Uniform()])
def test_where_returns_do_not_differ_the_choice_is_uniform(bandit):
    node = statistics([0, 0], [0, 0, 0], [0, 0], unsolved=[True, True, False])
    assert chosen(bandit, node) == pytest.approx([0.5, 0.5, 0], abs=0.1)


@pytest.mark.parametrize("bandit", [UCB1Normal2(), UCB1Uniform()])
@pytest.mark.parametrize("value", [0.0, 0.3, 7.0, 1e5])
def test_however_often_the_same_came_back_the_choice_is_uniform(bandit, value):
    generator, tries = np.random.default_rng(0), [2] * 4
    for _ in range(400):
        node = statistics(*([value] * count for count in tries))
        node = node._replace(mean=np.full(4, value))  # freed of rounding, which is another matter
        tries[bandit.choose(node, generator)] += 1
    assert min(tries) > 70


def test_solved_actions_count_in_all_tries():
    few = statistics([0, 1], [0.3, 0.9], [0, 0], unsolved=[True, True, False])
    many = statistics([0, 1], [0.3, 0.9], [0] * 500, unsolved=[True, True, False])
    assert chosen(UCB1Normal2(), many).tolist() == [1, 0, 0]
    assert normal2_scores(*many[:3])[0] > normal2_scores(*few[:3])[0]


def test_monte_carlo_and_full_bellman_estimates():
    lucky, steady = [0, 0, 9], [4, 4, 4]
    node = statistics(lucky, steady)
    assert node.mean.tolist() == [3, 4]
    assert node.high is not None
    flat = node._replace(variance=np.full(2, INITIAL_VARIANCE / 4))  # no spread at all
    assert chosen(UCB1Normal2(), flat).tolist() == [0, 1]  # 3 against 4
    assert chosen(UCB1Normal2(full_bellman=True), flat).tolist() == [1, 0]  # 9 against 4


def test_visits_that_have_not_returned_yet_do_no_harm():
    node = statistics([1, 2], [])._replace(count=np.array([2, 2]))  # virtual visits
    for bandit in (UCB1Normal2(), UCB1Uniform()):
        assert chosen(bandit, node).sum() == 1


def test_statistics_without_a_range_are_refused():
    node = statistics([1, 2], [3, 4])._replace(low=None, high=None)
    for bandit in (UCB1Uniform(), UCB1Normal2(full_bellman=True)):
        with pytest.raises(InputError, match="needs the statistic"):
            bandit.choose(node, np.random.default_rng(0))
