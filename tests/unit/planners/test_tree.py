"""The tree: adding, growing, entering, solving, advancing."""

import numpy as np
import pytest

from olive_iw.planners import Risk, Tree
from olive_iw.search.node import NodeData
from olive_iw.search.tree import NONE, ROOT
from olive_iw.simulators.base import Step, read_only


def seen(reward=0.0, lives=0, terminal=False, state=None):
    step = Step(read_only(np.zeros((1, 1), np.uint8)), reward, terminal, lives)
    return NodeData(step, state, np.empty(0, np.int32))


@pytest.fixture
def tree():
    tree = Tree(2, 0.5, Risk())
    tree.add_root(seen(lives=3))
    return tree


def test_a_node_hangs_where_it_was_added(tree):
    child = tree.add(ROOT, 1, seen(2.0, lives=3, terminal=True))
    assert tree.size == len(tree) == 2
    assert (tree.parent[child], tree.action[child], tree.depth[child]) == (ROOT, 1, 1)
    assert (tree.reward[child], tree.terminal[child], tree.lives[child]) == (2.0, True, 3)
    assert tree.children[ROOT].tolist() == [NONE, child]
    assert tree.path(child) == [ROOT, child]
    assert tree.path(ROOT) == [ROOT]


def test_values_are_discounted_maxima_and_follow_every_addition(tree):
    left = tree.add(ROOT, 0, seen(1.0, lives=3))
    assert tree.action_values() == pytest.approx([1.0, np.nan], nan_ok=True)
    below = tree.add(left, 0, seen(4.0, lives=3))
    tree.add(left, 1, seen(2.0, lives=3))
    tree.add(ROOT, 1, seen(2.5, lives=3))
    assert tree.action_values() == pytest.approx([1.0 + 0.5 * 4.0, 2.5])
    assert tree.value[ROOT] == pytest.approx(3.0)
    tree.add(below, 0, seen(-1.0, lives=3))
    # Below the 4.0 there is nothing but a loss now, so the 2.0 beside it is the better end.
    assert tree.action_values() == pytest.approx([1.0 + 0.5 * 2.0, 2.5])


def test_a_lost_life_counts_once_and_a_negative_reward_is_multiplied(tree):
    lost = tree.add(ROOT, 0, seen(1.0, lives=2))
    tree.add(lost, 0, seen(8.0, lives=2))
    tree.add(ROOT, 1, seen(-3.0, lives=3))
    assert tree.action_values() == pytest.approx([1.0 - 500_000 + 0.5 * 8.0, -150_000])


def test_grows_beyond_its_first_rows_without_losing_anything(tree):
    node = ROOT
    for index in range(1000):
        node = tree.add(node, index % 2, seen(float(index), lives=3, state=index))
    assert tree.size == 1001
    assert tree.path(node) == list(range(1001))
    assert tree.reward[1:1001].tolist() == list(range(1000))
    assert [kept.state for kept in tree.seen[1:]] == list(range(1000))
    assert (tree.children[:1001] != NONE).sum() == 1000
    best = sum(index * 0.5**index for index in range(1000))
    assert tree.value[ROOT] == pytest.approx(best)


def test_entering_forgets_the_last_decision_once(tree):
    tree.start_decision()
    assert not tree.was_entered(ROOT)
    assert tree.enter(ROOT)
    tree.count[ROOT], tree.mean[ROOT], tree.variance[ROOT] = 3, 2.0, 1.0
    tree.solve(ROOT)
    assert not tree.enter(ROOT)
    assert tree.visits(ROOT).tolist() == [3, 3]
    tree.start_decision()
    assert tree.visits(ROOT).tolist() == [0, 0]  # forgotten, though not yet overwritten
    assert not tree.was_entered(ROOT)
    assert tree.enter(ROOT)
    assert tree.count[ROOT].tolist() == [0, 0]
    assert tree.mean[ROOT].tolist() == [0.0, 0.0]
    assert tree.variance[ROOT].tolist() == [0.2, 0.2]
    assert not tree.solved[ROOT]


def test_a_second_search_forgets_labels_but_not_statistics(tree):
    tree.start_decision()
    tree.enter(ROOT)
    tree.count[ROOT] = 4
    tree.unsolved[ROOT, 0] = False
    tree.solve(ROOT)
    tree.start_search()
    assert not tree.was_entered(ROOT)
    assert tree.enter(ROOT)
    assert tree.count[ROOT].tolist() == [4, 4]
    assert not tree.solved[ROOT]
    assert tree.unsolved[ROOT].all()


def test_a_node_is_solved_when_all_its_actions_are(tree):
    left, right = tree.add(ROOT, 0, seen()), tree.add(ROOT, 1, seen())
    ends = [tree.add(left, action, seen()) for action in range(2)]
    tree.start_decision()
    for node in range(tree.size):
        tree.enter(node)
    tree.solve(ends[0])
    assert tree.unsolved[left].tolist() == [False, True]
    assert not tree.solved[left]
    tree.solve(ends[1])
    assert tree.solved[left]
    assert tree.unsolved[ROOT].tolist() == [False, True]
    assert not tree.solved[ROOT]
    tree.solve(right)
    assert tree.solved[ROOT]


def test_a_missing_child_keeps_a_node_unsolved(tree):
    left = tree.add(ROOT, 0, seen())
    tree.start_decision()
    tree.enter(ROOT)
    tree.enter(left)
    tree.solve(left)
    assert not tree.solved[ROOT]


def test_advancing_renumbers_the_kept_nodes_in_order(tree):
    left, right = tree.add(ROOT, 0, seen(state="l")), tree.add(ROOT, 1, seen(state="r"))
    right_left = tree.add(right, 0, seen(1.0, state="rl"))
    tree.add(left, 1, seen(state="lr"))
    tree.add(right_left, 1, seen(5.0, state="rlr"))
    tree.start_decision()
    tree.enter(right_left)
    tree.count[right_left] = [0, 7]
    tree.advance(1)
    assert [kept.state for kept in tree.seen] == ["r", "rl", "rlr"]
    assert tree.parent[:3].tolist() == [NONE, 0, 1]
    assert tree.action[:3].tolist() == [NONE, 0, 1]
    assert tree.children[:3].tolist() == [[1, NONE], [NONE, 2], [NONE, NONE]]
    assert tree.depth[:3].tolist() == [1, 2, 3]
    assert tree.visits(1).tolist() == [0, 7]
    assert tree.action_values() == pytest.approx([1.0 + 0.5 * 5.0, np.nan], nan_ok=True)
    new = tree.add(2, 0, seen(state="rlrl"))
    assert (new, tree.path(new)) == (3, [0, 1, 2, 3])


def test_rows_of_dropped_nodes_are_as_good_as_new(tree):
    left = tree.add(ROOT, 0, seen())
    tree.start_decision()
    for action in range(2):
        tree.enter(tree.add(left, action, seen()))
    tree.solve(3)
    tree.add(ROOT, 1, seen())
    tree.advance(1)
    assert tree.size == 1
    node = tree.add(ROOT, 0, seen())
    assert tree.children[node].tolist() == [NONE, NONE]
    assert not tree.was_entered(node)
    assert (tree.value[node], bool(tree.solved[node])) == (0.0, False)
