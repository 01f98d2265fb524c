"""Looking on changes nothing, and says what happened."""

import numpy as np
import pytest

from olive_iw.planners import PIW, UCT, BreadthFirst, RacingPIW, RolloutIW, TwoQueues
from olive_iw.planners.dasa import Dominated
from olive_iw.rules import Further, Twins
from olive_iw.search.tree import ROOT
from olive_iw.simulators import make_simulator
from olive_iw.viewer.node_details import node_details
from olive_iw.viewer.search_view import (
    KEPT,
    NEW,
    PRUNED,
    SOLVED,
    STATUSES,
    SearchRecorder,
    TreeSnapshot,
    lives_lost,
    principal_branch,
    root_actions,
    statuses,
    why,
)

PLANNERS = {
    "rollout-iw": lambda: RolloutIW("patches", bandit="ttts"),
    "far": lambda: RolloutIW("patches", rules=[Further(0.3)]),
    "breadth-first": lambda: BreadthFirst("patches", width=1),
    "uct": UCT,
    "2bfs": lambda: TwoQueues("patches"),
    "p-iw": lambda: PIW("patches"),
    "racing-p-iw": lambda: RacingPIW("patches"),
    "dasa": lambda: BreadthFirst("patches", 1, rules=[Dominated("dasa", 1)]),
}


def play(planner, decisions=6, world="grid:collect", calls=40):
    """What every decision came to, node by node."""
    planner.start(make_simulator(world), seed=3)
    lines = []
    for _ in range(decisions):
        decision = planner.decide(calls)
        tree = planner.tree
        lines.append((decision.action, decision.calls, decision.stopped, decision.visits.tolist()))
        lines.append((tree.parent[: tree.size].tolist(), tree.solved[: tree.size].tolist()))
        if planner.advance(decision.action).terminal:
            break
    return lines


@pytest.mark.parametrize("name", PLANNERS)
def test_a_watched_planner_does_the_same(name):
    watched, steps = PLANNERS[name](), []
    recorder = SearchRecorder(watched, lambda: steps.append(1))
    with watched.watched_by(recorder):
        found = play(watched)
    assert found == play(PLANNERS[name]())
    assert len(steps) > 10


@pytest.mark.parametrize("name", PLANNERS)
def test_a_bookmark_brings_the_same_future_back(name):
    planner = PLANNERS[name]()
    planner.start(make_simulator("grid:collect"), seed=1)
    planner.advance(planner.decide(30).action)
    mark = planner.bookmark()

    def future():
        found = []
        for _ in range(3):
            decision = planner.decide(30)
            values = np.nan_to_num(decision.values, nan=-1).tolist()
            found.append((decision.action, values, planner.ledger.calls))
            planner.advance(decision.action)
        return found

    first = future()
    for _ in range(2):  # a bookmark can be used again
        planner.return_to(mark)
        assert future() == first


@pytest.fixture
def searched():
    planner = RolloutIW("patches")
    recorder = SearchRecorder(planner, lambda: None)
    with planner.watched_by(recorder):
        planner.start(make_simulator("grid:collect"), seed=0)
        planner.decide(60)
    return planner, recorder


def test_new_atoms_are_those_no_node_had_before(searched):
    planner, recorder = searched
    tree, seen = planner.tree, {}
    assert len(recorder.entries[ROOT].new_atoms) == len(tree.seen[ROOT].atoms)
    # Entries stand in the order in which nodes were first reached.
    for node, entry in recorder.entries.items():
        depth = int(tree.depth[node])
        expected = [atom for atom in tree.seen[node].atoms if depth < seen.get(int(atom), 10**6)]
        assert entry.new_atoms.tolist() == expected
        seen.update({int(atom): depth for atom in expected})


def test_statuses_tell_pruned_from_solved(searched):
    planner, recorder = searched
    found = statuses(planner, recorder.entries)
    tree = planner.tree
    pruned, solved = np.flatnonzero(found == PRUNED), np.flatnonzero(found == SOLVED)
    assert len(pruned)
    assert len(solved)
    assert all(not recorder.entries[int(node)].novel for node in pruned)
    assert all(tree.solved[node] and not tree.unsolved[node].any() for node in solved)
    assert (found == NEW).any() or tree.solved[ROOT]
    node = int(pruned[0])
    text = why(planner, node, PRUNED, recorder.entries[node])
    assert text.startswith("pruned")
    assert "256 atoms" in text


def searched_by(planner, game="grid:collect"):
    recorder = SearchRecorder(planner, lambda: None)
    with planner.watched_by(recorder):
        planner.start(make_simulator(game), seed=0)
        planner.decide(60)
    return recorder.entries


