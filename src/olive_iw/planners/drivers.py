"""Who makes the calls of rollouts: this process, one call after the other, or several.

A rollout is a generator that walks the tree by itself and stops where it needs a call. A driver
starts rollouts, makes or orders their calls, and lets them go on.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from typing import TypeAlias, final

from olive_iw.bandits import ActionStatistics
from olive_iw.planners.search import Search
from olive_iw.simulators.base import Simulator

Rollout: TypeAlias = Generator[tuple[list[int], int], None, list[int]]
"""A rollout under way. Where it needs a call it stops, at its path so far and the action to take;
it goes on from the child, or ends there if none was added to the tree. It returns its path."""

StatisticsOf: TypeAlias = Callable[[int], ActionStatistics]
"""What a rollout's bandit is told of a node."""


class Driver(ABC):
    """Carries rollouts out."""

    @property
    def processor_seconds(self) -> float:
        """Processor time of the calls that other processes made."""
        return 0.0

    def open(self, simulator: Simulator) -> None:  # noqa: B027
        """Get ready for an episode in a simulator; nothing to do for this process alone."""

    def close(self) -> None:  # noqa: B027
        """End what runs beside this process; `open` begins anew."""

    @abstractmethod
    def run(self, search: Search, start: Callable[[StatisticsOf], Rollout]) -> None:
        """Roll out, by what `start` returns, until the budget is spent or the root is solved."""


@final
class SequentialDriver(Driver):
    """Makes every call in this process, when it is needed."""

    def run(self, search: Search, start: Callable[[StatisticsOf], Rollout]) -> None:
        """Carry out one rollout after the other."""
        budget, statistics = search.ledger.budget, search.tree.statistics
        while budget.left and not search.solved:
            finish(search, start(statistics))


def finish(search: Search, rollout: Rollout) -> None:
    """Make the calls of a rollout in this process, one by one, until it ends."""
    for path, action in rollout:
        if search.ledger.budget.left:
            search.expand(path[-1], action)
