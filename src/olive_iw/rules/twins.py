"""Twins: actions that lead to the same state, and how not to buy it twice.

Many games have actions that often do the same: with the ball far away FIRE is NOOP, in a corridor
UP is DOWN. A call that buys a sibling's state buys nothing. So it is counted, for every two actions
of one node, how often they led to the same state, apart for what is known of them one node above.
"""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from olive_iw.bandits import ActionStatistics
from olive_iw.bandits.base import Counts, Mask, Values
from olive_iw.compiled import njit
from olive_iw.search.measures import Ints
from olive_iw.search.rule import Rule, Stream
from olive_iw.search.search import Search
from olive_iw.search.tree import Tree

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
@dataclass(unsafe_hash=True)
class Twins(Rule):
    """Leaves out untried actions that probably lead where a tried one leads.

    What the episode has shown is counted in `pairs` and `same`: how often both of two actions were
    known at a node, and how often they led to the same state; shape (contexts, A, A), A actions.
    """

    neutral: ClassVar = {"avoid_twins": False}

    avoid_twins: bool = True
    """Leave out untried actions that, by what the episode has shown, probably lead to the same
    state as a tried one. Where one does nevertheless, the walk goes on from the known state.
    States are the same if screen and RAM are (in simulators without RAM: screen and saved state).
    """

    def start(self, search: Search) -> None:
        """Begin an episode, of which nothing is known."""
        actions = search.tree.actions
        self.pairs = np.zeros((3, actions, actions), np.int64)
        self.same = np.zeros((3, actions, actions), np.int64)

    def added(self, search: Search, child: int) -> None:
        """Compare a new node with its siblings."""
        tree = search.tree
        if not tree.is_only_child(child):
            rows = tree.action, tree.parent, tree.children, tree.alike
            _note(child, *rows, self.pairs, self.same)

    def chances(self, tree: Tree, node: int, unsolved: Mask) -> tuple[Values, float]:
        """Chance of each untried action to lead where a known child of a node is, shape (A,).

        It is the greatest over the known children, same / (pairs + 1), and 0 of known actions.
        Also returns the greatest chance of an unsolved action.
        """
        rows = tree.parent, tree.children, tree.alike
        return _chances(node, unsolved, *rows, self.pairs, self.same)

    def offer(self, search: Search, node: int, known: ActionStatistics) -> ActionStatistics:
        """Skip untried actions that are likely twins; they count as solved in this search.

        An untried action is skipped with its chance to be a twin, if that is above 1/2. If nothing
        else is left to choose, nothing is. Of the untried actions that are left, those with the
        least chance come first: the bandit is not told of the others.
        """
        tree = search.tree
        if node == len(tree) - 1:  # nothing is known below the newest node
            return known
        chances, greatest = self.chances(tree, node, known.unsolved)
        if greatest == 0:
            return known
        # Drawn for all actions at once, and only where one may be skipped: drawing takes time.
        draws = NO_DRAWS
        if greatest > DOUBT:
            draws = search.random(Stream.TWINS).random(len(chances))
        told, skipped = _told(node, chances, draws, known.unsolved, tree.children, tree.unsolved)
        search.ledger.counters.skipped += skipped
        return known._replace(unsolved=told)

    def arrive(self, search: Search, child: int) -> int:
        """Go on from the sibling that is in the same state, if something is left there to do.

        The twin is then solved.
        """
        tree = search.tree
        if not tree.is_twin(child):
            return child
        above, first = tree.parent[child], tree.alike[child]
        original = int(tree.children[above, first])
        # A sibling that no walk of this search has entered is not judged yet.
        if not tree.unsolved[above, first] or not tree.was_entered(original):
            return child
        if not search.is_open(original):  # other rollouts are about to do what is left
            return child
        tree.enter(child)
        search.solve(child)
        return original


@njit
def _told(
    node: int, chances: Values, draws: Values, unsolved: Mask, children: Ints, unsolved_of: Mask
) -> tuple[Mask, int]:
    """Return which actions a bandit is told of, and how many are skipped.

    An action is skipped where its chance to be a twin is above `DOUBT` and its draw below that
    chance; there are no draws where no chance is so great.
    """
    told, skipped, least = unsolved.copy(), 0, np.inf
    for action in range(told.shape[0]):
        untried = told[action] and children[node, action] < 0
        if untried and chances[action] > DOUBT and draws[action] < chances[action]:
            told[action] = False
            skipped += 1
    if skipped and not told.any():  # nothing is skipped then
        told[:] = unsolved
        skipped = 0
    for action in range(told.shape[0]):
        if told[action] and children[node, action] < 0:
            least = min(least, chances[action])
    for action in range(told.shape[0]):
        if children[node, action] < 0 and unsolved[action]:
            if not told[action]:
                unsolved_of[node, action] = False  # for the whole search, not for this walk alone
            elif chances[action] > least + ALIKE:
                told[action] = False  # later: actions that are less likely twins come first
    return told, skipped


@njit
def _context(node: int, one: int, other: int, parent: Ints, children: Ints, alike: Ints) -> int:
    """Say what is known of two actions at the node above a node."""
    above = parent[node]
    if above < 0 or children[above, one] < 0 or children[above, other] < 0:
        return UNKNOWN
    return SAME if alike[children[above, one]] == alike[children[above, other]] else DIFFERENT


@njit
def _note(
    child: int, action: Ints, parent: Ints, children: Ints, alike: Ints, pairs: Counts, same: Counts
) -> None:
    """Count a new node with each of its siblings."""
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


@njit
def _chances(
    node: int, left: Mask, parent: Ints, children: Ints, alike: Ints, pairs: Counts, same: Counts
) -> tuple[Values, float]:
    chances, greatest = np.zeros(children.shape[1]), 0.0
    for one in range(children.shape[1]):
        if children[node, one] >= 0:
            continue
        for other in range(children.shape[1]):
            if children[node, other] >= 0:
                context = _context(node, one, other, parent, children, alike)
                seen = pairs[context, one, other]
                if seen >= LEAST_PAIRS:  # + 1: after a few pairs that were all alike, no certainty
                    chances[one] = max(chances[one], same[context, one, other] / (seen + 1))
        if left[one]:
            greatest = max(greatest, chances[one])
    return chances, greatest
