"""Rollout-IW: depth-first rollouts that stop at states showing nothing new (Algorithm 1)."""

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias, get_args

from olive_iw.bandits import Bandit
from olive_iw.errors import InputError
from olive_iw.features import Features
from olive_iw.novelty import NoveltyTable
from olive_iw.planners.base import DEPTH_LIMIT, DISCOUNT, Planner
from olive_iw.planners.decision import Risk, Stopped
from olive_iw.planners.extend import best_open_path
from olive_iw.planners.tree import NONE, ROOT

WhenExhausted: TypeAlias = Literal["stop", "widen", "extend"]
Rollout: TypeAlias = Iterator[tuple[list[int], int]]
"""A rollout under way. Where it needs a call it stops, at its path so far and the action to take;
it goes on from the child, or ends there if none was added to the tree."""


class RolloutIW(Planner):
    """Rollout-IW with any features and any bandit."""

    def __init__(
        self,
        features: str | Features | None,
        bandit: str | Bandit = "uniform",
        width: int | None = 1,
        *,
        when_exhausted: WhenExhausted = "stop",
        extend_share: float = 0.0,
        discount: float = DISCOUNT,
        depth_limit: int = DEPTH_LIMIT,
        risk: Risk | None = None,
    ) -> None:
        """Assemble a planner.

        features: what novelty is judged on; None: nothing is pruned
        bandit: which unsolved action a rollout takes
        width: 1, 2, or None (no pruning)
        when_exhausted: what to do when nothing novel is left before the budget is spent: `stop`
            (the paper), `widen` (search again with width 2), `extend` (walk the best known path
            to its leaf and go on from there, though it was pruned)
        extend_share: share of every decision's calls that goes into extending the best known
            path before the rollouts begin
        """
        super().__init__(
            features, width, discount=discount, depth_limit=depth_limit, risk=risk, bandit=bandit
        )
        if when_exhausted not in get_args(WhenExhausted):
            choices = ", ".join(get_args(WhenExhausted))
            raise InputError(f"when_exhausted {when_exhausted!r} is not one of {choices}")
        if not 0 <= extend_share <= 1:
            raise InputError(f"extend_share {extend_share} is not possible; it must be in [0, 1]")
        self.when_exhausted = when_exhausted
        self.extend_share = extend_share
        self._novelty: NoveltyTable | None = None

    def _plan(self) -> Stopped:
        self._novelty = None if self.width is None else self._table(self.width)
        self.ledger.reserve(self.ledger.left - round(self.extend_share * self.ledger.left))
        self._extend()
        self.ledger.reserve(0)
        self._search()
        if self.ledger.left and self.when_exhausted == "widen" and self.width == 1:
            self.tree.start_search()
            self._novelty = self._table(2)
            self._search()
        if self.ledger.left and self.when_exhausted == "extend":
            self._extend()
        return "exhausted" if self.ledger.left else "budget"

    def _search(self) -> None:
        """Roll out until the budget is spent or the root is solved."""
        while self.ledger.left and not self._solved():
            self._finish(self._rollout())

    def _solved(self) -> bool:
        """Whether nothing is left to search."""
        return bool(self.tree.was_entered(ROOT) and self.tree.solved[ROOT])

    def _extend(self) -> None:
        """Roll out from the leaf of the best known path, again and again."""
        while self.ledger.left:
            path = best_open_path(self.tree, self.depth_limit, self._tie_generator)
            if path is None:
                return
            self._finish(self._rollout(along=path))

    def _finish(self, rollout: Rollout) -> None:
        """Make the calls of a rollout, one by one, until it ends."""
        for path, action in rollout:
            if self.ledger.left:
                self._expand(path[-1], action)

    def _rollout(self, along: Sequence[int] = ()) -> Rollout:
        """Walk from the root to a pruned, terminal or out-of-budget node; back its return up.

        The nodes of `along`, a path from the root, are walked first and are never pruned.
        """
        path = [ROOT]
        while self._enter(path[-1], len(path) - 1) or len(path) <= len(along):
            if len(path) < len(along):
                child = along[len(path)]
                self.ledger.revisits += 1
            else:
                node, action = path[-1], self._choose(path[-1])
                child = self._known_child(node, action)
                if child == NONE:
                    yield path, action
                    child = int(self.tree.children[node, action])
            if child == NONE:
                break
            path.append(child)
        else:
            with self.ledger.tree:
                self.tree.solve(path[-1])
        self._back_up(path)

    def _enter(self, node: int, depth: int) -> bool:
        """Reach a node; True if the rollout goes on from it."""
        tree = self.tree
        first = tree.enter(node)
        if self._novelty is not None:
            atoms = tree.seen[node].atoms
            with self.ledger.novelty:
                judge = self._novelty.enter_first if first else self._novelty.enter_again
                novel = judge(atoms, depth)
            if not novel and node != ROOT:
                return False
        return not tree.terminal[node] and depth < self.depth_limit
