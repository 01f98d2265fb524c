"""What holds of a search with workers, however many, in random games."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import RecordedParallel, check_statistics, value_below
from synthetic import PixelFeatures
from test_planner_properties import simulators

from olive_iw.bandits import BANDITS
from olive_iw.search.tree import ROOT

planners = st.builds(
    RecordedParallel,
    features=st.sampled_from([None, PixelFeatures()]),
    bandit=st.sampled_from(sorted(BANDITS)),
    width=st.sampled_from([1, 2, None]),
    depth_limit=st.sampled_from([1, 2, 5, 100]),
    workers=st.integers(1, 4),
)
budgets = st.lists(st.integers(1, 60), min_size=1, max_size=4)


def assert_seen_where_it_hangs(planner, node):
    """What a node shows is what the actions that lead to it show, from the start of the game."""
    tree = planner.tree
    if not tree.terminal[node]:
        actions = tuple(int(tree.action[below]) for below in tree.path(node)[1:])
        path = planner.tree.saved_state(node).path
        assert path[len(path) - len(actions) :] == actions
        assert len(path) == tree.depth[node]


@settings(max_examples=40, deadline=None)
@given(planners, simulators, st.integers(0, 2**20), budgets)
def test_budget_statistics_values_and_labels_are_right(planner, simulator, seed, calls):
    try:
        planner.start(simulator, seed)
        for budget in calls:
            if planner.over:
                break
            decision = planner.decide(budget)
            tree, nodes = planner.tree, range(len(planner.tree))
            assert decision.calls <= budget
            assert decision.stopped == ("budget" if decision.calls == budget else "exhausted")
            assert planner.ledger.calls == planner.ledger.counters.nodes
            assert not planner.driver.virtual_visits.any()
            assert not planner.driver.blocked.any()
            check_statistics(planner)
            assert len({(tree.parent[node], tree.action[node]) for node in nodes}) == len(nodes)
            for node in nodes:
                assert_seen_where_it_hangs(planner, node)
                assert math.isclose(tree.value[node], value_below(tree, node, tree.risk))
            if decision.stopped == "exhausted":
                assert tree.solved[ROOT]
            planner.advance(decision.action)
    finally:
        planner.close()
