"""Nodes kept from earlier decisions, and novelty apart by reward, where the answer is known."""

import pytest
from surveyed import mechanisms
from synthetic import LevelFeatures, ScriptedBandit, ScriptedSimulator

from olive_iw.novelty.judge import reward_stratum
from olive_iw.planners import RolloutIW


def planner_of(steps, script, **judging):
    """Return a planner that has begun in a written world with a bandit that follows a script."""
    planner = RolloutIW(LevelFeatures(), ScriptedBandit(script), **mechanisms(**judging))
    planner.start(ScriptedSimulator(steps, 2), 0)
    return planner


# Kept nodes

BEHIND_A_KEPT_LIKENESS = {
    (0,): (1, 0.0, False, 0),
    (0, 0): (7, 0.0, False, 0),
    (0, 0, 0): (7, 0.0, False, 0),
    (0, 0, 1): (7, 0.0, False, 0),
    (0, 0, 0, 0): (7, 0.0, False, 0),
    (0, 1): (7, 0.0, False, 0),
    (0, 1, 0): (9, 5.0, False, 0),
}


def test_a_kept_path_that_is_judged_prunes_a_fresh_one():
    planner = planner_of(BEHIND_A_KEPT_LIKENESS, [0, 0, 0, *(0, 0), *(1,), *(0, 1)])
    planner.decide(calls=2)
    planner.advance(0)
    decision = planner.decide(calls=5)
    assert decision.stopped == "exhausted"
    assert decision.values.tolist() == [0.0, 0.0]


def test_a_kept_path_that_is_free_does_not():
    planner = planner_of(BEHIND_A_KEPT_LIKENESS, [0, 0, 0, *(0, 0, 0), *(1, 0, 0)], kept="free")
    planner.decide(calls=2)
    planner.advance(0)
    decision = planner.decide(calls=4)
    assert decision.values[1] == pytest.approx(0.99 * 5)
    assert decision.action == 1


# Reward strata

RICHER = {
    (0,): (1, 0.0, False, 0),
    (1,): (1, 1.0, False, 0),
    (1, 0): (2, 4.0, False, 0),
    (1, 1): (1, 0.0, False, 0),
}


@pytest.mark.parametrize(
    ("strata", "script", "value"),
    [
        (False, [0, 0, 0, 1, 1], 1.0),
        (True, [0, 0, 0, 1, 1, 0, 0], 1.0 + 0.99 * 4),
    ],
)
def test_what_was_seen_on_a_poorer_path_is_new_on_a_richer_one(strata, script, value):
    planner = planner_of(RICHER, script, strata=strata)
    decision = planner.decide(calls=5 if strata else 100)
    assert decision.values[1] == pytest.approx(value)


def test_strata_are_powers_of_two():
    rewards = (-5, 0, 0.25, 0.5, 0.75, 1, 2, 3, 4, 100)
    assert [reward_stratum(reward) for reward in rewards] == [0, 0, -2, -1, -1, 1, 2, 2, 3, 7]
