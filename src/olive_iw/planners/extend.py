"""Paths to leaves from which a search may go on: the most promising one, or the rarest."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from olive_iw.planners.tree import NONE, ROOT, Tree


def best_open_path(
    tree: Tree, depth_limit: int, generator: np.random.Generator
) -> list[int] | None:
    """Path from the root to the best leaf that can be extended; None if there is no such leaf.

    The best leaf has the greatest risk-averse discounted return from the root; among equals the
    deepest, so that one long path grows instead of many short ones; then one at random.
    """
    candidates = _open_leaves(tree, depth_limit)
    depth = tree.depth[: tree.size] - tree.depth[ROOT]
    returns = _returns(tree.parent[: tree.size], depth, tree.shaped_reward, tree.discount)
    for merit in (returns, depth):
        if len(candidates):
            candidates = candidates[merit[candidates] == merit[candidates].max()]
    if not len(candidates):
        return None
    return tree.path(int(candidates[generator.integers(len(candidates))]))


def rarest_open_paths(tree: Tree, depth_limit: int) -> list[list[int]]:
    """Paths to the leaves that the current search has reached, those of rare atoms first.

    A leaf is as rare as the atom of it that the fewest nodes reached by the search show.
    """
    reached = [node for node in range(tree.size) if tree.was_entered(node)]
    atoms = np.concatenate([tree.seen[node].atoms for node in reached])
    _, places, counts = np.unique(atoms, return_inverse=True, return_counts=True)
    ends = np.cumsum([len(tree.seen[node].atoms) for node in reached])[:-1]
    shown = dict(zip(reached, np.split(counts[places], ends), strict=True))
    leaves = [node for node in _open_leaves(tree, depth_limit).tolist() if node in shown]
    leaves.sort(key=lambda node: shown[node].min(initial=tree.size))
    return [tree.path(node) for node in leaves]


def _open_leaves(tree: Tree, depth_limit: int) -> NDArray[np.int64]:
    """Nodes without children from which a search could go on."""
    size = tree.size
    depth = tree.depth[:size] - tree.depth[ROOT]
    leaves = (tree.children[:size] == NONE).all(axis=1)
    return np.flatnonzero(leaves & ~tree.terminal[:size] & (depth < depth_limit))


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
