"""Environments that break Gymnasium's contract, or are hard to copy: planned with, or one line."""

import re
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete, OneOf, Sequence

from olive_iw import make_agent
from olive_iw.errors import InputError
from olive_iw.simulators import SimulatorError, make_simulator
from olive_iw.simulators.check import check_simulator


class Rows(gymnasium.Env[Any, Any]):
    """Action 1 goes on a row, which earns 1."""

    action_space: Any = Discrete(2)
    observation_space: Any = Box(0, 255, (40, 40), np.uint8)

    def __init__(self) -> None:
        self.row = 0

    def _get_obs(self) -> Any:
        shown = np.zeros((40, 40), np.uint8)
        shown[self.row % 40] = 200
        return shown

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.row = 0
        return self._get_obs(), {}

    def step(self, action: Any) -> Any:
        self.row += int(action)
        return self._get_obs(), float(action), False, False, {}


class Slotted:
    __slots__ = ("ask", "other")

    def __init__(self, other: Any) -> None:
        self.ask = lambda: self.other
        self.other = other


def with_attribute(make: Callable[[Any], Any]) -> Rows:
    env = Rows()
    env.attribute = make(env)  # type: ignore[attr-defined]
    return env


COPIED: dict[str, Callable[[Any], Any]] = {
    "a lambda": lambda env: lambda: env.row,
    "a bound method": lambda env: env.step,
    "slots": Slotted,
    "slots of slots": lambda env: Slotted(Slotted(env)),
    "a class of its own": lambda env: type("Own", (), {"row": 1})(),
}


@pytest.mark.parametrize("attribute", COPIED)
def test_attributes_that_are_hard_to_pickle(attribute: str) -> None:
    agent = make_agent("patch-iw", calls_per_action=8)
    assert agent.play(with_attribute(COPIED[attribute]), max_actions=3).score == 3.0
    env = with_attribute(COPIED[attribute])
    env.reset(seed=0)
    for _ in range(3):
        before = env.row
        action = agent.act(env)
        assert env.row == before
        env.step(action)
    assert env.row == 3


def told(change: Callable[[Any], Any]) -> Rows:
    class Broken(Rows):
        def step(self, action: Any) -> Any:
            return change(super().step(action))

    return Broken()


class WithSlots(Rows):
    __slots__ = ("extra",)


BROKEN: dict[str, tuple[Callable[[], Rows], str]] = {
    "four values": (lambda: told(lambda it: it[:4]), "returned 4 values; it must return 5"),
    "six values": (lambda: told(lambda it: (*it, 0)), "returned 6 values; it must return 5"),
    "a list": (lambda: told(list), "returned list; it must return 5"),
    "nothing": (lambda: told(lambda it: None), "returned NoneType; it must return 5"),
    "two rewards": (
        lambda: told(lambda it: (it[0], np.ones(2), *it[2:])),
        r"gave the reward array\(\[1., 1.\]\)",
    ),
    "no reward": (lambda: told(lambda it: (it[0], None, *it[2:])), "gave the reward None"),
    "a number too large": (
        lambda: told(lambda it: (it[0], 10**400, *it[2:])),
        "gave the reward a huge number",
    ),
    "many ends": (lambda: told(lambda it: (*it[:2], np.ones(2), *it[3:])), "one number and a bool"),
    "a huge reward": (lambda: told(lambda it: (it[0], 1e308, *it[2:])), "gave the reward 1e.308"),
    "a loss": (lambda: told(lambda it: (it[0], -1e308, *it[2:])), "gave the reward -1e.308"),
    "no number": (lambda: told(lambda it: (it[0], np.nan, *it[2:])), "gave the reward nan"),
    "slots of its own": (WithSlots, "keeps state in __slots__; pass save= and restore="),
}


@pytest.mark.parametrize("how", ["play", "act"])
@pytest.mark.parametrize("name", BROKEN)
def test_what_breaks_the_contract_is_told_in_a_line(name: str, how: str) -> None:
    make, message = BROKEN[name]
    env, agent = make(), make_agent("patch-iw", calls_per_action=8)
    env.reset(seed=0)
    ask = {"play": lambda: agent.play(env, max_actions=3), "act": lambda: agent.act(env)}[how]
    with pytest.raises((SimulatorError, InputError), match=message) as error:
        ask()
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 200


class Blind(Rows):
    """Shows pictures, and does not tell the present one."""

    def __getattribute__(self, name: str) -> Any:
        if name == "_get_obs":
            raise AttributeError(name)
        return super().__getattribute__(name)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.row = 0
        return np.zeros((40, 40), np.uint8), {}

    def step(self, action: Any) -> Any:
        self.row += int(action)
        return np.full((40, 40), self.row % 200, np.uint8), float(action), False, False, {}


