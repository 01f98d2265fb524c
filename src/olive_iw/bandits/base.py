"""What a bandit is: a rule that picks a rollout's next action from what earlier rollouts returned.

This is the fourth stage of the flow. The planner's tree holds the statistics of all nodes. A bandit
sees one node's and keeps nothing, so that one bandit serves all of them.
"""

from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from olive_iw.compiled import njit
from olive_iw.errors import InputError

INITIAL_VARIANCE = 0.2
"""Variance of the returns of an action before the first."""

Counts: TypeAlias = NDArray[np.int64]
Values: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Priors: TypeAlias = NDArray[np.float32]


class ActionStatistics(NamedTuple):
    """What is known of a node's actions: arrays of shape (actions,), not to be changed.

    A planner's tree has all of them; the first four are enough for most bandits.
    """

    count: Counts  # type: ignore[assignment]  # takes the place of what tuples have
    """How often each action was tried."""
    mean: Values
    """Mean of its returns; 0 before the first."""
    variance: Values
    """(INITIAL_VARIANCE + Σ(Qi − mean)²) / (n + 1) after returns Q1, …, Qn: the initial variance
    counts as one more observation."""
    unsolved: Mask
    """Actions that may be chosen: at least one."""
    low: Values | None = None
    """Least of its returns; inf before the first."""
    high: Values | None = None
    """Greatest of its returns; -inf before the first."""
    prior: Priors | None = None
    """Weight that a policy gives each action before any is tried, as a share or not; 1 if none
    does."""


@runtime_checkable
class Bandit(Protocol):
    """Chooses among a node's unsolved actions; the same arguments give the same choice."""

    def choose(self, statistics: ActionStatistics, generator: np.random.Generator) -> int:
        """Return an unsolved action; random numbers come from `generator` alone."""


def checked_choice(
    bandit: Bandit, statistics: ActionStatistics, generator: np.random.Generator
) -> int:
    """Let a bandit choose; an `InputError` tells of a choice that is no unsolved action."""
    # Looked at every time, as somebody else's bandit would otherwise loop or index beyond the tree.
    action = bandit.choose(statistics, generator)
    unsolved = statistics.unsolved
    if isinstance(action, (int, np.integer)) and 0 <= action < len(unsolved) and unsolved[action]:
        return int(action)
    raise InputError(
        f"the bandit {type(bandit).__name__} chose {action!r}; "
        f"it must return one of the unsolved actions, {np.flatnonzero(unsolved).tolist()}"
    )


@njit
def untried(count: Counts) -> bool:
    """Whether none of a node's actions was tried."""
    for tries in count:  # noqa: SIM110 - compiled
        if tries > 0:
            return False
    return True


@njit
def updated(count: int, mean: float, variance: float, value: float) -> tuple[int, float, float]:
    """Count, mean and variance after one more return `value`."""
    # From the last values alone: the tree keeps no list of returns.
    new_mean = (count * mean + value) / (count + 1)
    spread = (value - mean) * (value - new_mean)
    new_variance = ((count + 1) * variance + spread) / (count + 2)
    return count + 1, new_mean, new_variance


@njit
def back_up(
    count: Counts,
    mean: Values,
    variance: Values,
    low: Values,
    high: Values,
    path_nodes: NDArray[np.int32],
    path_actions: NDArray[np.int32],
    rewards: Values,
    discount: float,
    counted: int = 2**31,
) -> float:
    """Add one rollout's returns to the statistics of its edges, in place.

    The statistics have shape (nodes, actions); the path, from the root down, shape (length,).
    From its end back, every edge has Q = reward + discount · Q', Q' being the next edge's return
    and 0 after the last. Only the first `counted` edges have their statistics updated. Returns the
    first edge's Q, 0 for an empty path.
    """
    value = 0.0
    # From the end back: each edge's return needs that of the edge below it.
    for step in range(path_nodes.shape[0] - 1, -1, -1):
        node, action = path_nodes[step], path_actions[step]
        value = rewards[step] + discount * value
        if step >= counted:
            continue
        low[node, action] = min(low[node, action], value)
        high[node, action] = max(high[node, action], value)
        new = updated(count[node, action], mean[node, action], variance[node, action], value)
        count[node, action], mean[node, action], variance[node, action] = new
    return value
