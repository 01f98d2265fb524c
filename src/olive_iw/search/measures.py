"""What is measured of a tree's arrays, compiled: values, paths without a loss, heights, sizes.

Nodes are numbered so that a child's number is greater than its parent's; -1 stands for none.
"""

import numpy as np
from numpy.typing import NDArray

from olive_iw.compiled import njit

NONE = -1


@njit
def safe_lengths(
    actions: int,
    parent: NDArray[np.int32],
    action: NDArray[np.int32],
    shaped_reward: NDArray[np.float64],
    terminal: NDArray[np.bool_],
    at_end: int,
) -> NDArray[np.int64]:
    """Count the steps of the longest safe path that each root action begins, shape (actions,).

    A path is safe if no step of it has a negative reward; one to a terminal node counts `at_end`.
    The other arrays are a tree's, each parent before its children; `parent` says how many count.
    """
    first = np.empty(len(parent), np.int32)  # root action above each node
    length = np.zeros(len(parent), np.int64)  # from the root; -1 below a loss
    longest = np.zeros(actions, np.int64)
    for node in range(1, len(parent)):
        above = parent[node]
        first[node] = action[node] if above == 0 else first[above]
        safe = length[above] >= 0 and shaped_reward[node] >= 0.0
        length[node] = length[above] + 1 if safe else -1
        counts = at_end if terminal[node] and length[node] >= 0 else length[node]
        longest[first[node]] = max(longest[first[node]], counts)
    return longest


@njit
def heights_below(
    actions: int, parent: NDArray[np.int32], action: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Count the steps of the longest path that each root action begins, shape (actions,)."""
    first = np.empty(len(parent), np.int32)  # root action above each node
    depth, heights = np.zeros(len(parent), np.int64), np.zeros(actions, np.int64)
    for node in range(1, len(parent)):
        first[node] = action[node] if parent[node] == 0 else first[parent[node]]
        depth[node] = depth[parent[node]] + 1
        heights[first[node]] = max(heights[first[node]], depth[node])
    return heights


@njit
def sizes_below(
    actions: int, parent: NDArray[np.int32], action: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Count the nodes that each root action leads to, shape (actions,); arrays as above."""
    first = np.empty(len(parent), np.int32)  # root action above each node
    sizes = np.zeros(actions, np.int64)
    for node in range(1, len(parent)):
        first[node] = action[node] if parent[node] == 0 else first[parent[node]]
        sizes[first[node]] += 1
    return sizes


@njit
def best_child_value(
    children: NDArray[np.int32],
    shaped_reward: NDArray[np.float64],
    value: NDArray[np.float64],
    discount: float,
    untried: float = -np.inf,
) -> float:
    """Greatest `reward + discount · value` over the children there are, 0 at a leaf.

    A missing child counts as `untried`; -inf: it does not count.
    """
    best = -np.inf
    for child in children:
        known = shaped_reward[child] + discount * value[child] if child >= 0 else untried
        best = max(best, known)
    return 0.0 if best == -np.inf else best


@njit
def subtree(top: int, size: int, parent: NDArray[np.int32]) -> NDArray[np.int64]:
    """Nodes of the subtree below `top`, ascending: a node belongs if its parent does."""
    belongs = np.zeros(size, np.bool_)
    belongs[top] = True
    for node in range(top + 1, size):
        belongs[node] = parent[node] >= 0 and belongs[parent[node]]
    return np.nonzero(belongs)[0]


@njit
def renew_values(
    node: int,
    parent: NDArray[np.int32],
    children: NDArray[np.int32],
    shaped_reward: NDArray[np.float64],
    value: NDArray[np.float64],
    floor: NDArray[np.float64],
    discount: float,
    untried: float,
) -> None:
    """Recompute the values from `node` upward, until one does not change."""
    while node != NONE:
        best = best_child_value(children[node], shaped_reward, value, discount, untried)
        renewed = max(best, floor[node])
        if renewed == value[node]:
            return
        value[node] = renewed
        node = parent[node]
