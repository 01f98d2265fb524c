"""What a bandit is: a rule that picks a rollout's next action from what earlier rollouts returned.

This is the fourth stage of the flow. The planner's tree holds the statistics of all its nodes; a
bandit sees those of one node and keeps nothing of its own.
"""

from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from olive_iw.errors import InputError

Counts: TypeAlias = NDArray[np.int64]
Values: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]


class ActionStatistics(NamedTuple):
    """What is known of a node's actions: four arrays of shape (actions,), not to be changed."""

    count: Counts  # type: ignore[assignment]  # takes the place of what tuples have
    """How often each action was tried."""
    mean: Values
    """Mean of its returns; 0 before the first."""
    variance: Values
    """Variance of its returns; see `statistics`."""
    unsolved: Mask
    """Actions that may be chosen: at least one."""


@runtime_checkable
class Bandit(Protocol):
    """Chooses among a node's unsolved actions; the same arguments give the same choice."""

    def choose(self, statistics: ActionStatistics, generator: np.random.Generator) -> int:
        """Return an unsolved action; random numbers come from `generator` alone."""
        ...


def checked_choice(
    bandit: Bandit, statistics: ActionStatistics, generator: np.random.Generator
) -> int:
    """Let a bandit choose; an `InputError` tells of a choice that is no unsolved action."""
    action = bandit.choose(statistics, generator)
    unsolved = statistics.unsolved
    if isinstance(action, (int, np.integer)) and 0 <= action < len(unsolved) and unsolved[action]:
        return int(action)
    raise InputError(
        f"the bandit {type(bandit).__name__} chose {action!r}; "
        f"it must return one of the unsolved actions, {np.flatnonzero(unsolved).tolist()}"
    )
