"""Bandit statistics and choices over generated sequences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olive_iw.bandits import INITIAL_VARIANCE, UCB1, ActionStatistics, Max, SuccessiveHalving
from olive_iw.bandits.base import back_up, updated

compiling = settings(deadline=None)  # the first example may wait for the compiler

returns = st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=40)


@compiling
@given(returns)
def test_statistics_equal_the_closed_form(values):
    state = (0, 0.0, INITIAL_VARIANCE)
    for value in values:
        state = updated(*state, value)
    count, mean, variance = state
    seen = np.array(values)
    assert count == len(values)
    assert mean == pytest.approx(seen.mean(), rel=1e-6, abs=1e-6)
    expected = (INITIAL_VARIANCE + np.sum((seen - seen.mean()) ** 2)) / (count + 1)
    assert variance == pytest.approx(expected, rel=1e-6, abs=1e-6)


@compiling
@given(st.lists(st.floats(-100, 100), max_size=30), st.floats(0, 1))
def test_back_up_gives_every_edge_its_discounted_return(rewards, discount):
    length = len(rewards)
    count = np.zeros((length + 1, 1), np.int64)
    mean, variance = np.zeros((length + 1, 1)), np.full((length + 1, 1), INITIAL_VARIANCE)
    nodes, actions = np.arange(length, dtype=np.int32), np.zeros(length, np.int32)
    low, high = np.full((length + 1, 1), np.inf), np.full((length + 1, 1), -np.inf)
    back_up(count, mean, variance, low, high, nodes, actions, np.array(rewards), discount)
    for start in range(length):
        value = sum(reward * discount**k for k, reward in enumerate(rewards[start:]))
        assert mean[start, 0] == low[start, 0] == high[start, 0] == pytest.approx(value, abs=1e-6)
    assert count[:, 0].tolist() == [1] * length + [0]


@st.composite
def nodes(draw):
    actions = draw(st.integers(1, 10))
    count = draw(st.lists(st.integers(1, 40), min_size=actions, max_size=actions))
    mean = draw(st.lists(st.integers(-5, 5), min_size=actions, max_size=actions))
    unsolved = draw(st.lists(st.booleans(), min_size=actions, max_size=actions))
    unsolved[draw(st.integers(0, actions - 1))] = True
    variance = np.full(actions, 0.2)
    return ActionStatistics(np.array(count), np.array(mean, float), variance, np.array(unsolved))


@compiling
@given(nodes(), st.integers(0, 2**32))
def test_max_is_the_largest_unsolved_mean(node, seed):
    action = Max().choose(node, np.random.default_rng(seed))
    assert node.mean[action] == node.mean[node.unsolved].max()


@compiling
@given(nodes(), st.integers(0, 2**32), st.booleans())
def test_ucb1_is_the_largest_bound(node, seed, normalised):
    count, mean, _, unsolved, *_ = node
    action = UCB1(normalised=normalised).choose(node, np.random.default_rng(seed))
    if normalised:
        low, high = mean[unsolved].min(), mean[unsolved].max()
        mean = (mean - low) / (high - low) if high > low else mean * 0
    bound = mean + np.sqrt(2 * np.log(count.sum()) / count)
    assert bound[action] == pytest.approx(bound[unsolved].max(), rel=1e-12)


@compiling
@given(nodes(), st.integers(0, 2**32))
def test_successive_halving_pulls_a_better_half_or_the_least_tried(node, seed):
    count, mean, _, unsolved, *_ = node
    action = SuccessiveHalving().choose(node, np.random.default_rng(seed))
    better = np.sum(mean[unsolved] > mean[action])
    in_better_half = better < (np.sum(unsolved) + 1) // 2
    assert in_better_half or count[action] == count[unsolved].min()
