"""Breadth-first search and IW(w)."""

import numpy as np
import pytest
from synthetic import LevelFeatures, PixelFeatures, ScriptedSimulator, SyntheticSimulator

from olive_iw.planners import BreadthFirst
from olive_iw.search.tree import NONE, ROOT


def started(simulator, *arguments, seed=0, **options):
    planner = BreadthFirst(*arguments, **options)
    planner.start(simulator, seed)
    return planner


@pytest.mark.parametrize(("features", "width"), [(None, None), (PixelFeatures(), 1)])
def test_states_are_met_in_the_order_of_their_depth(features, width):
    simulator = SyntheticSimulator(seed=1, lives=0)
    started(simulator, features, width).decide(calls=60)
    depths = [len(path) for path in simulator.log]
    assert depths == sorted(depths)
    assert depths[-1] >= 3


def test_the_whole_of_a_level_comes_before_the_next():
    simulator = ScriptedSimulator({})
    started(simulator).decide(calls=2 + 4 + 8)
    assert len(simulator.log) == 14
    assert set(map(len, simulator.log)) == {1, 2, 3}
    assert len(set(simulator.log)) == 14


def test_siblings_come_in_random_order():
    orders = set()
    for seed in range(60):
        simulator = ScriptedSimulator({}, action_count=3)
        started(simulator, seed=seed).decide(calls=3)
        orders.add(tuple(path[0] for path in simulator.log))
    assert len(orders) == 6


def test_iw_1_expands_only_what_shows_a_new_atom():
    # Both children show level 1: whichever comes first is expanded, the other is not.
    steps = {(0,): (1, 0.0, False, 0), (1,): (1, 0.0, False, 0)}
    simulator = ScriptedSimulator(steps)
    planner = started(simulator, LevelFeatures(), 1)
    decision = planner.decide(calls=100)
    assert (decision.calls, decision.stopped) == (4, "exhausted")
    first = simulator.log[0]
    assert {path[:1] for path in simulator.log[2:]} == {first}


def test_iw_2_expands_what_shows_a_new_pair():
    class TwoLevels:
        """The level's two decimal digits, as atoms 0 to 9 and 10 to 19."""

        size = 20

        def prepare(self, simulator, first):
            pass

        def of_step(self, step, previous):
            tens, ones = divmod(step.screen.item(), 10)
            return np.array([ones, 10 + tens], np.int32)

    # 11 and 22 are new; 12 shows nothing but old digits, in a new pair.
    steps = {(0,): (11, 0.0, False, 0), (0, 0): (22, 0.0, False, 0), (0, 0, 0): (12, 0.0, False, 0)}
    for width, expanded in ((1, False), (2, True)):
        simulator = ScriptedSimulator(steps, action_count=1)
        started(simulator, TwoLevels(), width).decide(calls=100)
        assert ((0, 0, 0, 0) in simulator.log) == expanded


def test_rewards_of_pruned_states_count():
    steps = {(1,): (0, 7.0, False, 0)}
    planner = started(ScriptedSimulator(steps), LevelFeatures(), 1)
    decision = planner.decide(calls=10)
    assert (decision.calls, decision.action, decision.values.tolist()) == (2, 1, [0.0, 7.0])


def test_kept_states_cost_no_call_and_the_search_goes_on_below_them():
    simulator = ScriptedSimulator({})
    planner = started(simulator)
    planner.decide(calls=2 + 4 + 8)
    planner.advance(0)
    assert planner.decide(calls=8).calls == 8
    assert set(map(len, simulator.log[14:])) == {4}
    assert len(set(simulator.log)) == len(simulator.log)


def test_nothing_is_expanded_at_the_depth_limit_or_after_the_end():
    steps = {(0,): (0, 0.0, True, 0)}
    simulator = ScriptedSimulator(steps)
    planner = started(simulator, depth_limit=2)
    decision = planner.decide(calls=100)
    assert (decision.calls, decision.stopped) == (4, "exhausted")
    ended = planner.tree.children[ROOT, 0]
    assert (planner.tree.children[ended] == NONE).all()


def test_there_are_no_rollouts_to_count():
    planner = started(SyntheticSimulator())
    decision = planner.decide(calls=20)
    assert decision.visits.tolist() == [0, 0, 0]
    assert planner.ledger.counters.rollouts == 0
