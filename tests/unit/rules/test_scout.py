"""Scouting and turning back: worlds in which a reward lies at the mouth of a trap."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic import LevelFeatures

from olive_iw.planners import RolloutIW
from olive_iw.rules import Further, Persistence, Safety, Scout, Ties, TurningBack, Twins
from olive_iw.search.measures import values_up_to_any
from olive_iw.search.tree import ROOT
from olive_iw.simulators.base import Step, read_only

OTHERS = (Ties(), Twins(), Safety(16), Persistence(), Further())
BOTH = (TurningBack(), Scout(20))


@dataclass
class Mouth:
    """Action 1 earns a point and leads into a tube, which takes a life at its end.

    Outside, and deeper than two steps in the tube, all looks alike, so that rollouts are pruned.
    """

    length: int
    action_count = 2
    action_names = ("stay", "enter")
    inside = 0

    def reset(self):
        self.inside = 0
        return self._look(0.0)

    def step(self, action):
        entered = action and not self.inside
        self.inside += bool(self.inside or action)
        return self._look(float(entered))

    def save(self):
        return self.inside

    def restore(self, state):
        self.inside = state

    def _look(self, reward):
        screen = read_only(np.full((1, 1), min(self.inside, 3), np.uint8))
        return Step(screen, reward, False, int(self.inside < self.length))


def first_action(length, rules, calls=100, workers=1):
    planner = RolloutIW(LevelFeatures(), rules=rules, workers=workers)
    planner.start(Mouth(length), seed=0)
    try:
        return planner.decide(calls).action
    finally:
        planner.close()


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("length", "enters"), [(12, 0), (60, 1)])
def test_a_reward_is_taken_where_the_way_on_is_safe_and_left_in_a_trap(length, enters, workers):
    assert first_action(length, (*BOTH, *OTHERS), 200, workers) == enters


@pytest.mark.parametrize("calls", [60, 90, 150])
def test_without_a_scout_the_trap_is_not_seen(calls):
    assert first_action(12, (TurningBack(), *OTHERS), calls) == 1
    assert first_action(12, (*BOTH, *OTHERS), calls) == 0


def test_it_needs_no_other_rule_that_keeps_calls_back():
    alone = (Ties(), Safety(16))
    assert first_action(12, alone) == 1
    assert first_action(12, (*BOTH, *alone)) == 0


def test_it_spends_nothing_where_enough_is_known():
    planner = RolloutIW(LevelFeatures(), rules=(*BOTH, *OTHERS))
    planner.start(Mouth(60), seed=0)
    planner.decide(60)
    scout = next(rule for rule in planner.rules if isinstance(rule, Scout))
    planner.advance(1)  # into the tube, which is known for more than twenty steps
    planner.decide(60)
    assert planner.tree.safe_lengths().max() >= scout.scout
    assert not scout._sends


@dataclass
class Cliff:
    """Ten steps by action 1 are safe and the next one takes a life; action 0 ends the walk."""

    action_count = 2
    action_names = ("stop", "walk")
    steps = 0
    stopped = 0

    def reset(self):
        self.steps = self.stopped = 0
        return self._look()

    def step(self, action):
        if action and not self.stopped:
            self.steps += 1
        else:
            self.stopped += 1
        return self._look()

    def save(self):
        return self.steps, self.stopped

    def restore(self, state):
        self.steps, self.stopped = state

    def _look(self):
        level = min(self.steps + 20 * min(self.stopped, 6), 255)
        lost = self.steps > 10 or self.stopped > 4
        return Step(read_only(np.full((1, 1), level, np.uint8)), 0.0, False, int(not lost))


def test_a_loss_at_the_end_of_a_long_path_does_not_make_it_worse_than_a_short_one():
    planner = RolloutIW(LevelFeatures(), rules=[Ties(), TurningBack()])
    planner.start(Cliff(), seed=0)
    search = planner._search
    search.start_decision(100, None)
    node = ROOT
    for _ in range(11):  # to the cliff's edge and over it
        node = search.expand(node, 1)
    search.expand(ROOT, 0)
    values = search.tree.action_values()
    assert values[1] < 0 <= values[0]
    assert search.tree.values_up_to_any_node().tolist() == [0.0, 0.0]
    assert search.tree.safe_lengths().tolist() == [1, 10]


@st.composite
def trees(draw):
    size = draw(st.integers(1, 20))
    parent = [-1, *(draw(st.integers(0, node - 1)) for node in range(1, size))]
    shaped = [0.0, *(draw(st.sampled_from([-500_000.0, -1.0, 0.0, 1.0, 7.0])) for _ in parent[1:])]
    return np.array(parent, np.int32), np.array(shaped)


@given(trees())
def test_values_up_to_any_node_are_the_best_of_all_paths(tree):
    parent, shaped = tree
    found = values_up_to_any(parent, shaped, 0.9)
    for node in range(len(parent)):
        best = 0.0
        for below in range(node + 1, len(parent)):
            path = [below]
            while path[-1] > node:
                path.append(int(parent[path[-1]]))
            if path.pop() == node:
                worth = sum(0.9**step * shaped[it] for step, it in enumerate(path[::-1]))
                best = max(best, worth)
        assert found[node] == pytest.approx(best)
