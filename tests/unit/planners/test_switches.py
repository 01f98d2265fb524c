"""The switches in which older systems differ: the table, untried actions, ties, lost lives."""

import numpy as np
import pytest
from surveyed import mechanisms
from synthetic import LevelFeatures, MachineSimulator, ScriptedBandit, ScriptedSimulator

from olive_iw.planners import PIW, BreadthFirst, RacingPIW, Risk, RolloutIW
from olive_iw.search.rule import Stream
from olive_iw.search.tree import NONE, ROOT

LEVELS = LevelFeatures()
RAW = Risk(averse=False)


def rollouts(world, script=None, risk=RAW, discount=1.0, **rules):
    bandit = "uniform" if script is None else ScriptedBandit([*script, 0])
    planner = RolloutIW(LEVELS, bandit, discount=discount, risk=risk, **mechanisms(**rules))
    planner.start(world, seed=0)
    return planner


@pytest.mark.parametrize("actions", [2, 5])
@pytest.mark.parametrize("kind", [RolloutIW, BreadthFirst, PIW, RacingPIW])
@pytest.mark.parametrize(("root_in_table", "factor"), [(True, 1), (False, 2)])
def test_the_world_of_one_constant_atom_tells_whether_the_root_is_in_the_table(
    kind, actions, root_in_table, factor
):
    width = {"width": 1} if kind is BreadthFirst else {}
    planner = kind(LEVELS, **width, **mechanisms(root_in_table=root_in_table))
    planner.start(MachineSimulator({}, {}, actions), seed=0)
    decision = planner.decide(calls=1000)
    assert (decision.calls, decision.stopped) == (factor * actions, "exhausted")


def test_kept_nodes_that_are_known_do_not_enter_the_table():
    """A kept node shows level 3 at depth 1; where it does not enter, level 3 is new at depth 2."""
    steps = {
        (0,): (1, 0.0, False, 0),
        (0, 1): (3, 0.0, False, 0),
        (0, 1, 0): (0, 0.0, True, 0),
        (0, 0): (4, 0.0, False, 0),
        (0, 0, 0): (3, 0.0, False, 0),
    }
    for kept, goes_on in (("judged", False), ("known", True)):
        planner = rollouts(ScriptedSimulator(steps), kept=kept)
        planner._search.bandit = ScriptedBandit([0, 1, 0])
        planner.decide(calls=3)
        planner.advance(0)
        planner._search.bandit = ScriptedBandit([1, 0, 0, 0, 0])
        planner.decide(calls=2)
        tree = planner.tree
        node = tree.children[tree.children[ROOT, 0], 0]
        assert tree.seen[node].step.screen.item() == 3
        assert bool(tree.pruned[node]) != goes_on


def test_a_new_node_can_prune_one_that_is_known():
    """Level 3, kept at depth 2, is shown by a new node at depth 1."""
    steps = {
        (0,): (1, 0.0, False, 0),
        (0, 0): (2, 0.0, False, 0),
        (0, 0, 0): (3, 0.0, False, 0),
        (0, 1): (3, 0.0, True, 0),
    }
    planner = rollouts(ScriptedSimulator(steps), kept="known", root_in_table=False)
    planner._search.bandit = ScriptedBandit([0, 0, 0, 0])
    planner.decide(calls=3)
    planner.advance(0)
    planner._search.bandit = ScriptedBandit([1, 0, 0, 0, 1, 0])
    planner.decide(calls=2)
    tree = planner.tree
    kept = tree.children[tree.children[ROOT, 0], 0]
    assert tree.pruned[kept]


@pytest.mark.parametrize(("untried", "action"), [(-np.inf, 0), (0.0, 1)])
def test_an_untried_action_may_be_worth_nothing_or_zero(untried, action):
    steps = {(0,): (1, -1.0, False, 0)}
    planner = rollouts(ScriptedSimulator(steps), [0], untried=untried)
    decision = planner.decide(calls=1)
    assert decision.action == action
    assert planner.tree.children[ROOT].tolist()[1] == NONE
    step = planner.advance(action)
    assert step.reward == (0.0 if action else -1.0)


def test_untried_actions_count_below_the_root_too():
    steps = {(0,): (1, 2.0, False, 0), (0, 0): (2, -5.0, False, 0)}
    for untried, value in ((-np.inf, -3.0), (0.0, 2.0)):
        planner = rollouts(ScriptedSimulator(steps), [0, 0], untried=untried)
        assert planner.decide(calls=2).values[0] == value


def test_where_all_is_worth_zero_the_highest_subtree_is_taken():
    steps = {(0,): (1, 0.0, False, 0), (1,): (2, 0.0, False, 0), (1, 0): (3, 0.0, False, 0)}
    for seed in range(10):
        planner = rollouts(ScriptedSimulator(steps), [0, 0, 1, 0, 0], highest_zero=True)
        planner._search.streams[Stream.TIES] = np.random.default_rng(seed)
        decision = planner.decide(calls=5)
        assert (decision.action, decision.ties) == (1, 2)
    worth = {
        path: (level, float(len(path) == 1), *rest) for path, (level, _, *rest) in steps.items()
    }
    chosen = set()
    for seed in range(20):  # where the value is another, the coin decides
        planner = rollouts(ScriptedSimulator(worth), [0, 0, 1, 0, 0], highest_zero=True)
        planner._search.streams[Stream.TIES] = np.random.default_rng(seed)
        chosen.add(planner.decide(calls=5).action)
    assert chosen == {0, 1}


def test_a_lost_life_may_replace_the_reward():
    added, instead = Risk(), Risk(life_replaces=True)
    assert added.reward(100.0, life_lost=True) == 100 - 500_000
    assert instead.reward(100.0, life_lost=True) == -500_000
    assert instead.reward(-2.0, life_lost=True) == -500_000
    assert instead.reward(-2.0, life_lost=False) == added.reward(-2.0, life_lost=False) == -100_000
    assert Risk(averse=False, life_replaces=True).reward(100.0, life_lost=True) == 100


def test_two_repetitions_pass_and_the_third_is_pruned():
    """One level everywhere: walks go straight on, by the action that they began with."""
    planner = rollouts(MachineSimulator({}, {}, 3), max_repeats=2)
    decision = planner.decide(calls=1000)
    assert (decision.calls, decision.stopped) == (3 * 3, "exhausted")
    tree = planner.tree
    for action in range(3):
        first = tree.children[ROOT, action]
        second = tree.children[first, action]
        third = tree.children[second, action]
        assert not tree.pruned[[first, second]].any()
        assert tree.pruned[third]
        assert (tree.children[[first, second]] != NONE).sum() == 2


def test_what_repeats_enters_no_table():
    """Level 1 is met after a repetition of level 0: it is new, and so is what follows it."""
    steps = {(0, 0): (1, 0.0, False, 0), (0, 0, 0): (2, 3.0, False, 0)}
    assert rollouts(ScriptedSimulator(steps)).decide(calls=100).values.max() == 0
    assert rollouts(ScriptedSimulator(steps), max_repeats=2).decide(calls=100).values[0] == 3


def test_novelty_by_reward_is_for_rollouts_too():
    steps = {(0,): (1, 0.0, False, 0), (1,): (1, 2.0, False, 0), (1, 0): (1, 3.0, False, 0)}
    values = [
        rollouts(ScriptedSimulator(steps), by=novelty).decide(calls=1000).values[1]
        for novelty in ("classic", "reward")
    ]
    assert values[1] == 5
    assert values[0] in (2, 5)
