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


def unsafe_path(tree: Tree, steps: int) -> list[int] | None:
    """Path to where the most promising path must be extended to be `steps` long without a loss.

    That is the leaf of the greatest risk-averse return, among equals the deepest. A node all of
    whose known children lead to a loss counts as a leaf as long as an action of it is untried. None
    if the path is long enough, or ends with the game, or has a loss: then no path is without.
    """
    size = tree.size
    depth = tree.depth[:size] - tree.depth[ROOT]
    returns = _returns(tree.parent[:size], depth, tree.shaped_reward, tree.discount)
    node = _most_promising(
        returns, depth, tree.children, tree.value, tree.terminal, tree.unsolved, tree.entered
    )
    if depth[node] >= steps or tree.terminal[node] or returns[node] < 0:
        return None
    return tree.path(node)


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


@njit(cache=True)
def _most_promising(
    returns: NDArray[np.float64],
    depth: NDArray[np.int32],
    children: NDArray[np.int32],
    value: NDArray[np.float64],
    terminal: NDArray[np.bool_],
    unsolved: NDArray[np.bool_],
    entered: NDArray[np.bool_],
) -> int:
    """Node of the greatest return, then depth, among leaves and nodes that know only losses below.

    Of a node that the search has `entered`, actions that it has solved are not untried.
    """
    best = NONE
    for node in range(len(returns)):
        known, untried = False, False
        for action in range(children.shape[1]):
            if children[node, action] >= 0:
                known = True
            elif unsolved[node, action] or not entered[node]:
                untried = True
        if terminal[node] or not known or (value[node] < 0 and untried):
            gain = 1.0 if best == NONE else returns[node] - returns[best]
            if gain > 0 or (gain == 0 and depth[node] > depth[best]):
                best = node
    return best
