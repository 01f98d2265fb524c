"""Single rules of Rollout-IW, each in a game written for it."""

import numpy as np
import pytest
from oracle import RecordedRolloutIW
from synthetic import (
    LevelFeatures,
    PixelFeatures,
    ScriptedBandit,
    ScriptedSimulator,
    SyntheticSimulator,
)

from olive_iw.planners import RolloutIW
from olive_iw.search.tree import NONE, ROOT


def planner_for(simulator, actions, **options):
    planner = RecordedRolloutIW(LevelFeatures(), bandit=ScriptedBandit(actions), **options)
    planner.start(simulator, seed=0)
    return planner


def actions_of(planner):
    """The rollouts' paths as actions."""
    tree = planner.tree
    return [[int(tree.action[node]) for node in rollout.path[1:]] for rollout in planner.rollouts]


def show(level, reward=0.0, terminal=False):
    return level, reward, terminal, 0


def test_a_state_that_shows_nothing_new_ends_a_rollout():
    simulator = ScriptedSimulator({(0,): show(1), (0, 0): show(2), (0, 0, 1): show(1)})
    planner = planner_for(simulator, [0, 0, 1, 1])
    planner.decide(calls=4)
    assert actions_of(planner) == [[0, 0, 1], [1]]  # (1,) looks like the root
    assert planner.tree.solved[3]


@pytest.mark.parametrize(("beside", "goes_on"), [(5, False), (4, True)])
def test_a_node_entered_again_is_pruned_once_its_atoms_were_seen_less_deep(beside, goes_on):
    steps = {(0,): show(1), (0, 0): show(5), (0, 0, 0): show(1), (1,): show(beside)}
    simulator = ScriptedSimulator({**steps, (1, 0): show(1), (0, 0, 1): show(1)})
    planner = planner_for(simulator, [0, 0, 0, 1, 0, 0, 0, *([1] if goes_on else [0, 1])])
    planner.decide(calls=6)
    twice = planner.tree.children[planner.tree.children[ROOT, 0], 0]
    third = actions_of(planner)[2]
    if goes_on:  # level 5 was seen at this very depth only: still novel
        assert third == [0, 0, 1]
    else:
        assert third == [0, 0]
        assert planner.tree.children[twice, 1] == NONE
    assert planner.tree.solved[twice]


def test_the_root_is_never_pruned():
    simulator = ScriptedSimulator({}, action_count=3)  # everything looks like the root
    planner = RolloutIW(LevelFeatures())
    planner.start(simulator, seed=0)
    decision = planner.decide(calls=10)
    assert (decision.calls, decision.stopped) == (3, "exhausted")
    assert decision.visits.tolist() == [1, 1, 1]
    planner.advance(decision.action)
    assert planner.decide(calls=10).calls == 3  # nor is the next one


def test_not_even_a_root_without_a_single_atom():
    class Blind(LevelFeatures):
        def of_step(self, step, previous):
            return np.empty(0, np.int32)

    planner = RolloutIW(Blind())
    planner.start(ScriptedSimulator({}, action_count=3), seed=0)
    decision = planner.decide(calls=10)
    assert (decision.calls, decision.stopped) == (3, "exhausted")


def test_the_return_of_a_rollout_cut_by_the_budget_is_backed_up():
    steps = {(0,) * depth: show(depth, reward=float(depth)) for depth in range(1, 9)}
    planner = planner_for(ScriptedSimulator(steps, action_count=1), [0] * 9, discount=0.5)
    decision = planner.decide(calls=3)
    assert (decision.calls, decision.stopped) == (3, "budget")
    assert planner.tree.mean[:4, 0].tolist() == [1 + 0.5 * 2 + 0.25 * 3, 2 + 0.5 * 3, 3.0, 0.0]
    assert planner.tree.count[:4, 0].tolist() == [1, 1, 1, 0]
    assert not planner.tree.solved[:4].any()


def test_kept_nodes_are_judged_anew_at_their_new_depth():
    steps = {(0,): show(1), (0, 0): show(2), (0, 1): show(0), (0, 1, 0): show(3)}
    simulator = ScriptedSimulator(steps)
    planner = planner_for(simulator, [0, 1, 0, 0, 0, 1, 0, 0])
    planner.decide(calls=3)
    assert actions_of(planner)[0] == [0, 1]  # (0, 1) looks like the root: pruned
    planner.advance(0)
    planner.decide(calls=1)
    # It does not look like the new root, so it is entered, and its first child is new.
    assert (0, 1, 0) in simulator.log


def test_atoms_are_computed_once_for_every_node_of_an_episode():
    class Counted(PixelFeatures):
        asked = 0

        def of_step(self, step, previous):
            self.asked += 1
            return super().of_step(step, previous)

    features = Counted()
    planner = RolloutIW(features)
    planner.start(SyntheticSimulator(seed=5, lives=0, terminal_chance=0.0), seed=0)
    for _ in range(4):
        planner.advance(planner.decide(calls=20).action)
    assert features.asked == planner.ledger.counters.nodes + 1
    counters = planner.ledger.counters
    assert counters.rollout_depth > counters.nodes  # known nodes are walked through again


def test_features_see_the_step_before():
    seen = []

    class Paired(LevelFeatures):
        def of_step(self, step, previous):
            seen.append((None if previous is None else previous.screen.item(), step.screen.item()))
            return super().of_step(step, previous)

    steps = {(0,): show(1), (0, 1): show(2), (0, 1, 0): show(0)}
    planner = RolloutIW(Paired(), bandit=ScriptedBandit([0, 1, 0]))
    planner.start(ScriptedSimulator(steps), seed=0)
    planner.decide(calls=3)
    assert seen == [(None, 0), (0, 1), (1, 2), (2, 0)]


def test_the_depth_limit_solves_a_node():
    simulator = ScriptedSimulator({}, action_count=1)
    planner = RolloutIW(None, depth_limit=4)
    planner.start(simulator, seed=0)
    decision = planner.decide(calls=10)
    assert (decision.calls, decision.stopped) == (4, "exhausted")
    planner.advance(0)
    assert planner.decide(calls=10).calls == 1  # the limit counts from the new root


def test_long_paths_need_no_recursion():
    planner = RolloutIW(None, depth_limit=5000)
    planner.start(ScriptedSimulator({}, action_count=1), seed=0)
    assert planner.decide(calls=10_000).calls == 5000
    assert planner.tree.solved[ROOT]
