"""Who makes the calls of rollouts: this process, one call after the other, or several.

A rollout is a generator that walks the tree by itself and stops where it needs a call. A driver
starts rollouts, makes or orders their calls, and lets them go on.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias, final

from olive_iw.search.rollout import Rollout
from olive_iw.search.search import Search
from olive_iw.simulators.base import Simulator

Start: TypeAlias = Callable[[Search], Rollout]
"""What starts a rollout."""


class Driver(ABC):
    """Carries rollouts out."""

    workers = 1
    """Processes that make the calls."""

    @property
    def processor_seconds(self) -> float:
        """Processor time of the calls that other processes made."""
        return 0.0

    def open(self, simulator: Simulator) -> None:  # noqa: B027
        """Get ready for an episode in a simulator; nothing to do for this process alone."""

    def close(self) -> None:  # noqa: B027
        """End what runs beside this process; `open` begins anew."""

    @abstractmethod
    def run(self, search: Search, start: Start) -> None:
        """Roll out until the budget is spent or the root is solved."""


@final
class SequentialDriver(Driver):
    """Makes every call in this process, when it is needed."""

    def run(self, search: Search, start: Start) -> None:
        """Carry out one rollout after the other."""
        budget = search.ledger.budget
        while budget.left and not search.solved:
            for walk, action in start(search):
                if budget.left:
                    search.expand(walk.path[-1], action)
