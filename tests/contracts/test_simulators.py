"""Every kind of simulator, by name, keeps the contract; a new kind needs an example here."""

from importlib.util import find_spec

import pytest

from olive_iw import simulators
from olive_iw.errors import InputError
from olive_iw.simulators import SIMULATORS, Simulator, check_simulator, make_simulator
from olive_iw.simulators.grid import WORLDS

EXAMPLES = {
    "atari": ["atari:breakout", "pong", "qbert", "montezuma_revenge", "carnival"],
    "grid": [f"grid:{world}" for world in WORLDS],
    "gym": ["gym:MiniGrid-DoorKey-5x5-v0", "gym:CartPole-v1"],
    "retro": ["retro:Airstriker-Genesis-v0"] if find_spec("stable_retro") else [],
}
NAMES = [name for names in EXAMPLES.values() for name in names]


def test_every_kind_has_examples():
    assert set(EXAMPLES) == set(SIMULATORS)


@pytest.mark.parametrize("name", NAMES)
def test_it_keeps_the_contract(name):
    simulator = make_simulator(name)
    assert isinstance(simulator, Simulator)
    check_simulator(simulator, steps=20 if name.startswith("retro:") else 40)


@pytest.mark.parametrize("name", NAMES)
def test_actions_out_of_range_are_refused(name):
    simulator = make_simulator(name)
    for action in (-1, simulator.action_count):
        with pytest.raises(simulators.SimulatorError):
            simulator.step(action)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("brekout", {}, "unknown game 'brekout'; did you mean breakout"),
        ("corridor", {}, "did you mean grid:corridor"),
        ("gird:corridor", {}, "unknown kind of simulator 'gird'; did you mean grid"),
        ("grid:coridor", {}, "unknown grid world 'coridor'; did you mean corridor"),
        ("atari:pongg", {}, "unknown game 'pongg'; did you mean pong"),
        ("gym:CartPoll-v1", {}, "did you mean CartPole-v1"),
        ("pong", {"frameskip": 4}, "pong: got an unexpected keyword argument 'frameskip'"),
        (3, {}, "int is no simulator: it has no action_count"),
    ],
)
def test_bad_names_are_refused(name, options, message):
    with pytest.raises(InputError, match=message):
        make_simulator(name, **options)


def test_options_reach_the_simulator():
    assert make_simulator("pong", frame_skip=4).frame_skip == 4


class PassesOn:
    """A wrapper without methods of its own."""

    def __init__(self, inner):
        self._inner = inner

    def __getattr__(self, name):
        return getattr(self._inner, name)


def test_a_wrapper_that_passes_everything_on_is_a_simulator(monkeypatch):
    # As from Python 3.12 on, where isinstance() does not see what is passed on.
    monkeypatch.setattr(type(Simulator), "__instancecheck__", lambda *_: False)
    wrapper = PassesOn(make_simulator("grid:corridor"))
    assert make_simulator(wrapper) is wrapper


def test_a_simulator_is_returned_as_it_is():
    world = make_simulator("grid:lava")
    assert make_simulator(world) is world
    with pytest.raises(InputError, match="options seed are for names"):
        make_simulator(world, seed=1)


def test_exports():
    assert all(hasattr(simulators, name) for name in simulators.__all__)
    assert set(simulators.simulator_names()) >= {"breakout", "grid:key-door"}
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = simulators.Nothing
