"""What a bandit is: a rule that picks a rollout's next action from what earlier rollouts returned.

This is the fourth stage of the flow. The planner's tree holds the statistics of all its nodes; a
bandit sees the rows of one node and keeps nothing of its own.
"""

from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Counts: TypeAlias = NDArray[np.int64]
Values: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]


@runtime_checkable
class Bandit(Protocol):
    """Chooses among a node's unsolved actions; the same arguments give the same choice."""

    def choose(
        self,
        count: Counts,
        mean: Values,
        variance: Values,
        unsolved: Mask,
        generator: np.random.Generator,
    ) -> int:
        """Return an unsolved action.

        All four arrays have shape (actions,): how often each action was tried, the mean and the
        variance of its returns (see `statistics`), and which actions may be chosen: at least one.
        Random numbers come from `generator` alone.
        """
        ...
