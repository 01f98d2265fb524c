"""What every registered bandit promises."""

import numpy as np
import pytest

from olive_iw.bandits import BANDITS, ActionStatistics, Bandit, check_bandit, make_bandit


@pytest.fixture(params=sorted(BANDITS))
def bandit(request):
    return make_bandit(request.param)


def random_node(generator, *, tried):
    actions = int(generator.integers(1, 19))
    count = generator.integers(1 if tried else 0, 30, actions)
    mean = generator.normal(0, 100, actions) * (count > 0)
    variance = np.where(count > 0, generator.gamma(1, 50, actions), 0.2)
    unsolved = generator.random(actions) < 0.6
    unsolved[generator.integers(actions)] = True
    low, high = mean - np.sqrt(variance), mean + np.sqrt(variance)
    prior = generator.random(actions, np.float32)
    return ActionStatistics(count, mean, variance, unsolved, low, high, prior)


def test_follows_the_protocol(bandit):
    assert isinstance(bandit, Bandit)


def test_keeps_the_contract(bandit):
    check_bandit(bandit)


@pytest.mark.parametrize("tried", [False, True])
def test_returns_only_unsolved_actions(bandit, tried):
    generator = np.random.default_rng(0)
    for _ in range(500):
        node = random_node(generator, tried=tried)
        action = bandit.choose(node, generator)
        assert type(action) is int
        assert node.unsolved[action]


def test_same_generator_state_same_choice(bandit):
    cases = np.random.default_rng(1)
    for seed in range(200):
        node = random_node(cases, tried=seed % 2 == 0)
        kept = [array.copy() for array in node]
        first = bandit.choose(node, np.random.default_rng(seed))
        assert bandit.choose(node, np.random.default_rng(seed)) == first
        for array, before in zip(node, kept, strict=True):
            assert np.array_equal(array, before)


def test_depends_on_the_generator(bandit):
    rows = np.zeros(6, np.int64), np.zeros(6), np.full(6, 0.2), np.ones(6, bool)
    node = ActionStatistics(*rows, np.full(6, np.inf), np.full(6, -np.inf), np.ones(6, np.float32))
    chosen = {bandit.choose(node, np.random.default_rng(seed)) for seed in range(100)}
    assert chosen == set(range(6))


def test_accepts_rows_of_a_tree_and_one_action(bandit):
    count, mean = np.ones((5, 1), np.int64), np.zeros((5, 1))
    variance, unsolved = np.full((5, 1), 0.2), np.ones((5, 1), bool)
    prior, generator = np.ones((5, 1), np.float32), np.random.default_rng(0)
    tables = count, mean, variance, unsolved, mean, mean, prior
    rows = ActionStatistics(*(table[3] for table in tables))
    assert bandit.choose(rows, generator) == 0


@pytest.mark.parametrize("name", sorted(set(BANDITS) - {"uniform", "policy"}))
def test_untried_actions_come_first_in_random_order(name):
    bandit = make_bandit(name)
    mean = np.array([50.0, 0.0, 0.0, 9.0, 0.0])
    unsolved = np.array([True, True, False, True, True])
    count = np.array([3, 0, 0, 1, 0])
    generator = np.random.default_rng(0)
    prior = np.ones(5, np.float32)
    node = ActionStatistics(count, mean, np.full(5, 0.2), unsolved, mean, mean, prior)
    chosen = [bandit.choose(node, generator) for _ in range(600)]
    shares = np.bincount(chosen, minlength=5) / 600
    assert shares == pytest.approx([0, 0.5, 0, 0, 0.5], abs=0.08)
