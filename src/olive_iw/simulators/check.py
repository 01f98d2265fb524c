"""Does a simulator keep its contract? For those who write one of their own."""

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from olive_iw.randomness import generator
from olive_iw.simulators.base import Simulator, SimulatorError, Step

_MEMBERS = ("action_count", "action_names", "reset", "step", "save", "restore")
_OTHER_STEPS = 3
_REMEMBERED = 20


@dataclass(frozen=True, slots=True)
class Check:
    """One part of the contract that was found kept."""

    name: str
    verified: str
    count: int
    """How many times it was tried."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What `check_simulator` verified."""

    simulator: str
    checks: tuple[Check, ...]

    def __str__(self) -> str:
        lines = [f"{self.simulator} keeps the simulator contract:"]
        lines += [f"  {check.name:<12} {check.verified} ({check.count}×)" for check in self.checks]
        return "\n".join(lines)


def check_simulator(simulator: Any, *, seed: int = 0, steps: int = 200) -> CheckReport:
    """Try a simulator's contract on a random walk of `steps` steps, each repeated several times.

    Raises `SimulatorError` at the first violation: which part, at which step, what differed.
    """
    _check_members(simulator)
    examination = _Examination(simulator, generator(seed), steps)
    return CheckReport(type(simulator).__name__, tuple(examination.checks()))


def differences(expected: Step, found: Step) -> dict[str, str]:
    """Say what differs between two steps, in words, by field of `Step`; empty if nothing does."""
    result = {}
    for field in ("reward", "terminal", "lives"):
        before, after = getattr(expected, field), getattr(found, field)
        if before != after:
            result[field] = f"{field} is {after}, was {before}"
    for field, unit in (("ram", "bytes"), ("screen", "pixels")):
        before, after = getattr(expected, field), getattr(found, field)
        if not np.array_equal(before, after):
            same_shape = np.shape(before) == np.shape(after)
            count = np.count_nonzero(before != after) if same_shape else "all"
            result[field] = f"{field} differs in {count} {unit}"
    return result


def _check_members(simulator: Any) -> None:
    missing = [name for name in _MEMBERS if not hasattr(simulator, name)]
    if missing:
        raise SimulatorError(f"protocol: {', '.join(missing)} missing")
    count, names = simulator.action_count, simulator.action_names
    if not isinstance(count, int) or count < 1:
        raise SimulatorError(f"actions: action_count must be a positive int, not {count!r}")
    if len(names) != count or not all(isinstance(name, str) for name in names):
        raise SimulatorError(f"actions: {count} actions need as many names, not {list(names)!r}")


