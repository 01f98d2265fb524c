"""Planning with a policy and learned values: worlds whose answers are known."""

import numpy as np
import pytest
from surveyed import mechanisms
from synthetic import (
    LevelFeatures,
    MachineSimulator,
    PixelFeatures,
    ScriptedSimulator,
    SyntheticSimulator,
)

from olive_iw.errors import InputError
from olive_iw.features.base import Guidance
from olive_iw.planners import HIW, Risk, RolloutIW
from olive_iw.planners.hiw import visit_shares
from olive_iw.planners.mechanisms import Drawn, Tolerance
from olive_iw.planners.rollout_iw import enter_kept
from olive_iw.search.decision import best_actions, softmax
from olive_iw.search.node import NodeData
from olive_iw.search.tree import NONE, ROOT, Tree
from olive_iw.simulators.base import Step, read_only

PI_IW = {"root_in_table": False, "kept": "known"}
ENDLESS = {"terminal_chance": 0.0, "lives": 0}


class Policy(LevelFeatures):
    """A policy and values written down, by the level of the newest screen; it notes its inputs."""

    def __init__(self, prior=(0.5, 0.5), values=None):
        self.prior, self.values, self.paths = np.array(prior, np.float32), values or {}, []

    def of_path(self, steps):
        self.paths.append([int(step.screen[0, 0]) for step in steps])
        level = int(steps[-1].screen[0, 0])
        return Guidance(self.of_step(steps[-1], None), self.prior, self.values.get(level, 0.0))


def planner_of(features, discount=1.0, **rules):
    risk = Risk(averse=False)
    return RolloutIW(features, "policy", discount=discount, risk=risk, **mechanisms(**rules))


# Tables: what is in them


@pytest.mark.parametrize("actions", [2, 5])
@pytest.mark.parametrize(("in_table", "calls"), [(True, 1), (False, 2)])
def test_one_constant_atom_tells_whether_the_root_is_in_the_table(actions, in_table, calls):
    prior = np.full(actions, 1 / actions)
    planner = planner_of(Policy(prior), root_in_table=in_table, kept="known")
    planner.start(ScriptedSimulator({}, action_count=actions), seed=0)
    decision = planner.decide(calls=100)
    assert (decision.calls, decision.stopped) == (calls * actions, "exhausted")


def scripted_walk(novelty):
    """Level 9 first at depth 2, below action 0; then at depth 1, by action 1; then again."""
    steps = {(0,): (1, 0.0, False, 0), (0, 0): (9, 0.0, False, 0), (1,): (9, 0.0, False, 0)}
    simulator = ScriptedSimulator(steps, default=(0, 0.0, False, 0))
    planner = planner_of(Policy(), by=novelty, kept="free")
    planner.start(simulator, seed=0)
    search = planner._search
    search.start_decision(100, None)
    search.begin(1)
    verdicts = [search.enter(ROOT, 0)]
    near = search.expand(ROOT, 0)
    verdicts.append(search.enter(near, 1))
    deep = search.expand(near, 0)
    verdicts.append(search.enter(deep, 2))
    other = search.expand(ROOT, 1)
    verdicts += [search.enter(other, 1), search.enter(deep, 2)]
    return verdicts


def test_classic_novelty_asks_only_whether_an_atom_was_met():
    assert scripted_walk("classic") == [True, True, True, False, True]
    assert scripted_walk("depth") == [True, True, True, True, False]


def test_classic_novelty_has_the_root_in_the_table_at_the_first_decision_only():
    planner = planner_of(Policy(), by="classic", kept="free")
    planner.start(ScriptedSimulator({}), seed=0)
    assert planner.decide(calls=100).calls == 2  # both children show what the root shows
    planner.advance(0)
    second = planner.decide(calls=100)
    assert second.calls == 4  # the first child is new, its children and its sibling are not


