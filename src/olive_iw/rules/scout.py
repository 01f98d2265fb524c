"""Scout: what is about to be done is walked on, before it is done.

Rollouts are spread evenly, and most end near the root: of the action that seems best only some ten
steps are known. But a loss is often sealed a dozen steps before it comes. So the calls that are
kept back go where they matter. Rollouts start from the deepest state known below the best action,
and nothing prunes them, until that action is known to be safe for long enough. If some of them all
end in losses, it is the next best action's turn. With the calls that are left the search goes on as
it was.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.rules.errand import PATIENCE, Sending
from olive_iw.search.measures import root_actions, safe_below
from olive_iw.search.search import Search
from olive_iw.search.tree import ROOT, Tree
from olive_iw.search.walk import Walk
from olive_iw.settings import Range

TRIES = 4
"""Rollouts for an action before it is the next one's turn."""
KEPT = 0.5
"""Share of a decision's calls that is kept back; look_further may ask for more."""
SHARE = 0.6
"""Share of the calls kept back that such rollouts may make; then the search goes on as before."""
AGAIN = 2
"""Steps that a node counts as less deep for every rollout that was sent there before."""


@final
@dataclass(unsafe_hash=True)
class Scout(Sending):
    """Sends the calls kept back to walk on from the best action, until it is known to be safe."""

    neutral: ClassVar = {"scout": 0}

    scout: Annotated[int, Range(0, 100)] = 20
    """Steps without a loss that are looked for below the action of the greatest value, from its
    deepest known state on, in calls that are kept back: half, or what look_further asks for."""

    def start(self, search: Search) -> None:
        """Begin an episode, in which no rollout was sent yet."""
        self._forget(search.tree)

    def start_decision(self, search: Search) -> None:
        """Begin a decision."""
        self._forget(search.tree)

    def _forget(self, tree: Tree) -> None:
        self._sends = False  # whether this decision sends rollouts
        self._fruitless = 0  # rollouts since the last call
        self._tries = np.zeros(tree.actions, np.int64)  # rollouts for each root action
        self._sent: dict[int, int] = {}  # how often one was sent to each node

    def reserve(self, calls: int) -> int:
        """Keep half of the calls back."""
        return round(KEPT * calls)

    def further(self, search: Search) -> int | None:
        """Begin to send rollouts, for some calls, unless enough is known of the best action."""
        tree = search.tree
        values = tree.values_up_to_any_node()
        best = int(np.where(np.isnan(values), -np.inf, values).argmax())
        if tree.safe_lengths(at_end=self.scout)[best] >= self.scout:
            return None
        self._sends = True
        search.begin(width=None, far=True)
        return round(SHARE * search.ledger.budget.left)

    def walk(self, search: Search, walk: Walk) -> None:
        """Send a rollout to the deepest state of the action whose turn it is."""
        if not self._sends or not search.far or self._fruitless == PATIENCE or self.is_sent(walk):
            return
        self._fruitless += 1
        target = self._target(search.tree)
        if target != ROOT:
            self._sent[target] = self._sent.get(target, 0) + 1
            self.send(walk, search.tree, target)

    def _target(self, tree: Tree) -> int:
        """Node to walk on from; the root if enough is known, or no way on is left."""
        size = tree.size
        values = tree.values_up_to_any_node()
        candidates = (values >= 0) & (self._tries < TRIES)  # what was not tried is NaN
        open_ = self._open(tree)
        if candidates.any():
            best = int(np.where(candidates, values, -np.inf).argmax())
            if tree.safe_lengths(at_end=self.scout)[best] >= self.scout:
                return ROOT
            self._tries[best] += 1
            open_ &= root_actions(tree.parent[:size], tree.action) == best
        depth = tree.depth[:size] - tree.depth[ROOT]
        for node, times in self._sent.items():
            depth[node] -= AGAIN * times
        return int(np.where(open_, depth, -size).argmax()) if open_.any() else ROOT

    @staticmethod
    def _open(tree: Tree) -> NDArray[np.bool_]:
        """Nodes below the root that no loss leads to, and below which something is left to try."""
        size = tree.size
        safe, _ = safe_below(tree.parent[:size], tree.shaped_reward, tree.terminal)
        safe[ROOT] = False
        return safe & ~tree.closed()

    def added(self, search: Search, child: int) -> None:
        """Note that a call was found to be made."""
        self._fruitless = 0
