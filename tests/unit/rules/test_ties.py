"""Which of several best actions is taken: at random, or the one with the longest safe path."""

import numpy as np
import pytest
from synthetic import LevelFeatures, ScriptedSimulator

from olive_iw.algorithms import make_agent
from olive_iw.errors import InputError
from olive_iw.planners import BreadthFirst, RolloutIW
from olive_iw.rules import Safety, Ties
from olive_iw.search.decision import of_longest
from olive_iw.search.measures import safe_lengths

DEAD_END, OPEN, LOSS = 0, 1, 2
SEEDS = range(12)


def corridors():
    """Three ways without any reward: one ends in death, one is open, one costs a life far on."""
    steps = {}
    for depth in range(1, 7):
        steps[(DEAD_END,) * depth] = (depth, 0.0, depth == 4, 1)
        steps[(LOSS,) * depth] = (20 + depth, 0.0, False, 1 if depth < 3 else 0)
        steps[(OPEN,) * depth] = (10 + depth, 0.0, False, 1)
    return ScriptedSimulator(steps, action_count=3, root=(0, 1), default=(0, 0.0, True, 1))


def decided(seed, simulator=None, rules=()):
    planner = RolloutIW(LevelFeatures(), rules=rules)
    planner.start(simulator or corridors(), seed)
    return planner, planner.decide(calls=100)


def test_only_the_longest_safe_path_resolves_the_tie():
    for seed in SEEDS:
        planner, decision = decided(seed, rules=[Ties()])
        assert decision.values.tolist() == [0.0, 0.0, 0.0]
        assert decision.ties == 3
        assert planner.tree.safe_lengths().tolist() == [3, 6, 2]
        assert decision.action == OPEN
        assert planner.ledger.counters.tied_decisions == 1


def test_at_random_every_way_is_taken():
    actions = [decided(seed)[1].action for seed in SEEDS]
    assert set(actions) == {DEAD_END, OPEN, LOSS}
    assert actions == [decided(seed, rules=[Ties("random")])[1].action for seed in SEEDS]


def test_a_greater_value_beats_a_longer_path():
    simulator = corridors()
    simulator.steps[DEAD_END,] = (1, 1.0, False, 1)
    assert {decided(seed, simulator, rules=[Ties()])[1].action for seed in SEEDS} == {DEAD_END}


def test_equally_long_paths_are_chosen_from_at_random():
    simulator = ScriptedSimulator({(0,): (1, 0.0, False, 0), (1,): (2, 0.0, False, 0)})
    actions = {decided(seed, simulator, rules=[Ties()])[1].action for seed in SEEDS}
    assert actions == {0, 1}


def test_the_kept_path_is_followed():
    """What was planned last time is in the tree: with no calls to spare it is walked on."""
    planner, decision = decided(0, rules=[Ties()])
    for _ in range(5):
        planner.advance(decision.action)
        decision = planner.decide(calls=1)
        assert decision.action == OPEN


def test_lengths_end_at_losses_and_at_terminal_nodes():
    # 0 - 1 - 3 (terminal), 0 - 2 - 4 (loss) - 5 (gain), 2 - 6
    parent = np.array([-1, 0, 0, 1, 2, 4, 2], np.int32)
    action = np.array([-1, 2, 0, 1, 1, 0, 0], np.int32)
    reward = np.array([0.0, 0.0, 5.0, 0.0, -1.0, 9.0, 0.0])
    terminal = np.array([False, False, False, True, False, False, False])
    assert safe_lengths(3, parent, action, reward, terminal, 0).tolist() == [2, 0, 1]
    reward[2] = -1.0
    assert safe_lengths(3, parent, action, reward, terminal, 0).tolist() == [0, 0, 1]
    reward[2] = 0.0
    terminal[6] = True
    assert safe_lengths(3, parent, action, reward, terminal, 0).tolist() == [1, 0, 1]


def test_only_tied_actions_are_compared():
    assert of_longest(np.array([0, 2]), np.array([1, 9, 1])).tolist() == [0, 2]
    assert of_longest(np.array([0, 2]), np.array([1, 9, 3])).tolist() == [2]


def test_it_is_an_option_of_agents():
    agent = make_agent("patch-iw", ties="longest")
    assert agent.planner.rules == (Ties("longest"),)
    assert agent.spec.variant == "ties=longest"
    assert make_agent("patch-iw").planner.rules == BreadthFirst().rules == ()


@pytest.mark.parametrize("name", ["longst", None])
def test_other_names_are_refused(name):
    with pytest.raises(InputError, match="did you mean longest"):
        make_agent("patch-iw", ties=name)


SHORT = {
    (0,): (0, 1.0, False, 3),
    (1,): (2, 0.0, False, 3),
    (1, 0): (3, 0.0, False, 3),
    (1, 0, 0): (4, 0.0, False, 3),
}
"""Action 0 earns, and nothing is known of what comes after; action 1 is safe for four steps."""


def chosen(steps, safe_steps):
    planner = RolloutIW(LevelFeatures(), rules=[Safety(safe_steps)])
    planner.start(ScriptedSimulator(steps, default=(0, 0.0, False, 3), root=(0, 3)), seed=0)
    return planner.decide(calls=100).action


@pytest.mark.parametrize(("safe_steps", "action"), [(0, 0), (1, 0), (2, 1), (4, 1), (50, 1)])
def test_an_action_must_be_known_to_be_safe_before_it_is_taken_for_its_reward(safe_steps, action):
    assert chosen(SHORT, safe_steps) == action


def test_a_game_that_ends_without_a_loss_is_safe():
    assert chosen(SHORT | {(0,): (0, 1.0, True, 3)}, safe_steps=3) == 0
    assert chosen(SHORT | {(0,): (0, 1.0, True, 2)}, safe_steps=3) == 1


def test_where_all_is_lost_the_best_is_taken():
    lost = {(action,): (0, float(action), False, 2) for action in (0, 1)}
    assert chosen(lost, safe_steps=3) == 1
