"""Breadth-first search and IW(w), which drops states showing nothing new; how nodes expand."""

from collections import deque
from collections.abc import Iterator
from typing import Unpack

from olive_iw.features import Features
from olive_iw.planners.base import Common, Planner
from olive_iw.search.decision import Stopped
from olive_iw.search.rule import Stream
from olive_iw.search.search import Search
from olive_iw.search.tree import NONE, ROOT


class BreadthFirst(Planner):
    """Expands nodes in the order of their depth, siblings in random order.

    Without features this is BrFS; with features and a width it is IW(width).
    """

    def __init__(
        self,
        features: str | Features | None = None,
        width: int | None = None,
        **common: Unpack[Common],
    ) -> None:
        """Assemble a planner; see `RolloutIW` for the arguments."""
        super().__init__(features, width, **common)

    def grow(self, search: Search) -> Stopped:
        """Expand node after node, each once, at its least depth."""
        search.begin(self.width)
        search.enter(ROOT, depth=0)
        queue = deque([(ROOT, 0)])  # what is kept of the last decision is entered like new nodes
        while queue:
            node, depth = queue.popleft()
            for child in children_of(search, node):
                if child == NONE:
                    return "budget"
                if search.enter(child, depth + 1):
                    queue.append((child, depth + 1))
        return search.stopped


def children_of(search: Search, node: int) -> Iterator[int]:
    """Go through a node's children in random order, making those that are missing.

    Actions that a rule leaves out are passed over. NONE, at last, says that no call was left.
    """
    # In random order, so that no action is favoured where the calls end among siblings.
    for action in map(int, search.random(Stream.BANDIT).permutation(search.tree.actions)):
        child = search.known_child(node, action)
        if child == NONE:
            if any(rule.leaves_out(search, node, action) for rule in search.asked["leaves_out"]):
                continue
            if search.ledger.budget.left:
                child = search.expand(node, action)
        yield child
        if child == NONE:
            return
