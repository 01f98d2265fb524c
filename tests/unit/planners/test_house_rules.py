"""Our own rules of Rollout-IW, in small worlds whose answer is known."""

import numpy as np
import pytest
from olive_iw.planners.house_rules import HouseRules
from olive_iw.planners.judge import Judge, reward_stratum
from synthetic import (
    LevelFeatures,
    PixelFeatures,
    ScriptedBandit,
    ScriptedSimulator,
    SyntheticSimulator,
)

from olive_iw.algorithms import make_agent, make_spec
from olive_iw.errors import InputError
from olive_iw.features.binary_vae import make_vae
from olive_iw.planners import RolloutIW
from olive_iw.search.parallel import ParallelDriver
from olive_iw.simulators import make_simulator


class BitLevels:
    """The bits of a one-pixel screen's level: one place of four bits."""

    size = bits_per_place = 4

    def prepare(self, simulator, first):
        pass

    def of_step(self, step, previous):
        level = int(step.screen[0, 0])
        return np.array([bit for bit in range(4) if level >> bit & 1], np.int32)


def planner_of(steps, script, features=None, **options):
    """Return a planner that has begun in a written world with a bandit that follows a script."""
    rules = HouseRules(**options.pop("rules", {}))
    actions = options.pop("actions", 2)
    bandit = ScriptedBandit(script)
    planner = RolloutIW(features or LevelFeatures(), bandit, rules=rules, **options)
    planner.start(ScriptedSimulator(steps, actions), 0)
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
    rules = {"kept_nodes": "free"}
    planner = planner_of(BEHIND_A_KEPT_LIKENESS, [0, 0, 0, *(0, 0, 0), *(1, 0, 0)], rules=rules)
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
    planner = planner_of(RICHER, script, rules={"reward_strata": strata})
    decision = planner.decide(calls=5 if strata else 100)
    assert decision.values[1] == pytest.approx(value)


def test_strata_are_powers_of_two():
    rewards = (-5, 0, 0.25, 0.5, 0.75, 1, 2, 3, 4, 100)
    assert [reward_stratum(reward) for reward in rewards] == [0, 0, -2, -1, -1, 1, 2, 2, 3, 7]


# Pardons


class Forgetful(ScriptedSimulator):
    """All paths of one length are one state."""

    def save(self):
        return (0,) * len(self._path)


@pytest.mark.parametrize(("world", "twin"), [(Forgetful, True), (ScriptedSimulator, False)])
def test_what_shows_nothing_new_is_pardoned_but_no_twin(world, twin):
    planner = RolloutIW(LevelFeatures(), ScriptedBandit([0, 1]), rules=HouseRules(fit="grain"))
    planner.start(world({}), 0)
    planner.decide(calls=1)
    planner._search.ledger.budget.open(1)
    node = planner._search.expand(0, 1)
    judge, tree = planner._search.judge, planner.tree
    judge.fitted.log_odds = 100.0  # every node that can be is pardoned
    assert tree.is_twin(node) == twin
    assert judge.passes(tree, node, 1, tree.enter(node)) != twin
    assert judge.passes(tree, node, 1, tree.enter(node)) != twin  # when it is met again, too


# Noise


class ManyBits(BitLevels):
    """A level's four bits among many that are never true."""

    size = 20_000


def noise_at(judge, *levels):
    """Bits flipped at nodes that show levels, one after the other."""
    screen, plain = np.zeros((1, 1), np.uint8), [np.array([level], np.int32) for level in levels]
    found = [set(judge.noisy(screen, atoms).tolist()) ^ set(atoms.tolist()) for atoms in plain]
    return [frozenset(bits) for bits in found]


def test_noise_of_nodes_is_drawn_anew():
    judge = Judge(ManyBits(), 100, HouseRules(noise=0.1))
    first = noise_at(judge, 1, 2, 1, 2)
    assert len({*first}) == 4
    assert all(abs(len(bits) / ManyBits.size - 0.1) < 0.02 for bits in first)
    judge.start(np.random.default_rng(1))
    assert not {*first} & {*noise_at(judge, 1, 2)}  # another episode, other noise
    judge.start(np.random.default_rng(0))
    assert noise_at(judge, 1, 2, 1, 2) == first


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_fitted_noise_is_of_nodes_in_one_half_of_the_decisions_and_of_states_in_the_other(noise):
    judge = Judge(ManyBits(), 100, HouseRules(noise=noise, fit="noise"))
    judge.fitted.noisy = True
    repeats, known = [], set()
    for _ in range(100):
        judge.start_decision()
        first, second = noise_at(judge, 1, 1)
        repeats.append(first == second)
        known |= {first} if repeats[-1] else set()
    assert 30 < sum(repeats) < 70
    assert len(known) == 1  # a state's is the same in all decisions
    judge.start(np.random.default_rng(1))
    judge.fitted.noisy = True
    assert known != {noise_at(judge, 1)[0]}  # and another in another episode


