"""Planners that expand nodes by queues: 2BFS, p-IW and the race, in worlds of known answers."""

import numpy as np
import pytest
from synthetic import LevelFeatures, MachineSimulator

from olive_iw.errors import InputError
from olive_iw.novelty import Judging
from olive_iw.planners import PIW, BreadthFirst, RacingPIW, Risk, TwoQueues
from olive_iw.search.rule import Stream
from olive_iw.search.tree import NONE, ROOT

RAW = Risk(averse=False)
LEVELS = LevelFeatures()
OF_2015 = {"discount": 0.995, "depth_limit": 300, "risk": RAW}


class InOrder:
    """Lets siblings come in the order of their actions."""

    def permutation(self, actions):
        return np.arange(actions)


def started(planner, world, in_order=True):
    planner.start(world, seed=0)
    if in_order:
        planner._search.streams[Stream.BANDIT] = InOrder()
    return planner


def line(length=5):
    """Cells of one constant atom; action 0 stays, 1 goes right, 1 for entering the last cell."""
    moves = {(cell, 1): (cell + 1, float(cell + 1 == length)) for cell in range(length)}
    return MachineSimulator(moves, {}, first=0)


def bait():
    """Action 0 begins a chain of ever new atoms without reward; 1 gives 1, and then nothing new."""
    moves = {("root", 0): (1, 0.0), ("root", 1): ("rich", 1.0)}
    moves |= {(cell, 0): (cell + 1, 0.0) for cell in range(1, 50)}
    moves |= {(cell, 1): (cell + 1, 0.0) for cell in range(1, 50)}
    return MachineSimulator(moves, {cell: cell for cell in range(1, 51)})


def diamond():
    """Atom x first without reward (u), then with 1 (w), then with 11 (g)."""
    moves = {("root", 0): ("u", 0.0), ("root", 1): ("v", 1.0)}
    moves |= {("v", 0): ("w", 0.0), ("w", 0): ("g", 10.0)}
    return MachineSimulator(moves, {"u": 1, "w": 1, "g": 1, "v": 2})


def subtree_size(tree, action):
    return int(tree.sizes()[action])


# 2BFS


def test_iw_1_sees_nothing_new_on_the_line():
    decision = started(BreadthFirst(LEVELS, 1, **OF_2015), line()).decide(calls=1000)
    assert (decision.calls, decision.stopped, decision.values.tolist()) == (2, "exhausted", [0, 0])


def test_2bfs_finds_the_end_of_the_line_with_call_62():
    for calls, value in ((61, 0.0), (62, 0.98015)):  # 0.995⁴
        planner = started(TwoQueues(LEVELS, discount=0.995, depth_limit=300, risk=RAW), line())
        decision = planner.decide(calls)
        assert decision.calls == calls
        assert np.nanmax(decision.values) == pytest.approx(value, abs=1e-5)


def test_2bfs_serves_novelty_and_reward_by_turns():
    planner = started(TwoQueues(LEVELS, discount=0.995, risk=RAW), bait())
    decision = planner.decide(calls=10)
    assert decision.calls == 10
    assert [subtree_size(planner.tree, action) for action in (0, 1)] == [5, 5]


def test_2bfs_may_put_a_node_into_one_queue_alone():
    # Without reward all wait in the queue for novelty: it is breadth first then.
    planner = started(TwoQueues(LEVELS, queues="one", discount=0.995, risk=RAW), line())
    planner.decide(calls=30)
    depths = planner.tree.depth[1 : planner.tree.size]
    assert depths.tolist() == sorted(depths.tolist())
    planner = started(TwoQueues(LEVELS, queues="one", discount=0.995, risk=RAW), bait())
    planner.decide(calls=10)
    assert [subtree_size(planner.tree, action) for action in (0, 1)] == [5, 5]


def test_2bfs_goes_on_from_all_that_was_kept_for_nothing():
    planner = started(TwoQueues(LEVELS, discount=0.995, risk=RAW), bait())
    planner.decide(calls=10)
    planner.advance(1)
    kept = planner.tree.size
    decision = planner.decide(calls=6)
    assert decision.calls == 6
    assert planner.tree.size == kept + 6
    entered = [planner.tree.was_entered(node) for node in range(planner.tree.size)]
    assert all(entered)


def test_2bfs_does_not_expand_beyond_the_depth_limit():
    planner = started(TwoQueues(LEVELS, depth_limit=2), line())
    decision = planner.decide(calls=100)
    assert (decision.calls, decision.stopped) == (6, "exhausted")


# p-IW


def test_iw_1_stops_at_the_poor_side_of_the_diamond():
    decision = started(BreadthFirst(LEVELS, 1, **OF_2015), diamond()).decide(calls=1000)
    assert (decision.calls, decision.stopped) == (6, "exhausted")
    assert np.nanmax(decision.values) == 1


