"""What every registered rule promises, alone and with the others."""

from copy import deepcopy
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
from synthetic import PixelFeatures, SyntheticSimulator

import olive_iw as olive
from olive_iw.errors import InputError
from olive_iw.rules import RULES, Further, Rule
from olive_iw.search.rule import MOMENTS
from olive_iw.settings import meanings
from olive_iw.simulators import GridWorld
from olive_iw.simulators.base import read_only


class Bits(PixelFeatures):
    """Levels of pixels as bits that can be drawn with noise: all that a rule may ask for."""

    bits_per_place = 3

    def noisy_atoms(self, screen, generator):
        return np.flatnonzero(generator.random(self.size) < 0.3).astype(np.int32)


class Costly(SyntheticSimulator):
    """Every step costs 1 and nothing is earned; its numbers say how often each action was done."""

    def _look(self, generator, reward):
        step, path = super()._look(generator, reward), self._state.path
        done = read_only(np.bincount(path, minlength=self.action_count).astype(np.float64))
        return replace(step, reward=-1.0 if path else 0.0, values=done)


WORLDS = {
    "dangerous": SyntheticSimulator(5, lives=9, terminal_chance=0.02),
    "endless": SyntheticSimulator(1, lives=0, terminal_chance=0.0),
    "costly": Costly(2, lives=0, terminal_chance=0.02),
}


def played(rules, world="endless", decisions=24, workers=1, bookmark_at=None):
    """What every decision came to, node by node."""
    written = world in WORLDS
    features = Bits() if written else "patches"
    planner = olive.RolloutIW(features, "ttts", rules=rules, workers=workers)
    planner.start(deepcopy(WORLDS[world]) if written else GridWorld(world), 3)
    told = []
    try:
        for number in range(decisions):
            if number == bookmark_at:
                moment = planner.bookmark()
                for _ in range(3):
                    planner.advance(planner.decide(calls=30).action)
                planner.return_to(moment)
            decision = planner.decide(calls=30)
            tree = planner.tree
            told.append((decision.action, decision.calls, np.nan_to_num(decision.values).tolist()))
            told.append(tree.parent[: tree.size].tolist())
            if planner.advance(decision.action).terminal:
                break
    finally:
        planner.close()
    return told


@pytest.fixture(params=sorted(RULES))
def kind(request):
    return RULES[request.param]


def test_is_a_dataclass_whose_numbers_have_types_meanings_and_defaults(kind):
    assert issubclass(kind, Rule)
    assert is_dataclass(kind)
    names = [field.name for field in fields(kind)]
    assert set(names) <= set(meanings(kind))
    assert kind.__doc__
    assert kind().acts
    assert repr(kind()).startswith(f"{kind.__name__}(")


def test_acts_at_some_moments_and_only_there(kind):
    assert kind().moments
    assert kind().moments <= set(MOMENTS)


def test_a_number_that_cannot_be_is_refused_in_one_line(kind):
    name = fields(kind)[0].name
    with pytest.raises(InputError, match=name):
        kind(**{name: -1})


def test_does_something(kind):
    """In some world, alone or beside one that keeps calls back to look far."""
    for world in (*WORLDS, "key-door"):  # where little is earned
        for others in ([], [Further()]):
            if played([kind(), *others], world) != played(others, world):
                return
    pytest.fail("decisions and trees are the same without it")


def test_is_silent_when_idle(kind):
    if kind.neutral:
        assert not kind.idle().acts
        assert olive.RolloutIW(Bits(), rules=[kind.idle()]).rules == ()
        assert played([kind.idle()], decisions=3) == played([], decisions=3)


def test_same_seed_same_decisions(kind):
    rule = kind()
    first = played([rule])
    assert played([rule]) == first  # the planner has a rule of its own; this one knows nothing
    assert vars(rule) == vars(kind())


def test_a_bookmark_keeps_what_it_knows(kind):
    assert played([kind()], bookmark_at=14) == played([kind()])


def test_works_with_two_search_workers(kind):
    first = played([kind()], decisions=6, workers=2)
    assert played([kind()], decisions=6, workers=2, bookmark_at=3) == first


def test_all_together_whatever_their_order():
    every = [kind() for name, kind in RULES.items() if name not in ("noise", "dropout")]
    for rules in (every, every[::-1]):
        assert played(rules, decisions=8, bookmark_at=4) == played(rules, decisions=8)


def test_a_list_can_be_printed_reordered_and_shortened():
    rules = [olive.rules.Twins(), olive.rules.Safety(8), olive.rules.Ties()]
    planner = olive.RolloutIW("patches", rules=rules)
    assert str(planner.rules[1]) == "Safety(safe_steps=8)"
    assert planner.rules == tuple(rules)
    rules.reverse()
    assert olive.RolloutIW("patches", rules=rules[1:]).rules == (rules[1], rules[2])