def test_walks_pass_a_state_that_was_met_with_noise_of_nodes_and_not_with_noise_of_states():
    calls = {True: set(), False: set()}
    for seed in range(8):
        planner = RolloutIW(ManyBits(), rules=HouseRules(fit="noise"))
        planner.start(Forgetful({}), seed)  # everything looks the same, whatever is done
        fitted = planner._search.judge.fitted
        fitted.noisy = True
        made = planner.decide(calls=20).calls
        calls[fitted.of_state].add(made)
    assert calls[False] == {20}
    assert max(calls[True]) < 10  # the root alone has no noise


def test_nothing_is_drawn_for_noise_where_there_is_none():
    used, unused = np.random.default_rng(0), np.random.default_rng(0)
    judge = Judge(ManyBits(), 100, HouseRules(fit="grain"))
    judge.start(used)
    judge.start_decision()
    assert used.random() == unused.random()


def test_noise_flips_each_bit_with_its_chance():
    atoms = np.arange(0, 20_000, 2, dtype=np.int32)
    for chance in (0.0, 0.1, 1.0):
        judge = Judge(ManyBits(), 100, HouseRules(noise=chance))
        judge.start(np.random.default_rng(1))
        noisy = judge.noisy(None, atoms)
        assert noisy.dtype == np.int32
        dropped, raised = len(np.setdiff1d(atoms, noisy)), len(np.setdiff1d(noisy, atoms))
        assert dropped / 10_000 == pytest.approx(chance, abs=0.015)
        assert raised / 10_000 == pytest.approx(chance, abs=0.015)


def test_in_training_mode_a_screen_has_other_bits_every_time():
    """As in the authors' code, where the Jaccard index of a screen with itself was 0.75 to 0.83."""
    vae = make_vae("paper", 0)
    vae.network.encoder[-1].weight.data.mul_(30.0)  # untrained: few bits would be true
    screen = np.random.default_rng(0).integers(256, size=(128, 128), dtype=np.uint8)
    before = {name: value.clone() for name, value in vae.network.state_dict().items()}
    one, other, same = (vae.noisy_atoms(screen, np.random.default_rng(s)) for s in (1, 2, 1))
    assert one.tolist() == same.tolist() != other.tolist()
    shared = len(np.intersect1d(one, other)) / len(np.union1d(one, other))
    assert 0.1 < shared < 0.95
    for name, value in vae.network.state_dict().items():
        assert bool((value == before[name]).all())
    assert vae.network.training is False


def test_training_mode_is_of_the_paper_profile(tmp_path):
    for algorithm, profile in (("olive", "laptop"), ("patch-iw", "paper")):
        with pytest.raises(InputError, match="training_mode is for algorithms that learn under"):
            make_spec(algorithm, profile, training_mode=True)
    agent = make_agent("olive", "paper", device="cpu", training_mode=True)
    screens = []
    for _ in range(2):
        agent.planner.start(make_simulator("grid:key-door"), 0)
        agent.planner.decide(calls=5)
        screens.append([seen.atoms.tolist() for seen in agent.planner.tree.seen])
    assert screens[0] == screens[1]


# Fitting the shape of the search


def test_the_grain_goes_up_while_rollouts_are_too_short_and_then_pardons_do():
    judge = Judge(BitLevels(), 100, HouseRules(fit="grain"))
    assert judge.fitted.grain == 4
    for _ in range(100):
        judge.fitted.fit(depth=60.0)
    assert (judge.fitted.pardon, judge.fitted.grain) == (0.0, 1)
    for _ in range(100):
        judge.fitted.fit(depth=2.0)
    assert judge.fitted.grain == 4
    assert judge.fitted.pardon > 0.9
    for _ in range(100):
        judge.fitted.fit(depth=60.0)
    assert (judge.fitted.pardon, judge.fitted.grain) == (0.0, 1)
    for _ in range(100):
        judge.fitted.fit(depth=10.0)
    assert (judge.fitted.pardon, judge.fitted.grain) == (0.0, 1)


