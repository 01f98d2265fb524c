"""Rollouts that take care: they end with a life, keep a direction, leave no trap untried."""

import pytest
from synthetic import LevelFeatures, PixelFeatures, ScriptedSimulator, SyntheticSimulator

from olive_iw.planners import RolloutIW
from olive_iw.planners.extend import unsafe_path
from olive_iw.planners.house_rules import HouseRules

BEYOND_A_LOSS = {
    (0,): (1, 0.0, False, 2),
    (0, 0): (2, 9.0, False, 2),
    (1,): (3, 0.0, False, 3),
}


@pytest.mark.parametrize("life_ends", [False, True])
def test_a_rollout_ends_where_a_life_is_lost(life_ends):
    planner = RolloutIW(LevelFeatures(), rules=HouseRules(life_ends=life_ends))
    game = ScriptedSimulator(BEYOND_A_LOSS, default=(0, 0.0, False, 2), root=(0, 3))
    planner.start(game, seed=0)
    decision = planner.decide(calls=20)
    assert ((0, 0) in game.log) is not life_ends
    assert decision.stopped == "exhausted"
    assert decision.action == 1


def test_a_life_lost_on_the_way_to_the_root_ends_nothing():
    planner = RolloutIW(LevelFeatures(), rules=HouseRules(life_ends=True))
    game = ScriptedSimulator(BEYOND_A_LOSS, default=(0, 0.0, False, 2), root=(0, 3))
    planner.start(game, seed=0)
    planner.decide(calls=20)
    planner.advance(0)
    planner.decide(calls=20)
    assert (0, 0) in game.log


@pytest.mark.parametrize(("persistence", "same"), [(1.0, 1.0), (0.5, 2 / 3)])
def test_a_rollout_keeps_its_direction_with_a_chance(persistence, same):
    """Nothing is pruned: a first choice below the root is the last action, or any of three."""
    kept = choices = 0
    for seed in range(40):
        planner = RolloutIW(None, rules=HouseRules(persistence=persistence), depth_limit=12)
        game = SyntheticSimulator(seed, lives=0, terminal_chance=0.0)
        planner.start(game, seed)
        planner.decide(calls=12)
        for path in game.log[1:12]:
            kept += path[-1] == path[-2]
            choices += 1
    assert kept / choices == pytest.approx(same, abs=0.07)


TRAP = {
    (0,): (0, 1.0, False, 3),
    **{(0, action): (0, 0.0, False, 2) for action in (0, 1)},
    (1,): (0, 0.0, False, 3),
}
"""What action 0 earns ends in a trap; nothing is new, so that rollouts do not look beyond it."""


@pytest.mark.parametrize(("steps", "action"), [(0, 0), (1, 0), (2, 1)])
def test_a_trap_behind_the_best_path_is_found(steps, action):
    planner = RolloutIW(LevelFeatures(), rules=HouseRules(safe_steps=steps))
    planner.start(ScriptedSimulator(TRAP, default=(0, 0.0, False, 3), root=(0, 3)), seed=0)
    assert planner.decide(calls=20).action == action


@pytest.mark.parametrize("way_out", [0, 1])
def test_one_loss_does_not_condemn_a_path_that_has_a_way_out(way_out):
    game = TRAP | {(0, way_out): (0, 0.0, False, 3)}
    planner = RolloutIW(LevelFeatures(), rules=HouseRules(safe_steps=2))
    planner.start(ScriptedSimulator(game, default=(0, 0.0, False, 3), root=(0, 3)), seed=0)
    decision = planner.decide(calls=20)
    assert decision.action == 0
    assert unsafe_path(planner.tree, 2) is None
    assert unsafe_path(planner.tree, 3) == [
        0,
        *planner.tree.children[0, [0]],
        planner.tree.size - 1,
    ]


def test_no_more_calls_are_made_than_there_are():
    for seed in range(5):
        planner = RolloutIW(PixelFeatures(), "ttts", rules=HouseRules(safe_steps=10))
        game = SyntheticSimulator(seed)
        planner.start(game, seed)
        while not planner.over and planner.tree.depth[0] < 10:
            before = len(game.log)
            decision = planner.decide(calls=30)
            assert len(game.log) - before == decision.calls <= 30
            planner.advance(decision.action)