@pytest.mark.parametrize("order", ["depth-reward", "reward"])
def test_p_iw_passes_the_diamond(order):
    planner = started(PIW(LEVELS, order, **OF_2015), diamond())
    decision = planner.decide(calls=1000)
    assert (decision.calls, decision.stopped) == (10, "exhausted")
    assert np.nanmax(decision.values) == pytest.approx(1 + 0.995**2 * 10)
    assert np.nanmax(decision.values) == pytest.approx(10.90025)


@pytest.mark.parametrize(
    ("order", "calls", "value"),
    [("reward", 6, 10.90025), ("depth-reward", 6, 1), ("depth-reward", 8, 10.90025)],
)
def test_the_order_says_when_p_iw_gets_there(order, calls, value):
    planner = started(PIW(LEVELS, order, **OF_2015), diamond())
    decision = planner.decide(calls)
    assert np.nanmax(decision.values) == pytest.approx(value)


def test_kept_nodes_are_tested_again_if_they_were_pruned():
    """Of the two ways into one atom the second was pruned; where the first is gone, it is new."""
    moves = {("root", 0): ("a", 0.0), ("root", 1): ("b", 0.0), ("b", 0): ("c", 0.0)}
    moves |= {("a", 0): ("far", 0.0), ("c", 1): ("end", 5.0)}
    world = MachineSimulator(moves, {"a": 1, "b": 2, "c": 1, "far": 3})
    retested = BreadthFirst(LEVELS, 1, judging=Judging(kept="retested"), **OF_2015)
    planner = started(retested, world)
    planner.decide(calls=1000)
    tree = planner.tree
    kept = tree.children[tree.children[ROOT, 1], 0]
    assert tree.pruned[kept]
    assert tree.children[kept].tolist() == [NONE, NONE]
    planner.advance(1)
    decision = planner.decide(calls=1000)
    assert decision.values[0] == pytest.approx(0.995 * 5)


@pytest.mark.parametrize("kind", [PIW, TwoQueues])
def test_options_that_are_not_there_are_refused(kind):
    option = "order" if kind is PIW else "queues"
    with pytest.raises(InputError, match=f"{option} 'x' is not one of"):
        kind(LEVELS, "x")


# The race


def race(calls, seed=0, actions=4):
    """Action a begins a chain of new atoms; only that of action 2 has a reward, 3 deep."""
    moves, levels = {}, {}
    for first in range(actions):
        moves["root", first] = ((first, 1), 0.0)
        for depth in range(1, 60):
            reward = 7.0 if (first, depth) == (2, 2) else 0.0
            moves[(first, depth), 0] = ((first, depth + 1), reward)
            levels[first, depth] = 1 + first * 60 + depth
    world = MachineSimulator(moves, levels, actions)
    planner = RacingPIW(LEVELS, discount=0.995, risk=RAW)
    planner.start(world, seed)
    return planner, planner.decide(calls)


def test_those_who_lose_a_round_get_no_more_calls():
    planner, decision = race(calls=100)
    assert decision.calls == 100
    assert decision.action == 2
    sizes = planner.tree.sizes()
    # One call each, then two rounds of 48: all four by turns, then two of them.
    assert sizes.sum() == 100
    assert sorted(sizes)[:2] == pytest.approx([13, 13], abs=4)
    assert sorted(sizes)[2:] == pytest.approx([37, 37], abs=5)
    assert sizes[2] > 30


def test_the_race_favours_no_action_for_its_number():
    # Nothing is pruned, nothing is earned. A round has 82 / 5 calls, less than an expansion.
    calls = np.zeros(18)
    for seed in range(150):
        planner = RacingPIW(None, discount=0.995, risk=RAW)
        planner.start(MachineSimulator({}, {}, 18), seed)
        assert planner.decide(100).calls == 100
        calls += planner.tree.sizes() - 1
    assert calls.sum() == 150 * 82
    assert calls[:9].sum() == pytest.approx(calls[9:].sum(), rel=0.15)
    assert calls.max() < 3 * calls.min()


def test_the_race_ends_where_nothing_new_is_left():
    planner = RacingPIW(LEVELS, discount=0.995, risk=RAW)
    planner.start(diamond(), seed=0)
    decision = planner.decide(calls=1000)
    assert (decision.calls, decision.stopped) == (10, "exhausted")
    assert decision.values.tolist() == [0, pytest.approx(10.90025)]


def test_a_race_needs_no_more_calls_than_it_has():
    for calls in (1, 2, 3, 5, 9):
        _, decision = race(calls)
        assert decision.calls == calls
