"""Does a simulator keep its contract? For those who write one of their own."""

import pickle
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from olive_iw.errors import SimulatorError, advise
from olive_iw.randomness import child_seed, generator
from olive_iw.simulators.base import (
    LARGEST_REWARD,
    Simulator,
    Step,
    grey_levels,
    missing_members,
    numbers_problem,
    palette,
    screen_problem,
)

_OTHER_STEPS = 3
_REMEMBERED = 20
_VERIFIED = {
    "protocol": "has everything, and a name for every action",
    "colours": "palette and grey levels, where it has them, are uint8 of the right shape",
    "reset": "every episode starts and goes on in the same way",
    "steps": "read-only uint8 screens of one shape, proper types",
    "restore": "the next step is as before, other steps in between",
    "terminal": "a state before the end can be restored after it",
    "pickling": "a state that was pickled restores as well",
    "immutability": "states are not changed by later steps",
}


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
    foresees_chance: bool
    """Whether its saved states hold dice: see `foresees_chance`."""

    def __str__(self) -> str:
        lines = [f"{self.simulator} keeps the simulator contract:"]
        lines += [f"  {check.name:<12} {check.verified} ({check.count}×)" for check in self.checks]
        if self.foresees_chance:
            lines.append(
                "  chance       saved states foresee dice: plan with reseed_search as well"
            )
        return "\n".join(lines)


def check_simulator(simulator: Any, *, seed: int = 0, steps: int = 200) -> CheckReport:
    """Try a simulator's contract on a random walk of `steps` steps, each repeated several times.

    Raises `SimulatorError` at the first violation: which part, at which step, what differed.
    """
    _check_members(simulator)
    counts = _Examination(simulator, generator(seed), steps).counts()
    checks = (Check(name, verified, counts[name]) for name, verified in _VERIFIED.items())
    foresees = foresees_chance(simulator, seed=seed, steps=steps)
    return CheckReport(type(simulator).__name__, tuple(checks), foresees)


def foresees_chance(simulator: Any, *, seed: int = 0, steps: int = 25) -> bool:
    """Whether, on a random walk, the same action in the same state comes out otherwise if reseeded.

    A search then foresees how the dice fall, which nobody can outside of a simulator. Of those
    that cannot be reseeded (see `HasChance`) it cannot be found out: False.
    """
    if not hasattr(simulator, "reseed"):
        return False
    random, step = generator(seed), simulator.reset()
    for number in range(steps):
        if step.terminal:
            step = simulator.reset()
        state, action = simulator.save(), int(random.integers(simulator.action_count))
        expected = simulator.step(action)
        for other in range(2):
            simulator.restore(state)
            simulator.reseed(child_seed(seed, number, other))
            # The walk goes on with the last of these: it should not be the same after a reset.
            step = simulator.step(action)
            if step_differences(expected, step):
                return True
    return False


def warn_of_chance(simulator: Any, name: str) -> None:
    """Warn if a search foresees the chance of a simulator, which goes by this name."""
    if foresees_chance(simulator):
        advise(
            f"the search foresees the dice of {name}, which are in its saved state; with "
            "reseed_search=True (--reseed-search) it plans for chance that it cannot foresee"
        )


def step_differences(expected: Step, found: Step) -> dict[str, str]:
    """Say what differs between two steps, in words, by field of `Step`; empty if nothing does."""
    result = {}
    for field in ("reward", "terminal", "lives"):
        before, after = getattr(expected, field), getattr(found, field)
        if before != after and not np.isnan([before, after]).all():
            result[field] = f"{field} is {after}, was {before}"
    for field, unit in (("ram", "bytes"), ("screen", "pixels"), ("values", "numbers")):
        before, after = getattr(expected, field), getattr(found, field)
        if before is None and after is None:
            continue
        same_shape = np.shape(before) == np.shape(after)
        if not same_shape or before.tobytes() != after.tobytes():
            count = np.count_nonzero(before != after) if same_shape else "all"
            result[field] = f"{field} differs in {count} {unit}"
    return result


