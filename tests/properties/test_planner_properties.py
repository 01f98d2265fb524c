"""What holds of every planner, in random games with losses, ends and negative rewards."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import (
    RecordedRolloutIW,
    RecordedUCT,
    check_rollouts,
    check_statistics,
    drawn,
    value_below,
)
from synthetic import PixelFeatures, SyntheticSimulator

from olive_iw.bandits import BANDITS
from olive_iw.planners import BreadthFirst, Risk
from olive_iw.search.tree import NONE, ROOT

EXAMPLES = settings(max_examples=60, deadline=None)

simulators = st.builds(
    SyntheticSimulator,
    seed=st.integers(0, 2**20),
    action_count=st.integers(1, 4),
    lives=st.integers(0, 3),
    terminal_chance=st.sampled_from([0.0, 0.05, 0.3]),
    last_depth=st.sampled_from([1, 3, 6, 1000]),
)
shared_options = {
    "depth_limit": st.sampled_from([1, 2, 5, 12, 100]),
    "discount": st.sampled_from([0.5, 0.99, 1.0]),
    "risk": st.builds(Risk, averse=st.booleans()),
}
rollout_planners = st.builds(
    RecordedRolloutIW,
    features=st.sampled_from([None, PixelFeatures()]),
    bandit=st.sampled_from(sorted(BANDITS)),
    width=st.sampled_from([1, 2, None]),
    **shared_options,
)
uct_planners = st.builds(
    RecordedUCT, bandit=st.sampled_from(sorted(set(BANDITS) - {"uniform"})), **shared_options
)
breadth_first_planners = st.builds(
    BreadthFirst,
    features=st.just(PixelFeatures()),
    width=st.sampled_from([1, 2, None]),
    **shared_options,
)
planners = st.one_of(rollout_planners, uct_planners, breadth_first_planners)
budgets = st.lists(st.integers(1, 60), min_size=1, max_size=4)
seeds = st.integers(0, 2**20)


def decisions(planner, simulator, seed, calls):
    """Decide with each budget in turn; yields budget and decision, then does the action."""
    planner.start(simulator, seed)
    for budget in calls:
        if planner.over:
            return
        decision = planner.decide(budget)
        yield budget, decision
        planner.advance(decision.action)


@EXAMPLES
@given(planners, simulators, seeds, budgets)
def test_calls_are_the_steps_really_made_and_never_exceed_the_budget(
    planner, simulator, seed, calls
):
    for budget, decision in decisions(planner, simulator, seed, calls):
        made = len(simulator.log)
        assert planner.ledger.calls == planner.ledger.counters.nodes == made
        assert decision.calls <= budget
        assert decision.stopped == ("budget" if decision.calls == budget else "exhausted")
        assert made <= sum(calls)
    assert len(simulator.log) == planner.ledger.calls  # advancing to a known node cost nothing


@EXAMPLES
@given(planners, simulators, seeds, budgets)
def test_no_state_is_simulated_twice_in_an_episode(planner, simulator, seed, calls):
    for _ in decisions(planner, simulator, seed, calls):
        assert len(set(simulator.log)) == len(simulator.log)


@EXAMPLES
@given(planners, simulators, seeds, budgets)
def test_every_node_holds_what_its_path_shows(planner, simulator, seed, calls):
    fresh = SyntheticSimulator(
        simulator.seed,
        simulator.action_count,
        simulator.lives,
        simulator.terminal_chance,
        simulator.last_depth,
    )
    done = []
    for _, decision in decisions(planner, simulator, seed, calls):
        tree = planner.tree
        for node in range(tree.size):
            actions = done + [int(tree.action[other]) for other in tree.path(node)[1:]]
            step = fresh.reset()
            for action in actions:
                step = fresh.step(action)
            assert np.array_equal(step.screen, tree.seen[node].step.screen)
            assert (step.reward, step.terminal, step.lives) == (
                tree.reward[node],
                tree.terminal[node],
                tree.lives[node],
            )
            assert tree.depth[node] == len(actions)
        done.append(decision.action)


@EXAMPLES
@given(planners, simulators, seeds, budgets)
def test_values_equal_a_recursive_maximum_over_the_tree(planner, simulator, seed, calls):
    for _, decision in decisions(planner, simulator, seed, calls):
        tree = planner.tree
        for node in range(tree.size):
            assert math.isclose(tree.value[node], value_below(tree, node, tree.risk), rel_tol=1e-12)
        tried = tree.children[ROOT] != NONE
        assert (np.isnan(decision.values) == ~tried).all()
        expected = [
            tree.shaped_reward[child] + planner.discount * value_below(tree, child, tree.risk)
            for child in tree.children[ROOT][tried]
        ]
        assert decision.values[tried] == pytest.approx(expected)
        assert decision.values[decision.action] == np.nanmax(decision.values)


@EXAMPLES
@given(planners, simulators, seeds, budgets)
def test_the_depth_limit_is_respected_and_nothing_follows_an_end(planner, simulator, seed, calls):
    for _ in decisions(planner, simulator, seed, calls):
        tree = planner.tree
        depth = tree.depth[: tree.size] - tree.depth[ROOT]
        inner = (tree.children[: tree.size] != NONE).any(axis=1)
        assert depth.max() <= planner.depth_limit
        assert not (inner & tree.terminal[: tree.size]).any()


@EXAMPLES
@given(planners, simulators, seeds, budgets, st.data())
def test_advancing_keeps_exactly_the_subtree(planner, simulator, seed, calls, data):
    planner.start(simulator, seed)
    for budget in calls:
        if planner.over:
            return
        planner.decide(budget)
        action = data.draw(st.integers(0, simulator.action_count - 1))
        child, made = int(planner.tree.children[ROOT, action]), len(simulator.log)
        before = None if child == NONE else drawn(planner.tree, child)
        planner.advance(action)
        if before is None:
            assert planner.tree.size == 1
            assert len(simulator.log) == made + 1
        else:
            assert drawn(planner.tree) == before
            assert len(simulator.log) == made


@EXAMPLES
@given(rollout_planners, simulators, seeds, budgets)
def test_rollouts_follow_algorithm_1(planner, simulator, seed, calls):
    """Novelty of first and later entries, stops, choices among unsolved actions, solved labels."""
    for _, decision in decisions(planner, simulator, seed, calls):
        labels = check_rollouts(planner, [planner.width])
        if decision.stopped == "exhausted":
            assert labels.solved(ROOT)


@EXAMPLES
@given(st.one_of(rollout_planners, uct_planners), simulators, seeds, budgets)
def test_statistics_equal_those_of_the_list_of_returns(planner, simulator, seed, calls):
    for _, decision in decisions(planner, simulator, seed, calls):
        check_statistics(planner)
        assert decision.visits.tolist() == planner.tree.count[ROOT].tolist()
        assert decision.visits.sum() == len(planner.rollouts)


@EXAMPLES
@given(uct_planners, simulators, seeds, budgets)
def test_uct_counts_the_known_choices_and_one_new_one(planner, simulator, seed, calls):
    for _, decision in decisions(planner, simulator, seed, calls):
        tried = set()
        for rollout in planner.rollouts:
            edges = list(zip(rollout.path, rollout.path[1:], strict=False))
            known = next((i for i, edge in enumerate(edges) if edge not in tried), len(edges))
            assert rollout.counted == min(known + 1, len(edges))
            tried.update(edges[: rollout.counted])
        labels = check_rollouts(planner, [None])
        assert decision.stopped == "budget" or labels.solved(ROOT)


@EXAMPLES
@given(planners, simulators, seeds, st.integers(1, 60), st.integers(1, 60))
def test_deciding_again_revisits_the_known_tree_without_calls(
    planner, simulator, seed, first, second
):
    planner.start(simulator, seed)
    planner.decide(first)
    size = planner.tree.size
    decision = planner.decide(second)
    assert planner.tree.size == size + decision.calls
    assert len(set(simulator.log)) == len(simulator.log)


@EXAMPLES
@given(planners, simulators, seeds, budgets)
def test_the_same_seed_gives_the_same_tree(planner, simulator, seed, calls):
    runs = []
    for _ in range(2):
        results = [
            (decision.action, decision.calls, drawn(planner.tree))
            for _, decision in decisions(planner, simulator, seed, calls)
        ]
        runs.append(results)
    assert runs[0] == runs[1]