def test_known_nodes_stay_outside_the_table_and_can_be_pruned():
    for rule, pruned in (("known", True), ("free", False)):
        planner = planner_of(Policy(), kept=rule, root_in_table=False)
        planner.start(ScriptedSimulator({(0, 0): (5, 0.0, False, 0)}), seed=0)
        search = planner._search
        search.start_decision(100, None)
        search.begin(1)
        search.expand(search.expand(ROOT, 0), 0)
        planner.advance(0)
        child = int(planner.tree.children[ROOT, 0])
        search.start_decision(100, None)
        search.begin(1)
        assert search.enter(child, 1)
        assert search.new_atoms(child, 1).tolist() == [5]  # it did not enter
        search.judge.is_new(np.array([5], np.int32), 0, 0.0, 0, first=True)
        assert search.enter(child, 1) == (not pruned)


def test_search_workers_are_refused_with_a_policy():
    with pytest.raises(InputError, match="search_workers = 1"):
        RolloutIW(Policy(), workers=2)


def test_kept_nodes_may_enter_first_in_the_order_they_were_made():
    judged = mechanisms(kept="first", over_in_table=False)
    planner = RolloutIW(PixelFeatures(), **judged)
    planner.start(SyntheticSimulator(terminal_chance=0.2, lives=0), seed=1)
    for _ in range(4):
        decision = planner.decide(calls=40)
        planner.advance(decision.action)
        if planner.over:
            return
        tree, search = planner.tree, planner._search
        search.start_decision(1, None)
        search.begin(1)
        enter_kept(search)
        seen: dict[int, int] = {}
        for node in range(tree.size):
            depth, atoms = int(tree.depth[node] - tree.depth[ROOT]), tree.seen[node].atoms
            new = [atom for atom in atoms.tolist() if depth < seen.get(atom, 99)]
            if not tree.terminal[node]:
                seen |= dict.fromkeys(new, depth)
            done = bool(tree.terminal[node]) or (node != ROOT and not new)
            assert tree.solved[node] or not done


# The policy of a node


def test_an_action_without_a_share_is_never_tried():
    simulator = ScriptedSimulator({(0,): (1, 0.0, False, 0)})
    planner = planner_of(Policy(prior=(1.0, 0.0)), **PI_IW)
    planner.start(simulator, seed=0)
    decision = planner.decide(calls=100)
    assert decision.stopped == "exhausted"
    assert planner.tree.solved[ROOT]
    assert np.isnan(decision.values[1])
    assert all(set(path) == {0} for path in simulator.log)


def test_actions_are_drawn_by_their_shares():
    counts = np.zeros(3)
    for seed in range(400):
        planner = planner_of(PolicyOfThree(), **PI_IW)
        planner.start(SyntheticSimulator(**ENDLESS), seed=seed)
        planner.decide(calls=1)
        counts += planner.tree.children[ROOT] != NONE
    assert counts / 400 == pytest.approx([0.7, 0.2, 0.1], abs=0.07)


class PolicyOfThree(PixelFeatures):
    def of_path(self, steps):
        shares = np.array([0.7, 0.2, 0.1], np.float32)
        return Guidance(self.of_step(steps[-1], None), shares, 0.0)


def test_a_node_keeps_the_policy_it_was_made_with():
    policy = Policy(prior=(0.75, 0.25))
    planner = planner_of(policy, **PI_IW)
    planner.start(ScriptedSimulator({}), seed=0)
    planner.decide(calls=4)
    policy.prior = np.array([0.1, 0.9], np.float32)
    planner.advance(0)
    assert planner.tree.prior[ROOT].tolist() == [0.75, 0.25]


def test_a_network_sees_the_last_four_decisions_also_above_the_root():
    levels = {tuple([0] * depth): (depth, 0.0, False, 0) for depth in range(1, 8)}
    policy = Policy(prior=(1.0, 0.0))
    planner = planner_of(policy, **PI_IW)
    planner.start(ScriptedSimulator(levels), seed=0)
    for _ in range(4):
        planner.decide(calls=1)
        planner.advance(0)
    assert policy.paths == [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [1, 2, 3, 4]]
    marked = planner.bookmark()
    planner.decide(calls=1)
    planner.advance(0)
    planner.return_to(marked)
    planner.decide(calls=1)
    assert policy.paths[-2:] == [[2, 3, 4, 5]] * 2
    planner.start(ScriptedSimulator(levels), seed=0, after=[0, 0])
    assert policy.paths[-1] == [0, 1, 2]


