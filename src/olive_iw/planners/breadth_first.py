"""Breadth-first search and IW(w): breadth-first search that drops states showing nothing new."""

from collections import deque

from olive_iw.features import Features
from olive_iw.planners.base import DEPTH_LIMIT, DISCOUNT, Planner
from olive_iw.planners.decision import Risk, Stopped
from olive_iw.planners.tree import NONE, ROOT


class BreadthFirst(Planner):
    """Expands nodes in the order of their depth, siblings in random order.

    Without features this is BrFS; with features and a width it is IW(width).
    """

    def __init__(
        self,
        features: str | Features | None = None,
        width: int | None = None,
        discount: float = DISCOUNT,
        depth_limit: int = DEPTH_LIMIT,
        risk: Risk | None = None,
    ) -> None:
        """Assemble a planner; see `RolloutIW` for the arguments."""
        super().__init__(features, width, discount=discount, depth_limit=depth_limit, risk=risk)

    def _plan(self) -> Stopped:
        self._novelty = None if self.width is None else self._table(self.width)
        self._enter(ROOT)
        queue = deque([ROOT])
        while queue:
            node = queue.popleft()
            for action in self._bandit_generator.permutation(self.tree.actions):
                child = self._child(node, int(action))
                if child == NONE:
                    return "budget"
                if self._enter(child):
                    queue.append(child)
        return "exhausted" if self.ledger.left else "budget"

    def _enter(self, node: int) -> bool:
        """Reach a node, once, at its least depth; True if it is to be expanded."""
        tree, depth = self.tree, self._depth(node)
        tree.enter(node)
        novel = True
        if self._novelty is not None:
            with self.ledger.novelty:
                novel = self._novelty.enter_first(tree.seen[node].atoms, depth)
        return novel and not tree.terminal[node] and depth < self.depth_limit
