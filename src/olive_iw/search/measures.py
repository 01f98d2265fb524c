"""What is measured of a tree's arrays, compiled.

The root is node 0, and -1 stands for none. A child's number is greater than its parent's.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from olive_iw.bandits.base import Counts, Mask, Values
from olive_iw.compiled import njit

Ints: TypeAlias = NDArray[np.int32]


@njit
def root_actions(parent: Ints, action: Ints) -> Ints:
    """Root action above each node, shape (N,); that of the root says nothing."""
    above = np.empty(len(parent), np.int32)
    for node in range(1, len(parent)):  # parents come first: theirs is known by then
        above[node] = action[node] if parent[node] == 0 else above[parent[node]]
    return above


@njit
def safe_lengths(
    actions: int, parent: Ints, action: Ints, shaped: Values, terminal: Mask, at_end: int
) -> Counts:
    """See `Tree.safe_lengths`; `parent` says how many nodes count."""
    first = root_actions(parent, action)
    length = np.zeros(len(parent), np.int64)  # from the root; -1 below a loss
    longest = np.zeros(actions, np.int64)
    for node in range(1, len(parent)):
        above = length[parent[node]]
        length[node] = above + 1 if above >= 0 and shaped[node] >= 0.0 else -1
        counts = at_end if terminal[node] and length[node] >= 0 else length[node]
        longest[first[node]] = max(longest[first[node]], counts)
    return longest


@njit
def best_child_value(
    children: Ints, shaped: Values, value: Values, discount: float, untried: float = -np.inf
) -> float:
    """Greatest `shaped + discount · value` over the children there are, 0 at a leaf.

    A missing child counts as `untried`; -inf: it does not count.
    """
    best = -np.inf
    for child in children:
        best = max(best, shaped[child] + discount * value[child] if child >= 0 else untried)
    return 0.0 if best == -np.inf else best


@njit
def renew_values(
    node: int,
    parent: Ints,
    children: Ints,
    shaped: Values,
    value: Values,
    floor: Values,
    discount: float,
    untried: float,
) -> None:
    """Recompute the values from `node` upward, until one does not change."""
    while node >= 0:
        best = best_child_value(children[node], shaped, value, discount, untried)
        renewed = max(best, floor[node])
        if renewed == value[node]:  # then nothing changes above it either
            return
        value[node] = renewed
        node = parent[node]


@njit
def subtree(top: int, size: int, parent: Ints) -> Counts:
    """Nodes of the subtree below `top`, ascending: a node belongs if its parent does."""
    belongs = np.zeros(size, np.bool_)
    belongs[top] = True
    for node in range(top + 1, size):
        belongs[node] = parent[node] >= 0 and belongs[parent[node]]
    return np.nonzero(belongs)[0]


@njit
def safe_below(parent: Ints, shaped_reward: Values, terminal: Mask) -> tuple[Mask, Counts]:
    """Say which nodes no loss or end leads to, and how many more safe steps each has below it."""
    safe, ahead = np.ones(len(parent), np.bool_), np.zeros(len(parent), np.int64)
    for node in range(1, len(parent)):
        safe[node] = safe[parent[node]] and shaped_reward[node] >= 0.0 and not terminal[node]
    for node in range(len(parent) - 1, 0, -1):
        if safe[node]:
            ahead[parent[node]] = max(ahead[parent[node]], ahead[node] + 1)
    return safe, ahead


@njit
def values_up_to_any(parent: Ints, shaped: Values, discount: float) -> Values:
    """Greatest discounted shaped return from each node to any node below it, shape (N,).

    It is at least 0: the path may be left where it is.
    """
    best = np.zeros(len(parent))
    for node in range(len(parent) - 1, 0, -1):
        best[parent[node]] = max(best[parent[node]], shaped[node] + discount * best[node])
    return best
