"""From a searched tree to one action."""

import numpy as np
import pytest
from synthetic import ScriptedSimulator

from olive_iw.planners import BreadthFirst, Risk
from olive_iw.search.decision import best_actions, break_tie
from olive_iw.search.measures import best_child_value


@pytest.mark.parametrize(
    ("reward", "life_lost", "expected"),
    [
        (3.0, False, 3.0),
        (0.0, False, 0.0),
        (-2.0, False, -100_000.0),
        (3.0, True, 3.0 - 500_000.0),
        (-1.0, True, -550_000.0),
    ],
)
def test_risk_aversion(reward, life_lost, expected):
    assert Risk().reward(reward, life_lost) == expected
    assert Risk(averse=False).reward(reward, life_lost) == reward


def test_risk_takes_other_factors():
    assert Risk(negative_factor=2.0, life_penalty=7.0).reward(-3.0, True) == -13.0


def test_the_greatest_value_wins_and_untried_actions_never_do():
    values = np.array([np.nan, -5.0, -4.0, np.nan])
    assert best_actions(values).tolist() == [2]


def test_ties_are_broken_evenly_at_random():
    values = np.array([1.0, 0.0, 1.0, np.nan, 1.0])
    generator = np.random.default_rng(0)
    assert best_actions(values).tolist() == [0, 2, 4]
    chosen = [break_tie(best_actions(values), generator) for _ in range(3000)]
    shares = np.bincount(chosen, minlength=5) / 3000
    assert shares == pytest.approx([1 / 3, 0, 1 / 3, 0, 1 / 3], abs=0.04)


def test_a_clear_winner_draws_no_random_number():
    generator = np.random.default_rng(0)
    assert break_tie(best_actions(np.array([0.0, 1.0])), generator) == 1
    assert generator.random() == np.random.default_rng(0).random()


def test_value_of_a_leaf_is_zero_and_of_a_losing_node_negative():
    rewards, values = np.array([0.0, -2.0, -3.0]), np.array([0.0, 1.0, 0.0])
    children = np.array([-1, -1], np.int32)
    assert best_child_value(children, rewards, values, 0.5) == 0.0
    children = np.array([1, 2], np.int32)
    assert best_child_value(children, rewards, values, 0.5) == -1.5


def test_a_planner_would_rather_gain_nothing_than_gain_and_lose_a_life():
    steps = {(0,): (1, 100.0, False, 2), (1,): (2, 0.0, False, 3)}
    default = (0, 0.0, True, 3)
    for averse, expected in ((True, 1), (False, 0)):
        simulator = ScriptedSimulator(steps, default=default, root=(0, 3))
        planner = BreadthFirst(risk=Risk(averse=averse))
        planner.start(simulator, seed=0)
        assert planner.decide(calls=2).action == expected


def test_a_life_lost_long_ago_does_not_weigh_on_what_comes_after():
    """The penalty belongs to the step of the loss: below it, gains still compare by themselves."""
    steps = {(0,): (1, 0.0, False, 2), (0, 0): (2, 5.0, True, 2), (0, 1): (3, 0.0, True, 2)}
    simulator = ScriptedSimulator(steps, action_count=2, default=(0, 0.0, True, 2), root=(0, 3))
    planner = BreadthFirst()
    planner.start(simulator, seed=0)
    planner.advance(0)
    decision = planner.decide(calls=2)
    assert decision.values.tolist() == [5.0, 0.0]
    assert decision.action == 0


def test_untried_actions_are_nan_in_the_decision():
    simulator = ScriptedSimulator({}, action_count=4)
    planner = BreadthFirst()
    planner.start(simulator, seed=3)
    decision = planner.decide(calls=1)
    assert np.isnan(decision.values).sum() == 3
    assert decision.values[decision.action] == 0.0
    assert (decision.calls, decision.stopped) == (1, "budget")
