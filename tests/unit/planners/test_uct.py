"""UCT: UCB1 where choices are known, one new choice, then a random playout."""

import numpy as np
import pytest
from oracle import RecordedUCT
from synthetic import ScriptedSimulator, SyntheticSimulator

from olive_iw.planners import UCT, Risk
from olive_iw.search.tree import NONE, ROOT


def test_only_chosen_edges_are_counted_but_the_playout_counts_in_their_return():
    simulator = SyntheticSimulator(seed=3, lives=0, terminal_chance=0.0)
    planner = RecordedUCT(depth_limit=6)
    planner.start(simulator, seed=0)
    planner.decide(calls=6)
    (rollout,) = planner.rollouts
    assert len(rollout.path) == 7
    tree = planner.tree
    rewards = tree.reward[list(rollout.path[1:])]
    first = tree.action[rollout.path[1]]
    assert tree.count[: tree.size].sum() == 1
    assert tree.count[ROOT, first] == 1
    assert tree.mean[ROOT, first] == pytest.approx(rewards @ 0.99 ** np.arange(6))


def test_every_rollout_adds_one_choice():
    simulator = SyntheticSimulator(seed=3, lives=0, terminal_chance=0.0)
    planner = RecordedUCT(depth_limit=8)
    planner.start(simulator, seed=0)
    planner.decide(calls=60)
    counted = [rollout.counted for rollout in planner.rollouts]
    assert counted[:3] == [1, 1, 1]  # each of three actions once, then deeper
    assert counted[3] == 2
    chosen = np.count_nonzero(planner.tree.count[: planner.tree.size])
    assert chosen == len(planner.rollouts)


def test_playouts_are_uniformly_random():
    taken = np.zeros(3)
    simulator = ScriptedSimulator({}, action_count=3)
    planner = UCT(depth_limit=2)
    for seed in range(900):
        planner.start(simulator, seed)
        planner.decide(calls=2)
        taken[simulator.log[-1][1]] += 1
    assert taken / 900 == pytest.approx([1 / 3] * 3, abs=0.06)


@pytest.mark.parametrize("seed", range(5))
def test_ends_on_a_finite_tree_and_decides_as_an_exhaustive_search_does(seed):
    def best(path):
        """Greatest risk-averse return after a path, found in the simulator itself."""
        values = []
        for action in range(2):
            before = simulator.reset()
            for earlier in path:
                before = simulator.step(earlier)
            if before.terminal:
                return 0.0
            step = simulator.step(action)
            reward = Risk().reward(step.reward, step.lives < before.lives)
            values.append(reward + 0.99 * best((*path, action)))
        return max(values) if path else values

    simulator = SyntheticSimulator(seed=seed, action_count=2, last_depth=4)
    expected = best(())
    planner = UCT()
    planner.start(simulator, seed=0)
    simulator.log.clear()
    decision = planner.decide(calls=1000)
    assert decision.stopped == "exhausted"
    assert decision.calls == len(simulator.log) <= 2 + 4 + 8 + 16
    assert decision.values == pytest.approx(expected)
    assert planner.tree.solved[ROOT]


def test_the_depth_limit_ends_the_search_of_an_endless_game():
    planner = UCT(depth_limit=3)
    planner.start(ScriptedSimulator({}), seed=0)
    decision = planner.decide(calls=1000)
    assert (decision.calls, decision.stopped) == (2 + 4 + 8, "exhausted")
    planner.advance(decision.action)
    assert planner.decide(calls=1000).calls == 8  # one level more below the new root


def test_a_game_of_one_action():
    planner = UCT(depth_limit=5)
    planner.start(ScriptedSimulator({}, action_count=1), seed=0)
    assert planner.decide(calls=3).stopped == "budget"
    assert planner.decide(calls=3).stopped == "exhausted"
    assert planner.ledger.calls == 5


def test_better_actions_are_tried_more_often():
    """Every step after a first RIGHT gives 1, after a first LEFT 0."""

    class Sided(ScriptedSimulator):
        def step(self, action):
            self.default = (0, float((self._path or (action,))[0]), False, 0)
            return super().step(action)

    planner = UCT(depth_limit=10)
    planner.start(Sided({}), seed=0)
    decision = planner.decide(calls=300)
    assert decision.visits[1] > 3 * decision.visits[0] > 0
    assert decision.action == 1
    assert planner.tree.mean[ROOT] == pytest.approx([0.0, (1 - 0.99**10) / 0.01], rel=0.05)


def test_known_playouts_are_walked_again_without_calls():
    simulator = SyntheticSimulator(seed=7, lives=0, terminal_chance=0.0, action_count=2)
    planner = UCT(depth_limit=4)
    planner.start(simulator, seed=0)
    planner.decide(calls=30)
    counters = planner.ledger.counters
    assert counters.rollout_depth > counters.nodes
    assert len(set(simulator.log)) == len(simulator.log) == 30
    assert (planner.tree.children[ROOT] != NONE).all()
