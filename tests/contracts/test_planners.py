"""What every registered planner promises."""

import inspect

import numpy as np
import pytest
from oracle import drawn
from synthetic import PixelFeatures, SyntheticSimulator

from olive_iw.planners import PLANNERS, Decision, Planner
from olive_iw.simulators import Step, make_simulator


@pytest.fixture(params=sorted(PLANNERS))
def make(request):
    """Make a new planner, with the features given where it takes some."""

    def make_planner(features):
        kind = PLANNERS[request.param]
        takes_features = "features" in inspect.signature(kind).parameters
        return kind(features=features) if takes_features else kind()

    return make_planner


def episode(planner, simulator, seed, calls=25, actions=5):
    """Decisions of an episode's beginning, with the tree after each."""
    planner.start(simulator, seed)
    while not planner.over and actions:
        actions -= 1
        decision = planner.decide(calls)
        yield decision, drawn(planner.tree)
        planner.advance(decision.action)


def summary(trace):
    return [(decision.action, decision.calls, decision.stopped, tree) for decision, tree in trace]


def endless(seed=0):
    return SyntheticSimulator(seed=seed, lives=0, terminal_chance=0.0)


def test_is_a_planner_that_has_not_started(make):
    planner = make("patches")
    assert isinstance(planner, Planner)
    assert planner.ledger.calls == 0


def test_a_decision_says_everything(make):
    simulator = make_simulator("grid:lava")
    planner = make("patches")
    first = planner.start(simulator, seed=0)
    assert isinstance(first, Step)
    assert planner.root is first
    assert planner.ledger.calls == 0
    decision = planner.decide(calls=30)
    assert isinstance(decision, Decision)
    assert type(decision.action) is int
    assert decision.values.shape == decision.visits.shape == (4,)
    assert decision.values.dtype == np.float64
    assert decision.visits.dtype == np.int64
    assert decision.stopped in ("budget", "exhausted")
    assert 0 < decision.calls == planner.ledger.calls <= 30
    step = planner.advance(decision.action)
    assert planner.root is step
    assert decision.values[decision.action] == np.nanmax(decision.values)


def test_one_call_is_enough_for_a_decision(make):
    simulator = endless()
    planner = make(PixelFeatures())
    planner.start(simulator, seed=0)
    for made in range(1, 6):
        decision = planner.decide(calls=1)
        planner.advance(decision.action)
        assert len(simulator.log) <= made


def test_plays_to_the_end_of_an_episode(make):
    planner = make(PixelFeatures())
    planner.start(SyntheticSimulator(terminal_chance=0.0, lives=0, last_depth=30), seed=0)
    actions = 0
    while not planner.over:
        planner.advance(planner.decide(calls=20).action)
        actions += 1
    assert actions == 30
    assert planner.root.terminal


def test_the_same_seed_gives_the_same_trees(make):
    first = summary(episode(make(PixelFeatures()), endless(), seed=7))
    assert summary(episode(make(PixelFeatures()), endless(), seed=7)) == first


def test_another_seed_gives_other_trees(make):
    first = summary(episode(make(PixelFeatures()), endless(), seed=7))
    assert summary(episode(make(PixelFeatures()), endless(), seed=8)) != first


def test_a_used_planner_starts_as_a_new_one(make):
    planner, simulator = make(PixelFeatures()), endless()
    first = summary(episode(planner, simulator, seed=7))
    list(episode(planner, endless(seed=5), seed=3))
    assert summary(episode(planner, simulator, seed=7)) == first


def test_interleaved_planners_do_not_disturb_each_other(make):
    alone = [summary(episode(make(PixelFeatures()), endless(seed), seed=seed)) for seed in range(2)]
    together = [[], []]
    traces = [episode(make(PixelFeatures()), endless(seed), seed=seed) for seed in range(2)]
    for pair in zip(*traces, strict=True):
        for kept, item in zip(together, pair, strict=True):
            kept.append(item)
    assert [summary(trace) for trace in together] == alone
    assert alone[0] != alone[1]
