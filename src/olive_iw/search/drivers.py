"""Who makes the calls of rollouts: this process, one call after the other; see also `parallel`.

A rollout is a generator that walks the tree by itself and stops where it needs a call. A driver
starts rollouts, makes or orders their calls, and lets them go on.
"""

from collections.abc import Callable
from typing import TypeAlias

from olive_iw.search.rollout import Rollout
from olive_iw.search.search import Search
from olive_iw.simulators.base import Simulator

Start: TypeAlias = Callable[[Search], Rollout]
"""What starts a rollout."""


class Driver:
    """Carries rollouts out; makes every call in this process, when it is needed."""

    processor_seconds = 0.0
    """Processor time of the calls that other processes made."""

    def open(self, simulator: Simulator) -> None:
        """Get ready for an episode in a simulator."""

    def close(self) -> None:
        """End what runs beside this process; `open` begins anew."""

    def run(self, search: Search, start: Start) -> None:
        """Roll out until the budget is spent or the root is solved."""
        budget = search.ledger.budget
        while budget.left and not search.solved:
            for walk, action in start(search):
                if budget.left:  # else the rollout finds no child, ends, and backs up what it has
                    search.expand(walk.path[-1], action)
