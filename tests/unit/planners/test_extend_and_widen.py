"""What is done with the calls that width 1 leaves: stop, widen, extend; and extend_share."""

import numpy as np
import pytest
from oracle import RecordedRolloutIW, check_rollouts
from synthetic import LevelFeatures, PixelFeatures, ScriptedSimulator, SyntheticSimulator

from olive_iw.planners import RolloutIW
from olive_iw.planners.extend import best_open_path
from olive_iw.search.tree import NONE, ROOT
from olive_iw.simulators import GridWorld


def same_everywhere(**options):
    """Every state looks like the root: width 1 prunes all but the root's children."""
    return ScriptedSimulator({}, **options)


def started(simulator, features=None, seed=0, **options):
    planner = RecordedRolloutIW(features or LevelFeatures(), **options)
    planner.start(simulator, seed)
    return planner


def test_stop_leaves_the_calls():
    planner = started(same_everywhere())
    decision = planner.decide(calls=12)
    assert (decision.calls, decision.stopped) == (2, "exhausted")


def test_extend_spends_them_on_one_long_path():
    planner = started(same_everywhere(), when_exhausted="extend")
    decision = planner.decide(calls=12)
    assert (decision.calls, decision.stopped) == (12, "budget")
    assert planner.tree.depth[: planner.tree.size].max() == 11
    lengths = [len(rollout.path) for rollout in planner.rollouts]
    assert lengths == [2, 2, *range(3, 13)]  # the path is walked again each time, never cut


def test_extend_ends_when_every_leaf_is_at_the_depth_limit():
    planner = started(same_everywhere(), when_exhausted="extend", depth_limit=5)
    decision = planner.decide(calls=100)
    assert (decision.calls, decision.stopped) == (2 + 4 + 4, "exhausted")


def test_extend_ends_when_every_leaf_is_terminal():
    steps = {(0,): (0, 0.0, True, 0), (1,): (0, 0.0, True, 0)}
    planner = started(ScriptedSimulator(steps), when_exhausted="extend")
    assert planner.decide(calls=10).calls == 2


def test_extend_follows_the_best_return_until_another_is_better():
    steps = {(0,): (0, 1.0, False, 0), (1,): (0, 0.5, False, 0)}
    below = (0, 0), (0, 1)
    good = dict.fromkeys(below, (0, 1.0, False, 0))
    simulator = ScriptedSimulator(steps | good)
    started(simulator, when_exhausted="extend").decide(calls=8)
    assert {path[0] for path in simulator.log[2:]} == {0}

    bad = dict.fromkeys(below, (0, -1.0, False, 0))
    simulator = ScriptedSimulator(steps | bad)
    started(simulator, when_exhausted="extend").decide(calls=8)
    assert [path[0] for path in simulator.log[2:]] == [0, 1, 1, 1, 1, 1]


def test_extend_keeps_its_path_over_decisions():
    planner = started(same_everywhere(), when_exhausted="extend")
    planner.decide(calls=12)
    for _ in range(3):
        tree = planner.tree
        longest = int(tree.path(int(tree.depth[: tree.size].argmax()))[1])
        deepest = int(tree.depth[: tree.size].max())
        planner.advance(int(tree.action[longest]))
        decision = planner.decide(calls=7)
        assert decision.calls == 7
        # One new child of the root is pruned at once; the other six lengthen the path.
        assert planner.tree.depth[: planner.tree.size].max() == deepest + 6


@pytest.mark.parametrize("seed", range(2))
def test_widen_finds_what_needs_width_2(seed):
    found = {}
    for when_exhausted in ("stop", "widen"):
        planner = started(
            GridWorld("key-door"), "patches", seed, when_exhausted=when_exhausted, bandit="max"
        )
        decision = planner.decide(calls=600)
        found[when_exhausted] = planner.tree.reward[: planner.tree.size].max()
        searches = {rollout.search for rollout in planner.rollouts}
        assert len(searches) == (2 if when_exhausted == "widen" else 1)
        assert decision.visits.sum() == len(planner.rollouts)  # of both searches
    assert found == {"stop": 0.0, "widen": 1.0}


def test_widening_waits_until_width_1_is_exhausted():
    planner = started(GridWorld("key-door"), "patches", when_exhausted="widen")
    planner.decide(calls=50)
    assert len({rollout.search for rollout in planner.rollouts}) == 1


@pytest.mark.parametrize("width", [2, None])
def test_there_is_nothing_wider_than_width_2(width):
    simulator = SyntheticSimulator(seed=1, last_depth=3)
    results = []
    for when_exhausted in ("stop", "widen"):
        planner = started(simulator, PixelFeatures(), width=width, when_exhausted=when_exhausted)
        decision = planner.decide(calls=1000)
        assert decision.stopped == "exhausted"
        results.append((decision.calls, decision.action, len(planner.rollouts)))
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("share", "calls", "expected"), [(0.3, 50, 15), (1.0, 40, 40), (0.5, 1, 0)]
)
def test_the_extend_share_is_spent_first_and_on_the_best_path(share, calls, expected):
    simulator = SyntheticSimulator(seed=2, lives=0, terminal_chance=0.0)
    planner = started(simulator, PixelFeatures(), width=2, extend_share=share, depth_limit=500)
    for _ in range(3):
        size = planner.tree.size
        decision = planner.decide(calls)
        forced = [rollout for rollout in planner.rollouts if rollout.forced]
        assert planner.rollouts[: len(forced)] == forced
        added = max((max(rollout.path) for rollout in forced), default=size - 1) + 1 - size
        assert added == expected
        assert decision.calls == calls
        check_rollouts(planner, [2])
        planner.advance(decision.action)


def test_a_share_that_cannot_be_spent_goes_to_the_rollouts():
    """Nothing is open for extension but one leaf; what it does not need is not lost."""
    simulator = SyntheticSimulator(seed=4, lives=0, terminal_chance=0.0, last_depth=3)
    planner = started(simulator, None, width=None, extend_share=1.0)
    assert planner.decide(calls=1000).calls == 3 + 9 + 27


def test_the_best_open_path_is_the_best_then_the_deepest_then_a_random_one():
    steps = {
        (0,): (0, 1.0, False, 0),
        (1,): (0, 0.0, False, 0),
        (0, 0): (0, 0.0, False, 0),
        (0, 1): (0, 3.0, True, 0),
        (1, 0): (0, 0.0, False, 0),
    }
    planner = RolloutIW(None)
    planner.start(ScriptedSimulator(steps), seed=0)
    generator = np.random.default_rng(0)
    assert best_open_path(planner.tree, 100, generator) == [ROOT]
    nodes = {(): ROOT}
    for path in steps:
        planner.ledger.budget.open(1)
        nodes[path] = planner._search.expand(nodes[path[:-1]], path[-1])
    # (0, 1) has the greatest return, but is terminal; (0, 0) comes next, then (1, 0).
    best = best_open_path(planner.tree, 100, generator)
    assert best == [ROOT, nodes[0,], nodes[0, 0]]
    assert best_open_path(planner.tree, 2, generator) is None
    for action in range(2):
        planner.ledger.budget.open(1)
        nodes[0, 0, action] = planner._search.expand(nodes[0, 0], action)
    chosen = {best_open_path(planner.tree, 100, generator)[-1] for _ in range(50)}
    assert chosen == {nodes[0, 0, 0], nodes[0, 0, 1]}
    assert (planner.tree.children[list(chosen)] == NONE).all()
