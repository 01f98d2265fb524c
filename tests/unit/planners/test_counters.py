"""Where the calls went: ties, twins, unused calls, pruned new nodes, full tables."""

import numpy as np
import pytest
from synthetic import (
    LevelFeatures,
    PixelFeatures,
    ScriptedBandit,
    ScriptedSimulator,
    SyntheticSimulator,
)

from olive_iw.agents import Decisions, play_episode
from olive_iw.novelty import Width2Table
from olive_iw.planners import BreadthFirst, RolloutIW
from olive_iw.search.tree import ROOT
from olive_iw.simulators import AtariSimulator, GridWorld
from olive_iw.simulators.base import Step, read_only


def started(planner, simulator, seed=0):
    planner.start(simulator, seed)
    return planner


def show(level, reward=0.0, terminal=False):
    return level, reward, terminal, 0


def test_ties_are_the_actions_that_share_the_greatest_value():
    steps = {(0,): show(1, 2.0), (1,): show(2), (2,): show(3, 2.0)}
    planner = started(
        RolloutIW(LevelFeatures(), depth_limit=1), ScriptedSimulator(steps, action_count=3)
    )
    decision = planner.decide(calls=3)
    assert decision.ties == 2
    assert planner.ledger.counters.tied_decisions == 1
    steps[2,] = show(3, 1.0)
    planner = started(
        RolloutIW(LevelFeatures(), depth_limit=1), ScriptedSimulator(steps, action_count=3)
    )
    assert planner.decide(calls=3).ties == 1
    assert planner.ledger.counters.tied_decisions == 0


def test_calls_that_are_given_and_not_made_are_counted():
    planner = started(RolloutIW(LevelFeatures()), ScriptedSimulator({}, action_count=3))
    decision = planner.decide(calls=10)  # all look like the root
    assert (decision.calls, planner.ledger.counters.unused_calls) == (3, 7)
    planner.decide(calls=5)
    assert planner.ledger.counters.unused_calls == 7 + 5


def test_new_nodes_that_are_pruned_at_once_are_counted_once():
    steps = {(0,): show(1), (0, 0): show(2), (0, 0, 1): show(1), (0, 0, 0): show(3, terminal=True)}
    planner = started(
        RolloutIW(LevelFeatures(), bandit=ScriptedBandit([0, 0, 1, 1, 0, 0, 0])),
        ScriptedSimulator(steps),
    )
    planner.decide(calls=5)
    # (0, 0, 1) shows level 1 again, (1,) the root's level 0; (0, 0, 0) is terminal, but new.
    assert planner.ledger.counters.pruned_new == 2


def test_what_is_pruned_when_entered_again_is_not_counted():
    steps = {(0,): show(1), (1,): show(2), (0, 0): show(2)}
    planner = started(
        RolloutIW(LevelFeatures(), bandit=ScriptedBandit([0, 0, 0, 1, 0, 0, 0, 0, 1])),
        ScriptedSimulator({**steps, (0, 0, 0): show(0), (1, 0): show(0)}),
    )
    planner.decide(calls=6)
    tree = planner.tree
    again = tree.children[tree.children[ROOT, 0], 0]
    assert tree.solved[again]  # its level 2 was met at depth 1 in the meantime
    assert planner.ledger.counters.pruned_new == 3  # (0, 0, 0), (1, 0) and (0, 1)


def test_breadth_first_counts_pruned_nodes_too():
    planner = started(BreadthFirst(LevelFeatures(), 1), ScriptedSimulator({}, action_count=3))
    planner.decide(calls=10)
    assert planner.ledger.counters.pruned_new == 3


class Bricks:
    """Actions 0 and 1 lead to the same state; 2 shows the same screen, but is elsewhere."""

    action_count, action_names = 3, ("a", "b", "c")

    def __init__(self, with_ram):
        self._with_ram, self._state = with_ram, ()

    def reset(self):
        self._state = ()
        return self._look()

    def step(self, action):
        self._state = (*self._state, max(action, 1))
        return self._look()

    def save(self):
        return self._state

    def restore(self, state):
        self._state = state

    def _look(self):
        ram = np.zeros(4, np.uint8)
        ram[: len(self._state)] = self._state[-4:]
        screen = read_only(np.full((2, 2), len(self._state), np.uint8))
        return Step(screen, 0.0, False, 0, read_only(ram) if self._with_ram else None)


