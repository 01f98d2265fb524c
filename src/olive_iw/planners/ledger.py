"""The one place where calls are spent: counts them, and refuses the one too many."""

import math
from time import perf_counter
from typing import Any

from olive_iw.simulators.base import Simulator, Step

PARTS = ("emulator", "save and restore", "features", "novelty", "bandit", "tree")


class BudgetSpentError(RuntimeError):
    """A planner tried to make a call beyond its budget."""


class Stopwatch:
    """Adds up the seconds spent inside `with stopwatch:`."""

    __slots__ = ("_began", "seconds")

    def __init__(self) -> None:
        self.seconds = 0.0
        self._began = 0.0

    def __enter__(self) -> None:
        self._began = perf_counter()

    def __exit__(self, *error: object) -> None:
        self.seconds += perf_counter() - self._began


class Ledger:
    """Counts of one episode, and the budget of its current decision."""

    def __init__(self) -> None:
        self.calls = 0
        """Simulator steps made."""
        self.nodes = 0
        """Nodes added to the tree."""
        self.revisits = 0
        """Times a walk passed through a node that was there already; these cost no call."""
        self.rollouts = 0
        """Walks from the root."""
        self.rollout_depth = 0
        """Depths at which the rollouts ended, added up."""
        self.decisions = 0
        """Budgets opened."""
        self.cache_hits = 0
        """Atoms that came from the features' cache."""
        self.cache_misses = 0
        """Atoms that had to be computed."""
        self.emulator = Stopwatch()
        self.states = Stopwatch()
        self.features = Stopwatch()
        self.novelty = Stopwatch()
        self.bandit = Stopwatch()
        self.tree = Stopwatch()
        self._limit = 0
        self._reserved = 0
        self._first = 0
        self._deadline = math.inf

    def open(self, calls: int, seconds: float | None = None) -> None:
        """Begin a decision that may make at most `calls` calls, and none after `seconds`.

        Its first call may be made in any case, so that there is something to choose from.
        """
        self._first = self.calls
        self._limit = self.calls + calls
        self._reserved = 0
        self._deadline = math.inf if seconds is None else perf_counter() + seconds
        self.decisions += 1

    def reserve(self, calls: int) -> None:
        """Put calls of the current decision aside, until another number (0) is reserved."""
        self._reserved = calls

    @property
    def left(self) -> int:
        """Calls that may be made now: those of the current decision, less the reserved ones.

        0 once its time is up.
        """
        if self.calls > self._first and perf_counter() >= self._deadline:
            return 0
        return max(0, self._limit - self.calls - self._reserved)

    def spend(self) -> None:
        """Count one call; raises `BudgetSpentError` when none is left."""
        # What was granted by `left` a moment ago is not refused because the time is up now.
        if self.calls + self._reserved >= self._limit:
            raise BudgetSpentError(f"all {self.calls} calls of the budget are spent")
        self.calls += 1

    def step(self, simulator: Simulator, action: int) -> Step:
        """Make a call that was counted by `spend`."""
        with self.emulator:
            return simulator.step(action)

    def save(self, simulator: Simulator) -> Any:
        """Save the simulator's state (no call)."""
        with self.states:
            return simulator.save()

    def restore(self, simulator: Simulator, state: Any) -> None:
        """Restore a saved state (no call)."""
        with self.states:
            simulator.restore(state)

    def seconds(self) -> dict[str, float]:
        """Seconds by part; the keys are `PARTS`."""
        watches = (
            self.emulator,
            self.states,
            self.features,
            self.novelty,
            self.bandit,
            self.tree,
        )
        return {part: watch.seconds for part, watch in zip(PARTS, watches, strict=True)}
