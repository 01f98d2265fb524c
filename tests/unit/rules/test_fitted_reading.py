"""How learned bits are read, fitted to the game, in small worlds whose answer is known."""

import numpy as np
import pytest
from synthetic import (
    LevelFeatures,
    PixelFeatures,
    ScriptedBandit,
    ScriptedSimulator,
    SyntheticSimulator,
)

from olive_iw.algorithms import make_agent, make_spec
from olive_iw.errors import InputError
from olive_iw.features.vae import make_vae
from olive_iw.novelty import Judging
from olive_iw.planners import RolloutIW
from olive_iw.rules import Further, Grain, Noise, Persistence, Ties, Twins, noise
from olive_iw.search.node import NodeData
from olive_iw.search.parallel import ParallelDriver
from olive_iw.simulators import make_simulator
from olive_iw.simulators.base import Step


class BitLevels:
    """The bits of a one-pixel screen's level: one place of four bits."""

    size = bits_per_place = 4

    def prepare(self, simulator, first):
        pass

    def of_step(self, step, previous):
        level = int(step.screen[0, 0])
        return np.array([bit for bit in range(4) if level >> bit & 1], np.int32)


class Standing:
    """As much of a search as a rule of reading asks for: its features and its generators."""

    def __init__(self, features, seed=0):
        self.features, self.generators = features, {}
        self.seed = seed

    def random(self, stream):
        return self.generators.setdefault(stream, np.random.default_rng(self.seed))


def begun(rule, features, seed=0):
    """Return a rule in an episode that has begun, and what stands for the search."""
    search = Standing(features, seed)
    rule.start(search)
    return rule, search


# Pardons


class Forgetful(ScriptedSimulator):
    """All paths of one length are one state."""

    def save(self):
        return (0,) * len(self._path)


@pytest.mark.parametrize(("world", "twin"), [(Forgetful, True), (ScriptedSimulator, False)])
def test_what_shows_nothing_new_is_pardoned_but_no_twin(world, twin):
    planner = RolloutIW(LevelFeatures(), ScriptedBandit([0, 1]), rules=[Grain()])
    planner.start(world({}), 0)
    planner.decide(calls=1)
    planner._search.ledger.budget.open(1)
    node = planner._search.expand(0, 1)
    [rule] = planner.rules
    rule.log_odds = 100.0  # every node that can be is pardoned
    assert planner.tree.is_twin(node) == twin
    assert planner._search.enter(node, 1) != twin
    assert planner._search.enter(node, 1) != twin  # when it is met again, too


# Noise


class ManyBits(BitLevels):
    """A level's four bits among many that are never true."""

    size = 20_000


def noise_at(rule, search, *levels):
    """Bits flipped at nodes that show levels, one after the other."""
    plain = [np.array([level], np.int32) for level in levels]
    found = [set(rule.perceive(search, it).tolist()) ^ set(it.tolist()) for it in plain]
    return [frozenset(bits) for bits in found]


def test_noise_of_nodes_is_drawn_anew():
    plain = Noise(0.1, fit="none")
    first = noise_at(*begun(plain, ManyBits()), 1, 2, 1, 2)
    assert len({*first}) == 4
    assert all(abs(len(bits) / ManyBits.size - 0.1) < 0.02 for bits in first)
    assert not {*first} & {*noise_at(*begun(plain, ManyBits(), 1), 1, 2)}  # another episode
    assert noise_at(*begun(plain, ManyBits()), 1, 2, 1, 2) == first


@pytest.mark.parametrize("chance", [0.0, 0.1])
def test_fitted_noise_is_of_nodes_in_one_half_of_the_decisions_and_of_states_in_the_other(chance):
    rule, search = begun(Noise(chance), ManyBits())
    rule.noisy = True
    repeats, known = [], set()
    for _ in range(100):
        rule.start_decision(search)
        first, second = noise_at(rule, search, 1, 1)
        repeats.append(first == second)
        known |= {first} if repeats[-1] else set()
    assert 30 < sum(repeats) < 70
    assert len(known) == 1  # a state's is the same in all decisions
    rule, search = begun(Noise(chance), ManyBits(), seed=1)
    rule.noisy = True
    assert known != {noise_at(rule, search, 1)[0]}  # and another in another episode


def test_walks_pass_a_state_that_was_met_with_noise_of_nodes_and_not_with_noise_of_states():
    calls = {True: set(), False: set()}
    for seed in range(8):
        planner = RolloutIW(ManyBits(), rules=[Noise()])
        planner.start(Forgetful({}), seed)  # everything looks the same, whatever is done
        [rule] = planner.rules
        rule.noisy = True
        made = planner.decide(calls=20).calls
        calls[rule.of_state].add(made)
    assert calls[False] == {20}
    assert max(calls[True]) < 10  # the root alone has no noise