def test_pardons_stay_where_rollouts_would_be_deep_enough_without():
    judge = Judge(BitLevels(), 100, HouseRules(fit="grain"))
    for _ in range(3):  # a few short ones bring pardons
        judge.fitted.fit(depth=2.0)
    assert 0 < judge.fitted.pardon < 0.5
    for _ in range(100):
        judge.fitted.fit(depth=8.0)
    assert judge.fitted.grain == 4
    assert judge.fitted.pardon > 0.9


def flips(judge, decisions, depth, undecided):
    """Whether the nodes of each decision have all their bits flipped."""
    screen, atoms = np.zeros((1, 1), np.uint8), np.arange(BitLevels.size, dtype=np.int32)
    flipped = []
    for _ in range(decisions):
        flipped.append(len(judge.noisy(screen, atoms)) == 0)
        judge.fitted.fit(depth, undecided)
    return flipped


def test_fitted_noise_comes_and_is_asked_for_anew():
    judge = Judge(BitLevels(), 100, HouseRules(fit="noise", noise=1.0))
    assert not any(flips(judge, 50, depth=3.0, undecided=None))  # nothing could be decided
    assert not any(flips(judge, 10, depth=3.0, undecided=True))
    assert all(flips(judge, 100, depth=20.0, undecided=False))  # whatever it does with noise
    assert not any(flips(judge, 10, depth=3.0, undecided=False))  # half of the plain ones decided
    assert all(flips(judge, 200, depth=3.0, undecided=True))  # and is asked for ever more rarely
    assert not any(flips(judge, 10, depth=90.0, undecided=True))  # deep enough, by the mean
    assert not any(flips(judge, 200, depth=7.0, undecided=True))
    assert any(flips(judge, 400, depth=3.0, undecided=True))
    assert (judge.fitted.pardon, judge.fitted.grain, judge.most_calls) == (0.0, 1, np.inf)


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
def test_fitted_noise_is_on_where_rollouts_are_short_and_leave_ties(depth, undecided, noisy):
    judge = Judge(BitLevels(), 100, HouseRules(fit="noise", noise=1.0))
    assert any(flips(judge, 300, depth, undecided)) == noisy


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
    assert planner._search.undecided is undecided


def test_fitted_noise_flips_a_tenth_of_the_bits_unless_told_otherwise():
    for noise, share in ((0.0, 0.1), (0.3, 0.3)):
        judge = Judge(ManyBits(), 100, HouseRules(fit="noise", noise=noise))
        judge.fitted.noisy = True
        found = judge.noisy(np.zeros((1, 1), np.uint8), np.empty(0, np.int32))
        assert abs(len(found) / ManyBits.size - share) < 0.02


def test_noise_is_fitted_to_bits_alone():
    judge = Judge(PixelFeatures(), 100, HouseRules(fit="noise"))
    judge.fitted.noisy = True
    atoms = np.arange(3, dtype=np.int32)
    assert np.array_equal(judge.noisy(np.zeros((1, 1), np.uint8), atoms), atoms)


def test_nothing_is_fitted_unless_asked_for():
    judge = Judge(BitLevels(), 100, HouseRules(grain=2))
    for _ in range(100):
        judge.fitted.fit(depth=2.0)
    assert (judge.fitted.pardon, judge.fitted.grain, judge.most_calls) == (0.0, 2, np.inf)


def test_fitted_rollouts_are_about_as_deep_as_wanted():
    simulator = SyntheticSimulator(seed=1, terminal_chance=0.0, lives=0, action_count=6)

    def mean_depth(fit):
        planner = RolloutIW(PixelFeatures(), "ttts", rules=HouseRules(fit=fit))
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
    planner = RolloutIW(None, width=None, rules=HouseRules(fit="grain", wanted_depth=10))
    planner.start(SyntheticSimulator(seed=1, terminal_chance=0.0, lives=0), 0)
    planner.decide(calls=100)
    assert planner.ledger.counters.rollouts >= 5


# Together

ALL = HouseRules(
    ties="longest",
    avoid_twins=True,
    persistence=0.5,
    look_further=0.3,
    kept_nodes="free",
    reward_strata=True,
    noise=0.05,
    fit="grain",
)


class PixelBits(PixelFeatures):
    """Levels of pixels as bits: nine places of three."""

    bits_per_place = 3


def played(seed, workers=None, bookmark_at=None):
    planner = RolloutIW(PixelBits(), "ttts", rules=ALL)
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
