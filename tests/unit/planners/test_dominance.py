"""Dominated actions: what is learned of them, and what is then left out."""

import numpy as np
import pytest
from synthetic import LevelFeatures, MachineSimulator

from olive_iw.planners import PIW, BreadthFirst
from olive_iw.planners.dasa import Dominated
from olive_iw.search.tree import NONE, ROOT

LEFT, RIGHT, STAY, AGAIN = range(4)


def line(first, jump_at=None, length=100):
    """Cells in a line with walls; the fourth action stays too, but at one cell it goes 7 right."""
    moves = {(cell, LEFT): (cell - 1, 0.0) for cell in range(1, length)}
    moves |= {(cell, RIGHT): (cell + 1, 0.0) for cell in range(length - 1)}
    if jump_at is not None:
        moves[jump_at, AGAIN] = (jump_at + 7, 0.0)
    return MachineSimulator(moves, {}, 4, first)


def started(world, prune="dasp", after=1, depth_limit=2, seed=0):
    planner = BreadthFirst(depth_limit=depth_limit, rules=[Dominated(prune, after)])
    planner.start(world, seed)
    return planner


def dominated(planner):
    [rule] = planner.rules
    return rule


def useful(planner):
    return set(np.flatnonzero(dominated(planner).useful).tolist())


def test_one_expansion_says_which_actions_are_useful():
    planner = started(line(first=50))
    assert planner.decide(calls=4).calls == 4
    assert useful(planner) == {LEFT, RIGHT, STAY}


def test_at_a_wall_less_is_known():
    planner = started(line(first=0))
    planner.decide(calls=4)
    assert useful(planner) == {LEFT, RIGHT}


def test_actions_are_left_out_below_the_root_alone():
    planner = started(line(first=50))
    planner.decide(calls=4)
    planner.advance(RIGHT)
    decision = planner.decide(calls=100)
    assert (decision.calls, decision.stopped) == (4 + 4 * 3, "exhausted")
    assert not np.isnan(decision.values).any()
    below = planner.tree.children[planner.tree.children[ROOT]]
    assert (below[:, AGAIN] == NONE).all()


def test_nothing_is_left_out_at_first():
    planner = started(line(first=50), after=2)
    planner.decide(calls=4)
    planner.advance(RIGHT)
    assert planner.decide(calls=100).calls == 20


def test_an_action_comes_back_where_it_is_useful_at_the_root_and_stays():
    planner = started(line(first=50, jump_at=52))
    planner.decide(calls=4)
    planner.advance(RIGHT)  # to 51: the cell is in the tree, but what differs there is left out
    planner.decide(calls=100)
    assert AGAIN not in useful(planner)
    planner.advance(RIGHT)
    planner.decide(calls=100)
    assert useful(planner) == {LEFT, RIGHT, STAY, AGAIN}
    planner.advance(RIGHT)
    planner.decide(calls=100)
    assert AGAIN in useful(planner)


def test_an_episode_begins_without_memory():
    planner = started(line(first=50))
    planner.decide(calls=4)
    planner.start(line(first=0), seed=0)
    assert useful(planner) == set()


def test_chances_of_an_action_that_is_always_novel_and_of_one_that_never_is():
    world = MachineSimulator({}, {}, 2)  # both stay: the second is a duplicate of the first
    planner = started(world, prune="dasa", after=0, depth_limit=1)
    found = []
    for _ in range(60):
        planner.decide(calls=2)
        rule = dominated(planner)
        found.append((rule.novelty[1], rule.chances[1]))
        assert rule.chances[0] == pytest.approx(0.93173, abs=1e-5)
        planner.advance(0)
    assert found[0] == pytest.approx((1, 0.93173), abs=1e-5)
    known = [(0.48718, 0.53558), (0.23734, 0.29075), (0.11563, 0.21489), (0.05633, 0.18830)]
    for pair, expected in zip(found[1:5], known, strict=True):
        assert pair == pytest.approx(expected, abs=1e-5)
    assert found[-1][1] == pytest.approx(0.16827, abs=1e-5)


def test_actions_are_left_out_as_often_as_their_chances_say():
    planner = started(line(first=50), prune="dasa", after=0, depth_limit=2)
    for _ in range(60):
        planner.decide(calls=500)
        planner.advance(STAY)
    planner.decide(calls=500)
    tree, rule, search = planner.tree, dominated(planner), planner._search
    node, drawn = int(tree.children[ROOT, LEFT]), []
    for _ in range(2000):
        tree.left_out[node, AGAIN] = False
        drawn.append(rule.leaves_out(search, node, AGAIN))
        assert rule.leaves_out(search, node, AGAIN) or not drawn[-1]  # it lasts
        assert not rule.leaves_out(search, ROOT, AGAIN)
    assert np.mean(drawn) == pytest.approx(1 - rule.chances[AGAIN], abs=0.03)
    assert rule.chances[AGAIN] < 0.25


def test_with_pruning_a_duplicate_of_a_pruned_sibling_is_one():
    """In IW(1) only one of two twins is novel; the later one counts where it came first."""
    world = MachineSimulator({("root", action): ("next", 0.0) for action in (0, 1)}, {"next": 1})
    counts = set()
    for seed in range(20):
        rules = [Dominated("dasp", 1)]
        planner = BreadthFirst(LevelFeatures(), 1, depth_limit=1, rules=rules)
        planner.start(world, seed)
        planner.decide(calls=2)
        counts.add(tuple(useful(planner)))
    assert counts == {(0,), ()}  # the second action is never useful


def test_other_planners_that_expand_leave_actions_out_too():
    planner = PIW(None, rules=[Dominated("dasp", 0)], depth_limit=2)
    planner.start(line(first=50), seed=0)
    assert planner.decide(calls=100).calls == 4  # nothing is known to be useful below the root


def test_a_bookmark_knows_what_was_learned():
    planner = started(line(first=50), prune="dasa", after=0)
    planner.decide(calls=20)
    moment = planner.bookmark()
    planner.advance(RIGHT)
    first = planner.decide(calls=100), planner.tree.size
    planner.return_to(moment)
    planner.advance(RIGHT)
    again = planner.decide(calls=100), planner.tree.size
    assert (first[0].calls, first[0].action, first[1]) == (
        again[0].calls,
        again[0].action,
        again[1],
    )