class _Examination:
    """One random walk, and every check along it."""

    def __init__(self, simulator: Simulator, random: np.random.Generator, steps: int) -> None:
        self._simulator = simulator
        self._random = random
        self._steps = steps
        self._looked_at = 0
        self._restores = 0
        self._pickled = 0
        self._endings = 0
        self._shape: tuple[int, ...] | None = None

    def checks(self) -> list[Check]:
        resets = self._check_reset()
        remembered = self._check_restore()
        self._check_remembered(remembered)
        return [
            Check("protocol", "has everything, and a name for every action", 1),
            Check("reset", "every episode starts and goes on in the same way", resets),
            Check("steps", "read-only uint8 screens of one shape, proper types", self._looked_at),
            Check("restore", "the next step is as before, other steps in between", self._restores),
            Check("terminal", "a state before the end can be restored after it", self._endings),
            Check("pickling", "a state that was pickled restores as well", self._pickled),
            Check("immutability", "states are not changed by later steps", len(remembered)),
        ]

    def _check_reset(self) -> int:
        """Play one sequence of actions from two resets, with others before the second."""
        first = self._reset("reset", 0)
        actions = self._some_actions(self._steps)
        record = [first, *self._play(actions, first, "reset")]
        again = self._reset("reset", 0)
        self._play(self._some_actions(_OTHER_STEPS), again, "reset")
        again = self._reset("reset", 0)
        self._compare(first, again, "reset", "after the second reset", 0)
        for number, step in enumerate(self._play(actions, again, "reset"), 1):
            self._compare(record[number], step, "reset", "in the second episode", number)
        return len(record)

    def _check_restore(self) -> list[tuple[Any, int, Step]]:
        """Repeat every step of a walk from restored states; return some to try again later."""
        remembered = []
        self._reset("restore", 0)
        for number in range(1, self._steps + 1):
            action = self._some_actions(1)[0]
            state = self._do("save", number, self._simulator.save)
            copy = self._pickle(state, number)
            expected = self._step(action, "restore", number)
            if number <= _REMEMBERED:
                remembered.append((state, action, expected))
            self._check_one(state, copy, action, expected, number)
            if expected.terminal:
                self._endings += 1
                self._reset("restore", number)
        return remembered

    def _check_one(self, state: Any, copy: Any, action: int, expected: Step, number: int) -> None:
        self._restore(state, number)
        self._play(self._some_actions(_OTHER_STEPS), None, "restore")
        self._restore(state, number)
        found = self._step(action, "restore", number)
        if differences(expected, found):
            self._restore(copy, number)
            if not differences(expected, self._step(action, "restore", number)):
                self._compare(expected, found, "immutability", "as its state changed", number)
        self._compare(expected, found, "restore", "after restore", number)
        self._restore(copy, number)
        found = self._step(action, "pickling", number)
        self._compare(expected, found, "pickling", "after restoring a pickled state", number)
        # Twice from the same state, and the walk goes on from there.
        self._restore(state, number)
        self._restore(state, number)
        found = self._step(action, "restore", number)
        self._compare(expected, found, "restore", "after a second restore", number)

    def _check_remembered(self, remembered: list[tuple[Any, int, Step]]) -> None:
        for number, (state, action, expected) in enumerate(remembered, 1):
            self._restore(state, number)
            found = self._step(action, "immutability", number)
            self._compare(expected, found, "immutability", "when restored much later", number)

    def _compare(self, expected: Step, found: Step, check: str, when: str, number: int) -> None:
        found_differences = differences(expected, found)
        if found_differences:
            what = ", ".join(found_differences.values())
            raise SimulatorError(f"{check}: {what} {when} at step {number}")

    def _some_actions(self, count: int) -> list[int]:
        return [int(a) for a in self._random.integers(self._simulator.action_count, size=count)]

    def _play(self, actions: list[int], first: Step | None, check: str) -> list[Step]:
        """Play a sequence of actions, up to the end of the episode."""
        steps: list[Step] = []
        last = first
        for number, action in enumerate(actions, 1):
            if last is not None and last.terminal:
                break
            last = self._step(action, check, number)
            steps.append(last)
        return steps

    def _pickle(self, state: Any, number: int) -> Any:
        self._pickled += 1
        data = self._do("pickling", number, pickle.dumps, state)
        return self._do("pickling", number, pickle.loads, data)

    def _restore(self, state: Any, number: int) -> None:
        self._restores += 1
        self._do("restore", number, self._simulator.restore, state)

    def _reset(self, check: str, number: int) -> Step:
        return self._look(self._do(check, number, self._simulator.reset), number)

    def _step(self, action: int, check: str, number: int) -> Step:
        return self._look(self._do(check, number, self._simulator.step, action), number)

    def _do(self, check: str, number: int, function: Any, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise SimulatorError(f"{check}: raised {what}, at step {number}") from error

    def _look(self, step: Any, number: int) -> Step:
        """Check the form of a step."""
        self._looked_at += 1
        problem = _problem_of(step)
        if problem is None and self._shape not in (None, step.screen.shape):
            problem = f"screen has shape {step.screen.shape}, had {self._shape} before"
        if problem is not None:
            raise SimulatorError(f"steps: {problem}, at step {number}")
        self._shape = step.screen.shape
        checked: Step = step
        return checked


def _problem_of(step: Any) -> str | None:
    """Say what is wrong with the form of a step, if anything."""
    for name in ("screen", "reward", "terminal", "lives", "ram"):
        if not hasattr(step, name):
            return f"what step or reset returned has no {name}"
    if not isinstance(step.reward, float) or not np.isfinite(step.reward):
        return f"reward must be a finite float, not {step.reward!r}"
    if not isinstance(step.terminal, bool):
        return f"terminal must be a bool, not {step.terminal!r}"
    if not isinstance(step.lives, int):
        return f"lives must be an int, not {step.lives!r}"
    problem = _array_problem("screen", step.screen, 2)
    if problem is None and step.ram is not None:
        problem = _array_problem("ram", step.ram, 1)
    return problem


def _array_problem(name: str, array: NDArray[Any] | Any, dimensions: int) -> str | None:
    if not isinstance(array, np.ndarray) or array.dtype != np.uint8 or array.ndim != dimensions:
        return f"{name} must be a uint8 array of {dimensions} dimension(s)"
    return f"{name} must be read-only" if array.flags.writeable else None
