"""p-IW: IW(1) whose novelty heeds reward, and a race of root actions that is built on it."""

import math
from collections import deque
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Literal, NamedTuple, TypeAlias, Unpack, get_args

import numpy as np

from olive_iw.errors import InputError
from olive_iw.features import Features
from olive_iw.novelty import Judging
from olive_iw.planners.base import Common, Planner, SearchOptions
from olive_iw.planners.breadth_first import children_of
from olive_iw.search.decision import Stopped
from olive_iw.search.rule import Stream
from olive_iw.search.search import Search
from olive_iw.search.tree import NONE, ROOT

Order: TypeAlias = Literal["depth-reward", "reward"]


@dataclass(frozen=True)
class PIWOptions(SearchOptions):
    """Options of p-IW."""

    order: Order = "depth-reward"
    """Which node is expanded next: the least deep, then the one with most reward; or that with
    most reward."""


class PIW(Planner):
    """Expands nodes that show an atom with more reward than any before; others stay leaves.

    Reward is the undiscounted sum on the way from the root.
    """

    options = PIWOptions

    def __init__(
        self,
        features: str | Features | None = "ram",
        order: Order = "depth-reward",
        **common: Unpack[Common],
    ) -> None:
        """Assemble a planner; see `RolloutIW` for the other arguments.

        order: which node is expanded next: the least deep, among these the one with the greatest
            reward; or that with the greatest reward; then the one made first
        """
        common["judging"] = replace(common.get("judging", Judging()), by="reward")
        super().__init__(features, 1, **common)
        if order not in get_args(Order):
            raise InputError(f"order {order!r} is not one of {', '.join(get_args(Order))}")
        self.order = order

    def grow(self, search: Search) -> Stopped:
        """Expand node after node, in the order that was asked for."""
        search.begin(self.width)
        search.enter(ROOT, depth=0)
        queue = _Queue(self.order, search)
        queue.add(ROOT)
        while queue:
            if not queue.expand_next():
                return "budget"
        return search.stopped


class RacingPIW(PIW):
    """p-IW whose root actions race for the calls (a reconstruction; not the authors' algorithm).

    Each action has a queue of its own; they share the novelty table. There are ⌈log₂ A⌉ rounds
    with equal shares of the calls that expanding the root leaves. Those in the race expand a node
    each by turns, in a random order; a turn that a round's end cuts short goes on in the next.
    After a round the better half stays, by the best known return.
    """

    def grow(self, search: Search) -> Stopped:
        """Expand the root, then let its actions race."""
        search.begin(self.width)
        search.enter(ROOT, depth=0)
        budget, tree = search.ledger.budget, search.tree
        racing: deque[_Racer] = deque()
        for child in children_of(search, ROOT):
            if child == NONE:
                return "budget"
            racing.append(_Racer(int(tree.action[child]), _Queue(self.order, search)))
            if search.enter(child, depth=1):
                racing[-1].queue.add(child)
        calls, rounds = budget.left, max(1, (tree.actions - 1).bit_length())  # ⌈log₂ A⌉
        for number in range(1, rounds + 1):
            budget.reserve(calls - math.floor(calls * number / rounds))  # for later rounds
            out_of_calls = not _take_turns(racing)
            racing = _better_half(racing, tree.action_values(), search.random(Stream.TIES))
        budget.reserve(0)
        return "budget" if out_of_calls else search.stopped


class _Queue:
    """Nodes of a search that wait to be expanded, the best first."""

    def __init__(self, order: Order, search: Search) -> None:
        self._by_depth = order == "depth-reward"
        self._search = search
        self._nodes: list[tuple[int, float, int]] = []

    def __bool__(self) -> bool:
        return bool(self._nodes)

    def add(self, node: int) -> None:
        """Let a node wait."""
        tree = self._search.tree
        depth = int(tree.depth[node] - tree.depth[ROOT]) if self._by_depth else 0
        # A heap gives the least: minus what was earned, and of equals the node made first.
        heappush(self._nodes, (depth, float(tree.total[ROOT] - tree.total[node]), node))

    def expand_next(self) -> bool:
        """Expand the best node; False if the calls did not last: it then waits again."""
        search, best = self._search, heappop(self._nodes)
        depth = int(search.tree.depth[best[-1]] - search.tree.depth[ROOT])
        for child in children_of(search, best[-1]):
            if child == NONE:
                heappush(self._nodes, best)
                return False
            if not search.tree.was_entered(child) and search.enter(child, depth + 1):
                self.add(child)
        return True


class _Racer(NamedTuple):
    """A root action in the race, and its nodes that wait."""

    action: int
    queue: _Queue


def _take_turns(racing: deque[_Racer]) -> bool:
    """Let the racers expand a node each, by turns; False if the calls did not last.

    Then the first in the race is the one whose turn it is.
    """
    while any(racer.queue for racer in racing):
        if racing[0].queue and not racing[0].queue.expand_next():
            return False
        racing.rotate(-1)
    return True


def _better_half(
    racing: deque[_Racer], values: np.ndarray, generator: np.random.Generator
) -> deque[_Racer]:
    """Keep half of the race, rounded up, in its order: the racers of the greatest values."""
    # Shuffled first: sorting keeps the order of equals, so that ties are broken at random.
    actions = generator.permutation([racer.action for racer in racing]).tolist()
    staying = sorted(actions, key=lambda it: -values[it])[: math.ceil(len(actions) / 2)]
    return deque(racer for racer in racing if racer.action in staying)