# Learned values


def node(level, reward=0.0, terminal=False):
    step = Step(read_only(np.full((1, 1), level, np.uint8)), reward, terminal, 0)
    return NodeData(step, level, np.array([level], np.int32))


@pytest.mark.parametrize("everywhere", [False, True])
def test_values_of_leaves_are_renewed_upward(everywhere):
    tree, prior = Tree(2, 0.5, Risk(averse=False)), np.ones(2, np.float32)
    tree.add_root(node(0))
    tree.guide(ROOT, prior, 3.0, everywhere)
    near = tree.add(ROOT, 0, node(1, reward=1.0))
    tree.guide(near, prior, 10.0, everywhere)
    assert tree.action_values()[0] == 1.0 + 0.5 * 10.0
    deep = tree.add(near, 1, node(2, reward=2.0))
    tree.guide(deep, prior, -4.0, everywhere)
    # 2 + ½·(-4) = 0 below `near`, which by itself is worth 10.
    assert tree.action_values()[0] == (1.0 + 0.5 * 10.0 if everywhere else 1.0)
    assert tree.value[ROOT] == (6.0 if everywhere else 1.0)
    over = tree.add(near, 0, node(3, reward=30.0, terminal=True))
    tree.guide(over, prior, 99.0, everywhere)
    assert tree.value[over] == 0.0
    assert tree.action_values()[0] == 1.0 + 0.5 * 30.0


def test_the_root_is_worth_what_it_leads_to_or_what_the_network_says():
    tree, prior = Tree(1, 1.0, Risk(averse=False)), np.ones(1, np.float32)
    tree.add_root(node(0))
    tree.guide(ROOT, prior, 5.0, everywhere=True)
    tree.guide(tree.add(ROOT, 0, node(1)), prior, 2.0, everywhere=True)
    assert tree.value[ROOT] == 5.0


def test_a_planner_goes_where_the_network_expects_most():
    levels = {(0,): (1, 0.0, False, 0), (1,): (2, 0.0, False, 0)}
    for values, best in (({1: 3.0}, 0), ({2: 3.0}, 1), ({1: -3.0, 2: -4.0}, 0)):
        planner = RolloutIW(Policy(values=values), "policy", depth_limit=1)
        planner.start(ScriptedSimulator(levels), seed=0)
        assert planner.decide(calls=2).action == best


# The decision


def test_targets_share_the_greatest_values():
    assert softmax(np.array([2.0, 2.0, np.nan]), 0.0).tolist() == [0.5, 0.5, 0.0]
    shares = softmax(np.array([1.0, 0.0, np.nan]), 1.0)
    assert shares == pytest.approx([np.e / (1 + np.e), 1 / (1 + np.e), 0.0])
    assert softmax(np.array([1e6, 0.0]), 0.01).tolist() == [1.0, 0.0]


def test_among_equal_returns_the_larger_subtree_wins():
    tree = Tree(2, 1.0, Risk(averse=False))
    tree.add_root(node(0))
    for action, size in ((0, 30), (1, 28)):
        below = ROOT
        for _ in range(size):
            below = tree.add(below, action, node(1))
    assert tree.sizes().tolist() == [30, 28]
    assert Drawn(0.01, 1.0).shares(tree) == pytest.approx([0.881, 0.119], abs=5e-4)


def test_a_temperature_draws_the_action():
    levels = {(0,): (1, 1.0, True, 0), (1,): (2, 0.0, True, 0)}
    drawn = []
    for seed in range(300):
        planner = planner_of(Policy(), temperature=1.0)
        planner.start(ScriptedSimulator(levels), seed=seed)
        drawn.append(planner.decide(calls=2).action)
    assert np.mean(drawn) == pytest.approx(1 / (1 + np.e), abs=0.07)


def test_ties_within_a_tolerance():
    values = np.array([1.0, 1.0 - 5e-8, np.nan, 0.5])
    assert best_actions(values).tolist() == [0]
    near = Tolerance(1e-7).allow(None, values)
    assert best_actions(near).tolist() == [0, 1]


