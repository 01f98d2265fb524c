"""Twins: actions that lead to the same state, and how not to buy it twice.

Many games have actions that often do the same: with the ball far away FIRE is NOOP, in a corridor
UP is DOWN. A call that buys a sibling's state buys nothing. So it is counted, for every two actions
of one node, how often they led to the same state, apart for what is known of them one node above.
"""

from typing import final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from olive_iw.bandits import ActionStatistics
from olive_iw.bandits.base import Mask, Values
from olive_iw.planners.tree import Tree

UNKNOWN, SAME, DIFFERENT = range(3)
"""Contexts of two actions at a node: what is known of where they led from the node above."""
LEAST_PAIRS = 5
"""Pairs that must have been seen in a context before anything is believed of it."""
DOUBT = 0.5
"""Actions whose chance to be a twin is greater may be skipped."""
ALIKE = 0.05
"""Chances that differ by no more count as equal."""
NO_DRAWS = np.empty(0)


@final
class TwinStatistics:
    """What an episode has shown of its twins; arrays have the shape (contexts, A, A), A actions."""

    def __init__(self) -> None:
        self.start(0, np.random.default_rng(0))

    def start(self, actions: int, generator: np.random.Generator) -> None:
        """Begin an episode; what is skipped is drawn from `generator`."""
        self.pairs = np.zeros((3, actions, actions), np.int64)
        """How often both of two actions were known at a node."""
        self.same = np.zeros((3, actions, actions), np.int64)
        """How often they led to the same state."""
        self._generator = generator

    def note(self, tree: Tree, child: int) -> None:
        """Compare a new node with its siblings."""
        if tree.is_only_child(child):
            return
        _note(child, tree.parent, tree.action, tree.children, tree.alike, self.pairs, self.same)

    def chances(self, tree: Tree, node: int, unsolved: Mask) -> tuple[Values, float]:
        """Chance of each untried action to lead where a known child of a node is, shape (A,).

        It is the greatest over the known children, same / (pairs + 1), and 0 of known actions.
        Also returns the greatest chance of an unsolved action.
        """
        rows = tree.parent, tree.children, tree.alike
        return _chances(node, unsolved, *rows, self.pairs, self.same)

    def avoid(
        self, tree: Tree, node: int, statistics: ActionStatistics
    ) -> tuple[ActionStatistics, int]:
        """Return what a bandit is to be told of a node, and how many untried actions are skipped.

        An untried action is skipped with its chance to be a twin, if that is above 1/2: it counts
        as solved in this search. If nothing else is left to choose, nothing is. Of the untried
        actions that are left, those with the least chance come first, the others are not told of.
        """
        if node == len(tree) - 1:  # nothing is known below the newest node
            return statistics, 0
        chances, greatest = self.chances(tree, node, statistics.unsolved)
        if greatest == 0:
            return statistics, 0
        draws = self._generator.random(len(chances)) if greatest > DOUBT else NO_DRAWS
        told, skipped = _told(
            node, chances, draws, statistics.unsolved, tree.children, tree.unsolved
        )
        return statistics._replace(unsolved=told), skipped


@njit(cache=True)
def _told(
    node: int,
    chances: Values,
    draws: Values,
    unsolved: Mask,
    children: NDArray[np.int32],
    unsolved_of: NDArray[np.bool_],
) -> tuple[Mask, int]:
    """Return which actions a bandit is told of, and how many are skipped.

    An action is skipped where its chance to be a twin is above `DOUBT` and its draw below that
    chance; there are no draws where no chance is so great.
    """
    told = unsolved.copy()
    skipped, left, least = 0, False, np.inf
    for action in range(told.shape[0]):
        if not told[action]:
            continue
        untried = children[node, action] < 0
        if untried and chances[action] > DOUBT and draws[action] < chances[action]:
            told[action] = False
            skipped += 1
            continue
        left = True
        if untried:
            least = min(least, chances[action])
    if not left:  # nothing is skipped then
        told[:] = unsolved
        skipped = 0
        for action in range(told.shape[0]):
            if told[action] and children[node, action] < 0:
                least = min(least, chances[action])
    for action in range(told.shape[0]):
        if children[node, action] < 0 and unsolved[action]:
            if not told[action]:
                unsolved_of[node, action] = False
            elif chances[action] > least + ALIKE:
                told[action] = False
    return told, skipped


@njit(cache=True)
def _context(
    node: int,
    one: int,
    other: int,
    parent: NDArray[np.int32],
    children: NDArray[np.int32],
    alike: NDArray[np.int32],
) -> int:
    """Say what is known of two actions at the node above a node."""
    above = parent[node]
    if above < 0 or children[above, one] < 0 or children[above, other] < 0:
        return UNKNOWN
    return SAME if alike[children[above, one]] == alike[children[above, other]] else DIFFERENT


@njit(cache=True)
def _note(
    child: int,
    parent: NDArray[np.int32],
    action: NDArray[np.int32],
    children: NDArray[np.int32],
    alike: NDArray[np.int32],
    pairs: NDArray[np.int64],
    same: NDArray[np.int64],
) -> None:
    node, one = parent[child], action[child]
    for other in range(children.shape[1]):
        sibling = children[node, other]
        if sibling >= 0 and sibling != child:
            context = _context(node, one, other, parent, children, alike)
            equal = alike[child] == alike[sibling]
            pairs[context, one, other] += 1
            pairs[context, other, one] += 1
            same[context, one, other] += equal
            same[context, other, one] += equal


@njit(cache=True)
def _chances(
    node: int,
    unsolved: Mask,
    parent: NDArray[np.int32],
    children: NDArray[np.int32],
    alike: NDArray[np.int32],
    pairs: NDArray[np.int64],
    same: NDArray[np.int64],
) -> tuple[Values, float]:
    chances, greatest = np.zeros(children.shape[1]), 0.0
    for one in range(children.shape[1]):
        if children[node, one] >= 0:
            continue
        for other in range(children.shape[1]):
            if children[node, other] >= 0:
                context = _context(node, one, other, parent, children, alike)
                seen = pairs[context, one, other]
                if seen >= LEAST_PAIRS:
                    chances[one] = max(chances[one], same[context, one, other] / (seen + 1))
        if unsolved[one]:
            greatest = max(greatest, chances[one])
    return chances, greatest
