"""Recall: small worlds of which the right action is known, by chance and without."""

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete

import olive_iw as olive
from olive_iw.planners import Risk
from olive_iw.rules import Recall, Safety, Usual
from olive_iw.simulators import GymnasiumSimulator

LAST = 3


class Bets(gymnasium.Env):
    """Action 0 earns 1; action 1 earns 3 in one case of ten, as the next throw says."""

    action_space, observation_space = Discrete(2), Discrete(LAST + 1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.number = 0
        return 0, {}

    def step(self, action):
        lucky = self.np_random.random() < 0.1
        self.number += 1
        reward = 3.0 * lucky if action else 1.0
        return self.number, reward, self.number == LAST, False, {}


class Ledge(gymnasium.Env):
    """Nothing is earned: every other step along the ledge falls, the others change nothing."""

    action_space, observation_space = Discrete(2), Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        falls = bool(action) and bool(self.np_random.random() < 0.5)
        return int(falls), 0.0, falls, False, {}


class Veiled(gymnasium.Env):
    """Shows nothing of the place that says what is earned."""

    action_space, observation_space = Discrete(2), Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 0
        return 0, {}

    def step(self, action):
        self.place += 1 + action
        return self.place % 2, float(self.place % 5 == 0), False, False, {}


def planned(env, rules, reseeds, calls=60, seed=0, features="values"):
    planner = olive.RolloutIW(features, "ttts", rules=rules)
    planner.reseed_search = reseeds
    planner.start(GymnasiumSimulator(env), seed)
    return planner, planner.decide(calls)


def test_an_action_is_worth_the_mean_of_its_throws_not_the_best():
    chosen = {rules: [] for rules in ((), (Recall(),))}
    for rules, actions in chosen.items():
        for seed in range(8):
            actions.append(planned(Bets(), rules, reseeds=True, calls=100, seed=seed)[1].action)
    assert chosen[Recall(),] == [0] * 8
    assert 1 in chosen[()]  # it hopes


def test_calls_that_are_left_throw_the_dice_again():
    planner, decision = planned(Bets(), [Recall()], reseeds=True, calls=80)
    assert decision.calls == 80
    (recall,) = planner.rules
    tried = next(iter(recall._seen.values())).tried
    assert {*tried} == {0, 1}
    assert len(tried[1]) == 2  # with luck and without
    assert planned(Bets(), [], reseeds=True, calls=80)[1].calls < 80


def test_where_nothing_is_earned_the_least_deadly_action_is_taken():
    for seed in range(5):
        assert planned(Ledge(), [Recall()], reseeds=True, calls=100, seed=seed)[1].action == 0


def test_the_tree_alone_counts_once_there_is_too_much_to_recall(monkeypatch):
    monkeypatch.setattr("olive_iw.rules.recall.MOST_SEEN", 2)
    planner, decision = planned(Bets(), [Safety(8), Recall()], reseeds=True)
    assert planner.rules[1]._seen is None
    assert np.isfinite(decision.values).all()


def test_what_an_earlier_decision_saw_still_counts():
    """The tree of the second decision has nothing but its root."""
    planner, _ = planned(Bets(), [Recall()], reseeds=True, calls=100)
    planner.advance(0)
    found = planner.decide(calls=2)
    assert found.action == 0
    assert np.nanmax(found.values) <= 3.0


def test_it_is_silent_where_observations_do_not_say_the_state():
    planner, decision = planned(Veiled(), [Recall()], reseeds=False, features=None)
    assert planner.rules[0]._seen is None
    without = planned(Veiled(), [], reseeds=False, features=None)[1]
    assert np.array_equal(decision.values, without.values, equal_nan=True)


def test_it_is_silent_where_numbers_are_broken_or_too_many(monkeypatch):
    broken, _ = planned(gymnasium.make("CartPole-v1").unwrapped, [Recall()], reseeds=False)
    assert broken.rules[0]._seen is None
    assert planned(Bets(), [Recall()], reseeds=True)[0].rules[0]._seen
    monkeypatch.setattr("olive_iw.rules.recall.MOST_SEEN", 2)
    assert planned(Bets(), [Recall()], reseeds=True)[0].rules[0]._seen is None


def test_a_last_reward_counts_what_is_usual_for_ever():
    usual = Usual()
    usual.now = 1.0
    assert usual.counted(1.0, False, 0.99) == 0.0
    assert usual.counted(1.0, True, 0.99) == pytest.approx(-99.0)
    assert usual.counted(1.0, True, 1.0) == 0.0


class Downhill(gymnasium.Env):
    """Every step costs something else: less, the farther from where it begins."""

    action_space, observation_space = Discrete(2), Discrete(1000)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 0
        return 0, {}

    def step(self, action):
        self.place += action
        return self.place, -1.0 - 10.0 / (1.0 + self.place), False, False, {}


def test_where_every_step_costs_something_else_the_middle_one_is_usual():
    planner = olive.RolloutIW("values", "ttts", rules=[Usual()], risk=Risk(averse=False))
    planner.start(GymnasiumSimulator(Downhill()), 0)
    planner.decide(150)
    usual = planner.rules[0]
    assert usual.now == 0.0  # the episode's first decision has yet to see what steps cost
    for _ in range(3):
        planner.advance(1)
        planner.decide(60)
    assert -11.0 < usual.now < -1.0
    tree = planner.tree
    counted = [tree.seen[node].step.reward - usual.now for node in range(1, len(tree))]
    assert tree.reward[1 : len(tree)].tolist() == counted