@pytest.mark.parametrize("with_ram", [True, False])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_twin_has_a_siblings_state_and_not_only_its_screen(with_ram, workers):
    planner = RolloutIW(None, depth_limit=2, workers=workers)
    try:
        planner.start(Bricks(with_ram), seed=0)
        decision = planner.decide(calls=100)
        assert decision.calls == 3 + 9
        assert planner.ledger.counters.twins == 1 + 3  # one below every inner node
    finally:
        planner.close()


def test_nodes_that_are_no_siblings_are_no_twins():
    class Ring(Bricks):
        def step(self, action):
            self._state = (1,)  # wherever it was
            return self._look()

    planner = started(RolloutIW(None, depth_limit=3), Ring(with_ram=True))
    planner.decide(calls=3)
    tree = planner.tree
    assert all(seen.same_state(tree.seen[1]) for seen in tree.seen[1:])
    siblings = len(tree) - 1 - len({int(parent) for parent in tree.parent[1 : len(tree)]})
    assert planner.ledger.counters.twins == siblings


def test_terminal_siblings_with_one_screen_are_twins():
    steps = dict.fromkeys([(0,), (1,)], show(1, terminal=True))
    planner = started(RolloutIW(None), ScriptedSimulator(steps))
    planner.decide(calls=2)
    assert planner.ledger.counters.twins == 1


def test_twins_of_a_real_game():
    """While the ball is not in play, nothing but the paddle moves: FIRE, LEFT, RIGHT differ."""
    planner = started(BreadthFirst(), AtariSimulator("breakout"))
    planner.decide(calls=4)
    tree, twins = planner.tree, 0
    for node in range(1, 5):
        earlier = [tree.seen[other].step for other in range(1, node)]
        step = tree.seen[node].step
        twins += any(
            np.array_equal(step.screen, other.screen) and np.array_equal(step.ram, other.ram)
            for other in earlier
        )
    assert planner.ledger.counters.twins == twins


def test_a_full_table_is_told(monkeypatch):
    simulator = SyntheticSimulator(seed=1, terminal_chance=0.0, lives=0)
    planner = started(RolloutIW(PixelFeatures(), width=2), simulator)
    planner.decide(calls=10)
    assert planner.ledger.counters.overflows == 0
    small = Width2Table(PixelFeatures.size, planner.depth_limit, capacity=64)
    monkeypatch.setitem(planner._search.judge._tables, (2, PixelFeatures.size, 0), small)
    planner.decide(calls=10)
    planner.decide(calls=10)
    assert planner.ledger.counters.overflows == 2


def test_a_table_that_was_full_in_an_earlier_decision_does_not_count_again():
    simulator = SyntheticSimulator(seed=1, terminal_chance=0.0, lives=0)
    planner = started(RolloutIW(PixelFeatures(), width=2), simulator)
    small = Width2Table(PixelFeatures.size, 100, capacity=4)
    planner._search.judge._tables[2, PixelFeatures.size, 0] = small
    planner.decide(calls=300)
    assert planner.ledger.counters.overflows == 1
    planner.width = 1  # another table
    planner.decide(calls=1)
    assert planner.ledger.counters.overflows == 1


def test_an_episode_has_the_totals():
    planner = RolloutIW("patches", bandit="ttts")
    episode = play_episode(
        planner, GridWorld("lava"), Decisions(calls_per_action=30), seed=0, max_actions=6
    )
    counters = planner.ledger.counters
    assert counters.decisions == len(episode.actions) == 6
    assert episode.unused_calls == counters.unused_calls == 6 * 30 - episode.calls
    assert episode.tied_decisions == counters.tied_decisions > 0
    assert episode.twins == counters.twins > 0
    assert episode.pruned_new == counters.pruned_new > 0
    assert (episode.table_overflows, episode.rollouts) == (0, counters.rollouts)
