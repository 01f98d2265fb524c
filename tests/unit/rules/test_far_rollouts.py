"""Rollouts that lead away: they keep a direction, and look further where nothing can be earned."""

import pytest
from synthetic import LevelFeatures, ScriptedSimulator, SyntheticSimulator

from olive_iw.planners import RolloutIW
from olive_iw.rules import Further, Persistence


def rollouts(persistence):
    """Return whether each choice below the root was the one before it, in 40 rollouts of 12."""
    for seed in range(40):
        planner = RolloutIW(None, rules=[Persistence(persistence)], depth_limit=12)
        game = SyntheticSimulator(seed, lives=0, terminal_chance=0.0)
        planner.start(game, seed)
        planner.decide(calls=12)
        yield [path[-1] == path[-2] for path in game.log[1:12]]


@pytest.mark.parametrize(
    ("persistence", "same"), [(1.0, 1.0), (0.8, 0.8 + 0.2 / 3), (0.5, 2 / 3), (0.0, 1 / 3)]
)
def test_rollouts_keep_their_direction_with_a_chance(persistence, same):
    """Nothing is pruned: a first choice below the root is the last action, or any of three."""
    kept = [each for rollout in rollouts(persistence) for each in rollout]
    assert sum(kept) / len(kept) == pytest.approx(same, abs=0.07)


def test_every_rollout_draws_its_own_chance():
    """One in eight goes straight all the way: of a chance of 1/2 for all it would be one in 90."""
    assert sum(all(rollout) for rollout in rollouts(0.5)) >= 3


def far_away(actions, reward=7.0):
    """Return a world that always looks the same; so many actions of kind 1 in a row earn."""
    return ScriptedSimulator({(1,) * actions: (0, reward, False, 0)})


def decided(game, share):
    rules = [Persistence(1.0), Further(share)]
    planner = RolloutIW(LevelFeatures(), rules=rules, depth_limit=20)
    planner.start(game, seed=0)
    return planner.decide(calls=100)


def test_what_lies_beyond_all_novelty_is_found_by_looking_further():
    for share in (0.0, 0.5):
        decision = decided(far_away(10), share)
        assert bool(decision.values.max() > 0) is (share > 0)
    assert decision.action == 1
    assert decision.values[1] == pytest.approx(7 * 0.99**9)


def test_where_something_can_be_earned_the_search_goes_on_as_it_was():
    near = far_away(1)
    decisions = [decided(near, share) for share in (0.0, 0.5)]
    assert [decision.stopped for decision in decisions] == ["exhausted"] * 2
    assert [decision.calls for decision in decisions] == [2, 2]


def test_a_share_is_kept_back():
    game = far_away(10)
    planner = RolloutIW(None, rules=[Further(0.3)], depth_limit=5)
    planner.start(game, seed=0)
    planner.decide(calls=20)
    assert len(game.log) == 20
    first = [len(path) for path in game.log[:14]]
    assert max(first) == 5