def _check_members(simulator: Any) -> None:
    if missing := missing_members(simulator):
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
        self._tried = Counter({"protocol": 1, "colours": 1})
        self._shape: tuple[int, ...] | None = None

    def counts(self) -> Counter[str]:
        """Do every check, and say how often each was done."""
        self._check_reset()
        for read in (palette, grey_levels):
            self._do("colours", 0, read, self._simulator)
        remembered = self._check_restore()
        for number, (state, action, expected) in enumerate(remembered, 1):
            self._again(state, action, expected, "immutability", "when restored much later", number)
        self._tried["immutability"] = len(remembered)
        return self._tried

    def _check_reset(self) -> None:
        """Play one sequence of actions from two resets, with others before the second."""
        actions = self._some_actions(self._steps)
        first = self._reset("reset", 0)
        record = [first, *self._play(actions, first, "reset")]
        self._play(self._some_actions(_OTHER_STEPS), self._reset("reset", 0), "reset")
        again = self._reset("reset", 0)
        self._compare(first, again, "reset", "after the second reset", 0)
        for number, step in enumerate(self._play(actions, again, "reset"), 1):
            self._compare(record[number], step, "reset", "in the second episode", number)
        self._tried["reset"] = len(record)

    def _check_restore(self) -> list[tuple[Any, int, Step]]:
        """Repeat every step of a walk from restored states; return some to try again later."""
        remembered = []
        self._reset("restore", 0)
        for number in range(1, self._steps + 1):
            action = self._some_actions(1)[0]
            state = self._do("save", number, self._simulator.save)
            copy = self._pickled(state, number)
            expected = self._step(action, "restore", number)
            if number <= _REMEMBERED:
                remembered.append((state, action, expected))
            self._check_one(state, copy, action, expected, number)
            if expected.terminal:
                self._tried["terminal"] += 1
                self._reset("restore", number)
        return remembered

    def _check_one(self, state: Any, copy: Any, action: int, expected: Step, number: int) -> None:
        self._restore(state, number)
        self._play(self._some_actions(_OTHER_STEPS), None, "restore")
        self._restore(state, number)
        found = self._step(action, "restore", number)
        if step_differences(expected, found):
            self._restore(copy, number)
            if not step_differences(expected, self._step(action, "restore", number)):
                self._compare(expected, found, "immutability", "as its state changed", number)
        self._compare(expected, found, "restore", "after restore", number)
        self._again(copy, action, expected, "pickling", "after restoring a pickled state", number)
        # Twice from the same state, and the walk goes on from there.
        self._restore(state, number)
        self._again(state, action, expected, "restore", "after a second restore", number)

    def _again(
        self, state: Any, action: int, expected: Step, check: str, when: str, number: int
    ) -> None:
        self._restore(state, number)
        self._compare(expected, self._step(action, check, number), check, when, number)

    def _compare(self, expected: Step, found: Step, check: str, when: str, number: int) -> None:
        found_differences = step_differences(expected, found)
        if found_differences:
            what = ", ".join(found_differences.values())
            raise SimulatorError(f"{check}: {what} {when} at step {number}")

    def _some_actions(self, count: int) -> list[int]:
        return [int(a) for a in self._random.integers(self._simulator.action_count, size=count)]

    def _play(self, actions: Sequence[int], first: Step | None, check: str) -> list[Step]:
        """Play a sequence of actions, up to the end of the episode."""
        steps: list[Step] = []
        last = first
        for number, action in enumerate(actions, 1):
            if last is not None and last.terminal:
                break
            last = self._step(action, check, number)
            steps.append(last)
        return steps

    def _pickled(self, state: Any, number: int) -> Any:
        self._tried["pickling"] += 1
        data = self._do("pickling", number, pickle.dumps, state)
        return self._do("pickling", number, pickle.loads, data)

    def _restore(self, state: Any, number: int) -> None:
        self._tried["restore"] += 1
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
        self._tried["steps"] += 1
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
    for name in ("screen", "reward", "terminal", "lives", "ram", "values"):
        if not hasattr(step, name):
            return f"what step or reset returned has no {name}"
    screen, ram, problem = step.screen, step.ram, screen_problem(step.screen)
    is_ram = ram is None or (isinstance(ram, np.ndarray) and ram.dtype == np.uint8)
    values_problem = numbers_problem(step.values)
    rules = (
        (
            isinstance(step.reward, float) and abs(step.reward) <= LARGEST_REWARD,
            f"reward must be a float up to {LARGEST_REWARD:g}, not {step.reward!r}",
        ),
        (isinstance(step.terminal, bool), f"terminal must be a bool, not {step.terminal!r}"),
        (isinstance(step.lives, int), f"lives must be an int, not {step.lives!r}"),
        (problem is None, f"screen {problem}"),
        (problem or not screen.flags.writeable, "screen must be read-only"),
        (is_ram and np.ndim(ram) == (ram is not None), "ram must be uint8 of shape (bytes,)"),
        (not is_ram or ram is None or not ram.flags.writeable, "ram must be read-only"),
        (values_problem is None, f"values {values_problem}"),
    )
    return next((words for kept, words in rules if not kept), None)