# Two levels


def test_areas_that_were_visited_less_are_drawn_first():
    assert visit_shares([0, 1], 0.005)[1] == pytest.approx(np.exp(-100))
    assert visit_shares([9, 10], 0.005)[0] == pytest.approx(0.860, abs=5e-4)


class Line:
    """Four cells in a row; the screen has a bright pixel where one stands."""

    action_count, action_names = 2, ("left", "right")

    def reset(self):
        self._place = 0
        return self._look()

    def step(self, action):
        self._place = min(3, max(0, self._place + (1 if action else -1)))
        return self._look()

    def save(self):
        return self._place

    def restore(self, state):
        self._place = state

    def _look(self):
        screen = np.zeros((1, 4), np.uint8)
        screen[0, self._place] = 255
        return Step(read_only(screen), 0.0, False, 0)


class AlwaysRight:
    size = 4

    def prepare(self, simulator, first):
        pass

    def of_step(self, step, previous):
        return np.flatnonzero(step.screen[0]).astype(np.int32)

    def of_path(self, steps):
        return Guidance(self.of_step(steps[-1], None), np.array([0, 1], np.float32), 0.0)


def area(planner, entry):
    """Nodes of an area as the last decision left it: its own, and entries that lead out."""
    entries, parent = planner._areas.entry, planner.tree.parent
    return [
        node
        for node, own in enumerate(entries)
        if own == entry or (node == own != ROOT and entries[parent[node]] == entry)
    ]


def test_two_calls_make_the_first_area_below():
    planner = HIW(AlwaysRight(), tile_rows=1, tile_columns=2, tile_values=4)
    planner.start(Line(), seed=0)
    assert planner.decide(calls=2).calls == 2
    assert area(planner, ROOT) == [0, 1, 2]
    assert area(planner, 2) == [2]
    assert planner.decide(calls=10).stopped == "exhausted"
    assert area(planner, 2) == [2, 3, 4]  # the last cell, and once more: not new


def test_what_an_areas_entry_shows_is_new_no_more_within_it():
    # All three actions lead from the dark to the light, and stay there.
    world = MachineSimulator(
        {("root", action): ("lit", 0.0) for action in range(3)}, {"lit": 255}, 3
    )
    for seed in range(3):
        planner = HIW(LevelFeatures(), tile_rows=1, tile_columns=1, tile_values=2)
        planner.start(world, seed=seed)
        decision = planner.decide(calls=100)
        assert (decision.calls, decision.stopped) == (3 + 3, "exhausted")


def test_an_area_is_entered_again_only_by_a_shorter_way():
    for width, expected in (("whole", 2), ("tiles", 2)):
        planner = HIW(AlwaysRight(), tile_rows=1, tile_columns=2, tile_values=4, high_width=width)
        planner.start(Line(), seed=0)
        planner.decide(calls=50)
        assert len(set(planner._areas.entry)) == expected
        assert sum(planner.memory.values()) >= 2


def test_visits_are_counted_through_an_episode_and_return_with_a_bookmark():
    planner = HIW(AlwaysRight(), tile_rows=1, tile_columns=2, tile_values=4)
    planner.start(Line(), seed=0)
    planner.decide(calls=1)
    marked, before = planner.bookmark(), sum(planner.memory.values())
    planner.advance(1)
    planner.decide(calls=1)
    assert sum(planner.memory.values()) > before
    planner.return_to(marked)
    assert sum(planner.memory.values()) == before
    planner.start(Line(), seed=0)
    assert not planner.memory


def test_every_node_is_in_the_area_of_its_picture():
    planner = HIW(PixelFeatures(), tile_rows=1, tile_columns=1, tile_values=128)
    planner.start(SyntheticSimulator(**ENDLESS), seed=3)
    for _ in range(5):
        decision = planner.decide(calls=60)
        tree, entries = planner.tree, planner._areas.entry
        assert len(entries) == tree.size
        for number, entry in enumerate(entries):
            assert planner.picture(number) == planner.picture(entry)
            assert entry in tree.path(number)
        planner.advance(decision.action)
