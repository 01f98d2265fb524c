"""Statistics of the returns of each action: how many, their mean and their variance.

Before the first return they are 0, 0 and `INITIAL_VARIANCE`. After returns Q1, …, Qn the variance
is (INITIAL_VARIANCE + Σ(Qi − mean)²) / (n + 1): the initial one counts as one more observation.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

INITIAL_VARIANCE = 0.2


@njit(cache=True)
def updated(count: int, mean: float, variance: float, value: float) -> tuple[int, float, float]:
    """Count, mean and variance after one more return `value`."""
    new_mean = (count * mean + value) / (count + 1)
    spread = (value - mean) * (value - new_mean)
    new_variance = ((count + 1) * variance + spread) / (count + 2)
    return count + 1, new_mean, new_variance


@njit(cache=True)
def back_up(
    count: NDArray[np.int64],
    mean: NDArray[np.float64],
    variance: NDArray[np.float64],
    path_nodes: NDArray[np.int32],
    path_actions: NDArray[np.int32],
    rewards: NDArray[np.float64],
    discount: float,
) -> float:
    """Add one rollout's returns to the statistics of its edges, in place.

    The statistics have shape (nodes, actions); the path, from the root down, shape (length,).
    From its end back, every edge gets Q = reward + discount · Q', Q' being the next edge's return
    and 0 after the last. Returns the first edge's Q, 0 for an empty path.
    """
    value = 0.0
    for step in range(path_nodes.shape[0] - 1, -1, -1):
        node, action = path_nodes[step], path_actions[step]
        value = rewards[step] + discount * value
        new = updated(count[node, action], mean[node, action], variance[node, action], value)
        count[node, action], mean[node, action], variance[node, action] = new
    return value
