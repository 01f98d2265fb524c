"""The best known path: the way from the root to the most promising leaf."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from olive_iw.planners.tree import Tree


def best_open_path(
    tree: Tree, depth_limit: int, generator: np.random.Generator
) -> list[int] | None:
    """Path from the root to the best leaf that can be extended; None if there is no such leaf.

    The best leaf has the greatest risk-averse discounted return from the root; among equals the
    deepest, so that one long path grows instead of many short ones; then one at random.
    """
    size = tree.size
    depth = tree.depth[:size] - tree.depth[0]
    returns = _returns(tree.parent[:size], depth, tree.shaped_reward, tree.discount)
    leaves = (tree.children[:size] < 0).all(axis=1) & ~tree.terminal[:size] & (depth < depth_limit)
    candidates = np.flatnonzero(leaves)
    for merit in (returns, depth):
        if len(candidates):
            candidates = candidates[merit[candidates] == merit[candidates].max()]
    if not len(candidates):
        return None
    return tree.path(int(candidates[generator.integers(len(candidates))]))


@njit(cache=True)
def _returns(
    parent: NDArray[np.int32],
    depth: NDArray[np.int32],
    shaped_reward: NDArray[np.float64],
    discount: float,
) -> NDArray[np.float64]:
    """Discounted return from the root to every node; a parent's number is below its child's."""
    returns = np.zeros(len(parent))
    for node in range(1, len(parent)):
        step = discount ** (depth[node] - 1) * shaped_reward[node]
        returns[node] = returns[parent[node]] + step
    return returns