def test_nothing_is_drawn_where_only_the_grain_is_fitted():
    _, search = begun(Grain(), ManyBits())
    assert search.generators == {}


def test_noise_flips_each_bit_with_its_chance():
    atoms = np.arange(0, 20_000, 2, dtype=np.int32)
    for chance in (0.1, 1.0):
        rule, search = begun(Noise(chance, fit="none"), ManyBits(), seed=1)
        noisy = rule.perceive(search, atoms)
        assert noisy.dtype == np.int32
        dropped, raised = len(np.setdiff1d(atoms, noisy)), len(np.setdiff1d(noisy, atoms))
        assert dropped / 10_000 == pytest.approx(chance, abs=0.015)
        assert raised / 10_000 == pytest.approx(chance, abs=0.015)


def test_in_training_mode_a_screen_has_other_bits_every_time():
    """As in the authors' code, where the Jaccard index of a screen with itself was 0.75 to 0.83."""
    vae = make_vae("paper", 0)
    vae.network.module.encoder[-1].weight.data.mul_(30.0)  # untrained: few bits would be true
    screen = np.random.default_rng(0).integers(256, size=(128, 128), dtype=np.uint8)
    before = vae.network.weights()
    one, other, same = (vae.noisy_atoms(screen, np.random.default_rng(s)) for s in (1, 2, 1))
    assert one.tolist() == same.tolist() != other.tolist()
    shared = len(np.intersect1d(one, other)) / len(np.union1d(one, other))
    assert 0.1 < shared < 0.95
    for name, value in vae.network.weights().items():
        assert np.array_equal(value, before[name])
    assert vae.network.module.training is False


def test_training_mode_is_of_the_paper_profile(tmp_path):
    for algorithm, profile in (("olive", "laptop"), ("patch-iw", "paper")):
        with pytest.raises(InputError, match="training_mode"):
            make_spec(algorithm, profile, training_mode=True)
    agent = make_agent("olive", "paper", device="cpu", training_mode=True)
    screens = []
    for _ in range(2):
        agent.planner.start(make_simulator("grid:key-door"), 0)
        agent.planner.decide(calls=5)
        screens.append([seen.atoms.tolist() for seen in agent.planner.tree.seen])
    assert screens[0] == screens[1]


# Fitting the shape of the search


def after(rule, search, decisions, depth):
    """Let a rule learn from so many decisions whose rollouts were so deep."""
    for _ in range(decisions):
        rule.after(search, depth)


def test_the_grain_goes_up_while_rollouts_are_too_short_and_then_pardons_do():
    rule, search = begun(Grain(), BitLevels())
    assert rule.now == 4
    after(rule, search, 100, depth=60.0)
    assert (rule.pardon, rule.now) == (0.0, 1)
    after(rule, search, 100, depth=2.0)
    assert rule.now == 4
    assert rule.pardon > 0.9
    for depth in (60.0, 10.0):
        after(rule, search, 100, depth)
        assert (rule.pardon, rule.now) == (0.0, 1)


def test_a_search_that_goes_on_after_fitting_reads_as_it_began():
    rule, search = begun(Grain(), BitLevels())
    seen = NodeData(Step(np.full((1, 1), 11, np.uint8), 0.0, False, 0), None, np.array([0, 1, 3]))
    rule.begin(search)
    before = rule.read(seen, size=4).tolist()
    after(rule, search, 100, depth=60.0)
    assert rule.now == 1
    assert rule.read(seen, size=4).tolist() == before == [11]  # the table is of groups of four
    rule.begin(search)
    assert rule.read(seen, size=4).tolist() == [0, 1, 3]


def test_pardons_stay_where_rollouts_would_be_deep_enough_without():
    rule, search = begun(Grain(), BitLevels())
    after(rule, search, 3, depth=2.0)  # a few short ones bring pardons
    assert 0 < rule.pardon < 0.5
    after(rule, search, 100, depth=8.0)
    assert rule.now == 4
    assert rule.pardon > 0.9


@pytest.fixture
def all_flipped(monkeypatch):
    """Begins fitted noise that flips all bits: whether the nodes of each decision have it."""
    rule, search = begun(Noise(1.0), BitLevels())

    def flips(decisions, depth, undecided):
        monkeypatch.setattr(noise, "undecided", lambda _: undecided)
        atoms, flipped = np.arange(BitLevels.size, dtype=np.int32), []
        for _ in range(decisions):
            flipped.append(len(rule.perceive(search, atoms)) == 0)
            rule.after(search, depth)
        return flipped

    return flips


