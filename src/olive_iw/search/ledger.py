"""What an episode may spend, what it has counted, and where its time went."""

import math
from dataclasses import dataclass, field
from time import perf_counter


class BudgetSpentError(RuntimeError):
    """A planner tried to make a call beyond its budget."""


class CallBudget:
    """The one place where calls are spent: counts them, and refuses the one too many."""

    def __init__(self) -> None:
        self.calls = 0
        """Simulator steps made in the episode."""
        self._limit = 0
        self._reserved = 0
        self._first = 0
        self._deadline = math.inf

    def open(self, calls: int, seconds: float | None = None) -> None:
        """Begin a decision of at most `calls` calls; after `seconds` only its first may begin."""
        self._first = self.calls
        self._limit = self.calls + calls
        self._reserved = 0
        self._deadline = math.inf if seconds is None else perf_counter() + seconds

    def reserve(self, calls: int) -> None:
        """Put calls of the current decision aside, until another number (0) is reserved."""
        self._reserved = calls

    @property
    def left(self) -> int:
        """Calls that may be made now: those of the current decision, less the reserved ones."""
        # The first call comes in any case: without a child there is nothing to choose from.
        if self.calls > self._first and perf_counter() >= self._deadline:
            return 0
        return max(0, self._limit - self.calls - self._reserved)

    def spend(self) -> None:
        """Count one call; raises `BudgetSpentError` when none is left."""
        # What was granted by `left` a moment ago is not refused because the time is up now.
        if self.calls + self._reserved >= self._limit:
            raise BudgetSpentError(f"all {self.calls} calls of the budget are spent")
        self.calls += 1


@dataclass(slots=True)
class Counters:
    """What was counted in an episode."""

    nodes: int = 0
    """Nodes added to the tree."""
    twins: int = 0
    """Nodes among them in a state that a known sibling is in: calls that bought nothing."""
    skipped: int = 0
    """Untried actions that a rule kept from the bandit."""
    pruned_new: int = 0
    """Nodes among them that were pruned when first entered: they showed nothing new."""
    rollouts: int = 0
    """Walks from the root."""
    rollout_depth: int = 0
    """Depths at which the rollouts ended, added up."""
    decisions: int = 0
    """Decisions made."""
    tied_decisions: int = 0
    """Decisions in which several actions shared the greatest value."""
    unused_calls: int = 0
    """Calls that the decisions were given and did not make."""
    overflows: int = 0
    """Decisions in which a novelty table was full: pairs met after that counted as not new."""
    cache_hits: int = 0
    """Atoms that came from the features' cache."""
    cache_misses: int = 0
    """Atoms that had to be computed."""


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


PARTS = ("emulator", "save and restore", "features", "novelty", "bandit", "tree")


class Stopwatches:
    """Seconds of an episode, by part of the work."""

    def __init__(self) -> None:
        watches = [Stopwatch() for _ in PARTS]
        self.emulator, self.states, self.features, self.novelty, self.bandit, self.tree = watches

    def seconds(self) -> dict[str, float]:
        """Seconds by part; the keys are `PARTS`."""
        watches = vars(self).values()
        return {part: watch.seconds for part, watch in zip(PARTS, watches, strict=True)}


@dataclass(frozen=True, slots=True)
class Ledger:
    """The budget, the counters and the stopwatches of one episode."""

    budget: CallBudget = field(default_factory=CallBudget)
    counters: Counters = field(default_factory=Counters)
    stopwatches: Stopwatches = field(default_factory=Stopwatches)

    @property
    def calls(self) -> int:
        """Simulator steps made."""
        return self.budget.calls