@pytest.mark.parametrize(
    ("rules", "game"), [([Further(0.5)], "grid:key-door"), ([Twins()], "breakout")]
)
def test_nothing_is_kept_from_before_the_first_decision(rules, game):
    planner = RolloutIW("patches", rules=rules)
    entries = searched_by(planner, game)
    marks = statuses(planner, entries)
    assert not (marks == KEPT).any()
    unreached = set(range(planner.tree.size)) - entries.keys()
    assert bool(unreached) == (game == "breakout")
    for node in unreached:
        assert planner.tree.is_twin(node)
        assert "twin" in why(planner, node, int(marks[node]), None)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TwoQueues("patches"), "put back: none of its 256 atoms is new in this decision"),
        (
            lambda: PIW("patches"),
            "pruned: none of its 256 atoms comes with more reward than before",
        ),
    ],
)
def test_why_says_how_the_planner_judges(make, words):
    planner = make()
    entries = searched_by(planner)
    pruned = np.flatnonzero(statuses(planner, entries) == PRUNED).tolist()
    assert pruned
    assert {why(planner, node, PRUNED, entries[node]) for node in pruned} == {words}


def test_kept_nodes_are_those_not_reached_again(searched):
    planner, recorder = searched
    planner.advance(int(np.nanargmax(planner.tree.action_values())))
    recorder.begin()
    root, *others = (STATUSES[status] for status in statuses(planner, recorder.entries))
    assert set(others) <= {"kept", "terminal"}
    assert root == "new"  # the search begins there: it is not a node left over


def test_the_root_before_any_search_is_where_it_begins():
    planner = RolloutIW("patches")
    simulator = make_simulator("grid:collect")
    planner.start(simulator, seed=0)
    assert [STATUSES[status] for status in statuses(planner, {})] == ["new"]
    details = node_details(planner, {}, simulator, ROOT)
    assert details["status"] == "new"
    assert details["why"] == "the search begins here"


def test_changes_add_up_to_the_tree():
    planner, page = RolloutIW("patches"), [None]
    nodes, marks, resets = {}, {}, []

    def take(decision, visit=0):
        snapshot = TreeSnapshot.of(planner, recorder.entries, decision, visit)
        change = snapshot.since(page[0])
        page[0] = snapshot
        resets.append(change.reset)
        if change.reset:
            nodes.clear()
            marks.clear()
        for node, *rest in change.nodes:
            assert node not in nodes
            nodes[node] = rest
        marks.update((node, mark) for node, mark in change.marks)

    recorder = SearchRecorder(planner, lambda: take(0))
    with planner.watched_by(recorder):
        planner.start(make_simulator("grid:collect"), seed=0)
        planner.decide(50)
    take(0)
    tree = planner.tree
    assert resets[0]
    assert not any(resets[1:])
    assert len(nodes) == tree.size
    assert marks == dict(enumerate(statuses(planner, recorder.entries).tolist()))
    assert all(nodes[node][0] == tree.parent[node] for node in nodes)
    for decision, visit in ((0, 1), (1, 1)):  # another tree
        take(decision, visit)
        assert resets[-1]
        assert len(nodes) == tree.size


def test_the_principal_branch_earns_the_best_value(searched):
    planner, _ = searched
    tree = planner.tree
    branch = principal_branch(tree)
    earned = sum(
        tree.discount**depth * tree.shaped_reward[node] for depth, node in enumerate(branch[1:])
    )
    assert earned == pytest.approx(np.nanmax(tree.action_values()))
    other = int(np.nanargmin(tree.action_values()))
    assert principal_branch(tree, other)[1] == tree.children[ROOT, other]


def test_root_actions_are_the_planners_statistics(searched):
    planner, _ = searched
    tree = planner.tree
    message = root_actions(tree, chosen=2)
    assert message.visits == tree.visits(ROOT).tolist()
    assert message.chosen == 2
    for action, visits in enumerate(message.visits):
        if visits:
            expected = (tree.variance[ROOT, action] / visits) ** 0.5
            assert message.deviations[action] == pytest.approx(expected, abs=1e-6)
            assert message.means[action] == pytest.approx(tree.mean[ROOT, action], abs=1e-6)
        else:
            assert message.means[action] is None


def test_a_lost_life_is_seen():
    planner = BreadthFirst()
    planner.start(make_simulator("grid:lava"), seed=0)
    planner.decide(400)
    tree = planner.tree
    lost = np.flatnonzero(lives_lost(tree))
    assert not lives_lost(tree)[ROOT]
    assert len(lost)
    assert all(tree.lives[node] == tree.lives[tree.parent[node]] - 1 for node in lost)
