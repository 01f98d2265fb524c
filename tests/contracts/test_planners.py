"""What every registered planner promises, and what every driver of rollouts does."""

import inspect

import numpy as np
import pytest
from oracle import drawn
from synthetic import PixelFeatures, SyntheticSimulator

from olive_iw.planners import PLANNERS, Decision, Planner, SearchWatch
from olive_iw.simulators import Step, make_simulator

WORKERS = {"two workers": 2, "three workers": 3}


@pytest.fixture(params=[*sorted(PLANNERS), *WORKERS])
def make(request):
    """Make a new planner, with the features given where it takes some."""
    made = []

    def make_planner(features):
        kind = PLANNERS["rollout-iw" if request.param in WORKERS else request.param]
        options = {"features": features, "workers": WORKERS.get(request.param, 1)}
        taken = inspect.signature(kind).parameters
        made.append(kind(**{name: options[name] for name in options if name in taken}))
        return made[-1]

    yield make_planner
    for planner in made:
        planner.close()


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
    assert decision.ties == (decision.values == np.nanmax(decision.values)).sum()


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


class Notes(SearchWatch):
    """Writes down what it is shown."""

    def __init__(self):
        self.steps, self.rollouts, self.entered, self.told = [], [], [], []

    def on_search(self, search):
        self.told.append("search")
        self.search = search
        self.unseen = search.judge.width is not None

    def on_step(self, step):
        self.steps.append(step)

    def on_enter(self, node, depth):
        if self.unseen:  # to a search that begins, all is new
            root = self.planner.tree.seen[0].atoms
            assert self.search.new_atoms(node, depth).tolist() == root.tolist()
        self.unseen = False
        self.entered.append((node, depth))

    def on_judged(self, node, novel):
        assert node == self.entered[-1][0]
        assert type(novel) is bool

    def on_rollout(self, path):
        self.rollouts.append(tuple(path))


def test_those_who_look_on_see_everything_and_change_nothing(make):
    planner, notes, others = make(PixelFeatures()), Notes(), Notes()
    notes.planner = others.planner = planner
    with planner.watched_by(notes), planner.watched_by(others):
        seen = summary(episode(planner, endless(), seed=7))
    assert seen == summary(episode(make(PixelFeatures()), endless(), seed=7))
    assert [id(step) for step in notes.steps] == [id(step) for step in others.steps]
    assert len(notes.steps) == 1 + planner.ledger.calls
    assert notes.told == ["search"] * len(seen)
    assert len(notes.rollouts) == planner.ledger.counters.rollouts
    assert sum(len(path) - 1 for path in notes.rollouts) == planner.ledger.counters.rollout_depth
    shown = len(notes.steps)
    list(episode(planner, endless(), seed=8))  # nobody looks on any longer
    assert len(notes.steps) == shown