def test_a_picture_that_is_not_told_is_asked_for() -> None:
    env, agent = Blind(), make_agent("patch-iw", calls_per_action=8)
    shown, _ = env.reset(seed=0)
    with pytest.raises(InputError, match="Blind gives no picture as observation; pass what it"):
        agent.act(env)
    assert agent.act(env, shown) == 1
    for told_next in (None, (None, 1)):
        env.step = lambda action, told=told_next: told  # type: ignore[method-assign]
        with pytest.raises(SimulatorError, match=r"Blind.step returned"):
            make_agent("patch-iw", calls_per_action=8).act(env)


RESETS: dict[str, tuple[Callable[..., Any], str]] = {
    "an observation": (lambda seed: np.zeros(3), "returned ndarray; it must return 2"),
    "nothing": (lambda seed: None, "returned NoneType; it must return 2"),
    "three values": (lambda seed: (np.zeros(3), {}, 1), "returned 3 values; it must return 2"),
    "no seed": (lambda: (np.zeros(3), {}), "takes no seed; it must be reset"),
}


@pytest.mark.parametrize("name", RESETS)
def test_odd_resets_are_told_in_a_line(name: str) -> None:
    env = Rows()
    env.reset, message = RESETS[name]  # type: ignore[method-assign]
    with pytest.raises(SimulatorError, match=f"Rows.reset {message}"):
        make_agent("patch-iw", calls_per_action=8).play(env, max_actions=3)


def test_the_check_finds_huge_rewards_too() -> None:
    with pytest.raises(SimulatorError, match=r"not 1e.308"):
        check_simulator(make_simulator(BROKEN["a huge reward"][0]()))


class Shows(gymnasium.Env[Any, Any]):
    """Shows at the start what it is told to, and something else after each step."""

    action_space: Any = Discrete(2)

    def __init__(self, space: Any, first: Any, then: Callable[[int], Any]) -> None:
        self.observation_space, self.first, self.then, self.time = space, first, then, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.time = 0
        return self.first, {}

    def step(self, action: Any) -> Any:
        self.time += 1
        return self.then(self.time), 0.0, False, False, {}


NUMBERS, PICTURE = Box(-1, 1, (3,)), Box(0, 255, (40, 40), np.uint8)
UNEVEN: dict[str, tuple[Any, Any, Callable[[int], Any]]] = {
    "more": (NUMBERS, np.zeros(3), lambda time: np.zeros(3 + time)),
    "fewer": (NUMBERS, np.zeros(3), lambda time: np.zeros(2)),
    "none": (NUMBERS, np.zeros(3), lambda time: None),
    "an entry less": (
        Dict({"a": NUMBERS, "b": Discrete(2)}),
        {"a": np.zeros(3), "b": 0},
        lambda time: {"a": np.zeros(3)},
    ),
    "a sequence": (Sequence(Discrete(3)), (1,), lambda time: (1,) * (time + 1)),
    "one of two": (OneOf([NUMBERS, Discrete(2)]), (1, 0), lambda time: (0, np.zeros(3))),
    "a picture that grows": (
        PICTURE,
        np.zeros((40, 40), np.uint8),
        lambda time: np.zeros((40 + time, 40), np.uint8),
    ),
}


@pytest.mark.parametrize("algorithm", ["value-iw", "patch-iw"])
@pytest.mark.parametrize("name", UNEVEN)
def test_steps_that_show_more_or_less_than_the_first_are_told_in_a_line(
    name: str, algorithm: str
) -> None:
    env = Shows(*UNEVEN[name])
    with pytest.raises((SimulatorError, InputError)) as error:
        make_agent(algorithm, calls_per_action=8).play(env, max_actions=3)
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 200
    if algorithm == "value-iw" and name in ("more", "fewer", "an entry less"):
        assert re.search(r"shows \d numbers; reset\(\) showed [34]", str(error.value))


@pytest.mark.parametrize(
    "space", [MultiDiscrete([[2, 2], [2, 2]]), Dict(dict.fromkeys(map(str, range(99)), NUMBERS))]
)
def test_a_space_is_named_in_a_line(space: Any) -> None:
    env = Shows(NUMBERS, np.zeros(3), lambda time: np.zeros(3))
    env.action_space = space
    with pytest.raises(InputError) as error:
        make_simulator(env, action_levels=3)
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 400
