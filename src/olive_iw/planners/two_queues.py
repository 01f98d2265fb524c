"""2BFS: best-first search by two queues in turn, one for novelty and one for reward."""

import math
from collections import deque
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Literal, TypeAlias, Unpack, get_args

from olive_iw.errors import InputError
from olive_iw.features import Features
from olive_iw.novelty import Judging
from olive_iw.planners.base import Common, Planner, SearchOptions
from olive_iw.planners.breadth_first import children_of
from olive_iw.search.decision import Stopped
from olive_iw.search.search import Search
from olive_iw.search.tree import NONE, ROOT

Queues: TypeAlias = Literal["both", "one"]


@dataclass(frozen=True)
class TwoQueuesOptions(SearchOptions):
    """Options of 2BFS."""

    queues: Queues = "both"
    """Where a new node waits: in both queues, or in one (as in its authors' code): that for reward
    if it has a return other than 0, otherwise that for novelty."""


class TwoQueues(Planner):
    """Expands by turns the node that shows something new, and the one with the greatest return.

    Nothing is pruned: novelty only orders (2BFS). All that is kept is entered in the novelty
    table before the search begins, and costs nothing.
    """

    options = TwoQueuesOptions
    prunes = False

    def __init__(
        self,
        features: str | Features | None = "ram",
        queues: Queues = "both",
        **common: Unpack[Common],
    ) -> None:
        """Assemble a planner; see `RolloutIW` for the other arguments.

        queues: whether a new node waits in both queues, or in one, as in the authors' code: in
            the one for reward if its return is not 0, otherwise in the one for novelty
        """
        common["judging"] = replace(common.get("judging", Judging()), by="classic")
        super().__init__(features, 1, **common)
        if queues not in get_args(Queues):
            raise InputError(f"queues {queues!r} is not one of {', '.join(get_args(Queues))}")
        self.queues = queues

    def grow(self, search: Search) -> Stopped:
        """Expand a node of each queue by turns, that for novelty first."""
        search.begin(self.width)
        waiting = _Waiting(search)
        for node in _kept(search):
            waiting.enter(node)
        while (node := waiting.next()) != NONE:
            for child in children_of(search, node):
                if child == NONE:
                    return "budget"
                if not search.tree.was_entered(child):
                    waiting.enter(child, self.queues)
        return search.stopped


def _kept(search: Search) -> list[int]:
    """Return all nodes of the tree, breadth first: the order in which they enter the table."""
    found, queue = list[int](), deque([ROOT])
    while queue:
        found.append(queue.popleft())
        queue.extend(int(child) for child in search.tree.children[found[-1]] if child != NONE)
    return found


class _Waiting:
    """Nodes that wait to be expanded, in two queues that take turns."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._explore: list[tuple[int, float, int, int]] = []
        self._exploit: list[tuple[float, int, int, int]] = []
        self._returns: dict[int, float] = {}
        self._expanded: set[int] = set()
        self._turn = 0

    def enter(self, node: int, queues: Queues = "both") -> None:
        """Label a node by its novelty and its discounted return; let it wait, if it can grow."""
        search, tree = self._search, self._search.tree
        depth, gained = int(tree.depth[node] - tree.depth[ROOT]), 0.0
        search.enter(node, depth)  # for its label alone: what is pruned waits too
        if node != ROOT:
            # A product, not a power: those of C libraries differ in the last digit.
            step = math.prod([tree.discount] * (depth - 1)) * tree.shaped_reward[node]
            gained = self._returns[int(tree.parent[node])] + float(step)
        self._returns[node] = gained
        if tree.terminal[node] or depth >= search.depth_limit:
            return
        if (tree.children[node] != NONE).all():  # kept, and expanded in an earlier decision
            return
        width = 2 if tree.pruned[node] else 1  # the least tuple that is new
        if queues == "both" or gained == 0:
            heappush(self._explore, (width, -gained, depth, node))
        if queues == "both" or gained != 0:
            heappush(self._exploit, (-gained, width, depth, node))

    def next(self) -> int:
        """Take the next node; NONE if none waits.

        An empty queue passes its turn; a node that the other queue had first uses it up.
        """
        while self._explore or self._exploit:
            exploits, self._turn = self._turn, 1 - self._turn
            if not (self._exploit if exploits else self._explore):
                continue
            node = heappop(self._exploit)[-1] if exploits else heappop(self._explore)[-1]
            if node not in self._expanded:
                self._expanded.add(node)
                return node
        return NONE