def test_fitted_noise_comes_and_is_asked_for_anew(all_flipped):
    assert not any(all_flipped(50, depth=3.0, undecided=None))  # nothing could be decided
    assert not any(all_flipped(10, depth=3.0, undecided=True))
    assert all(all_flipped(100, depth=20.0, undecided=False))  # whatever it does with noise
    assert not any(all_flipped(10, depth=3.0, undecided=False))  # half of the plain ones decided
    assert all(all_flipped(200, depth=3.0, undecided=True))  # and is asked for ever more rarely
    assert not any(all_flipped(10, depth=90.0, undecided=True))  # deep enough, by the mean
    assert not any(all_flipped(200, depth=7.0, undecided=True))
    assert any(all_flipped(400, depth=3.0, undecided=True))


@pytest.mark.parametrize(
    ("depth", "undecided", "noisy"),
    [
        (3.0, True, True),
        (3.0, False, False),
        (3.0, None, False),
        (8.0, True, False),
        (8.0, False, False),
    ],
)
def test_fitted_noise_is_on_where_rollouts_are_short_and_leave_ties(
    depth, undecided, noisy, all_flipped
):
    assert any(all_flipped(300, depth, undecided)) == noisy


@pytest.mark.parametrize(
    ("simulator", "undecided"),
    [
        (ScriptedSimulator({}), True),  # two states, each worth nothing
        (ScriptedSimulator({(0,): (0, 1.0, False, 0)}), False),
        (Forgetful({}), None),  # one state, whatever is done
    ],
)
def test_a_search_tells_whether_it_decides_and_whether_there_is_anything_to(simulator, undecided):
    planner = RolloutIW(LevelFeatures(), ScriptedBandit([0, 1]))
    planner.start(simulator, 0)
    planner.decide(calls=2)
    assert planner.tree.size == 3
    assert noise.undecided(planner._search) is undecided


def test_fitted_noise_flips_a_tenth_of_the_bits_unless_told_otherwise():
    for chance, share in ((0.0, 0.1), (0.3, 0.3)):
        rule, search = begun(Noise(chance), ManyBits())
        rule.noisy = True
        found = rule.perceive(search, np.empty(0, np.int32))
        assert abs(len(found) / ManyBits.size - share) < 0.02


def test_noise_is_fitted_to_bits_alone():
    rule, search = begun(Noise(), PixelFeatures())
    rule.noisy = True
    atoms = np.arange(3, dtype=np.int32)
    assert np.array_equal(rule.perceive(search, atoms), atoms)


def test_nothing_is_fitted_unless_asked_for():
    rule = Grain(2, fit="none")
    assert not {"after", "pardons", "stops"} & rule.moments
    assert "after" in Grain(2).moments


def test_fitted_rollouts_are_about_as_deep_as_wanted():
    simulator = SyntheticSimulator(seed=1, terminal_chance=0.0, lives=0, action_count=6)

    def mean_depth(fit):
        planner = RolloutIW(PixelFeatures(), "ttts", rules=[Grain(fit=fit)])
        planner.start(simulator, 0)
        counters, depths = planner.ledger.counters, []
        for _ in range(40):
            rollouts, depth = counters.rollouts, counters.rollout_depth
            planner.advance(planner.decide(calls=100).action)
            depths.append((counters.rollout_depth - depth) / (counters.rollouts - rollouts))
        return np.mean(depths[10:])

    assert mean_depth("none") < 6
    assert 8 < mean_depth("grain") < 13


def test_no_fitted_rollout_buys_much_more_than_wanted():
    planner = RolloutIW(None, width=None, rules=[Grain(wanted_depth=10)])
    planner.start(SyntheticSimulator(seed=1, terminal_chance=0.0, lives=0), 0)
    planner.decide(calls=100)
    assert planner.ledger.counters.rollouts >= 5


# Together

ALL = [Ties(), Twins(), Persistence(0.5), Further(0.3), Grain(), Noise(0.05, fit="grain")]


class PixelBits(PixelFeatures):
    """Levels of pixels as bits: nine places of three."""

    bits_per_place = 3


def played(seed, workers=None, bookmark_at=None):
    planner = RolloutIW(PixelBits(), "ttts", rules=ALL, judging=Judging(kept="free", strata=True))
    if workers is not None:
        planner.driver = ParallelDriver(workers)
    planner.start(SyntheticSimulator(seed=5, terminal_chance=0.0, lives=0), seed)
    actions = []
    try:
        for number in range(12):
            if number == bookmark_at:
                bookmark = planner.bookmark()
                planner.advance(planner.decide(calls=50).action)
                planner.return_to(bookmark)
            decision = planner.decide(calls=50)
            actions.append((decision.action, decision.calls, decision.values.tolist()))
            planner.advance(decision.action)
    finally:
        planner.close()
    return actions


def test_all_rules_together_give_what_the_seed_says():
    once = played(0)
    assert played(0) == once != played(1)
    assert played(0, workers=1) == once
    assert played(0, bookmark_at=6) == once


def test_all_rules_work_with_search_workers():
    once = played(0, workers=2)
    assert len(once) == 12
    assert played(0, workers=2) == once
