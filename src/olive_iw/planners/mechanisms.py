"""Mechanisms of surveyed systems, in the form of rules: who repeats, who ties, what is drawn."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.bandits.base import Values
from olive_iw.search.decision import of_longest, softmax
from olive_iw.search.rule import Rule, Stream
from olive_iw.search.search import Search
from olive_iw.search.tree import ROOT, Tree
from olive_iw.settings import Range


@final
@dataclass(unsafe_hash=True)
class HighestZero(Rule):
    """Of actions that tie at 0, takes the one with the highest known subtree (rollout-iw-2018)."""

    neutral: ClassVar = {"ties": "random"}

    ties: Literal["random", "longest", "highest-zero"] = "highest-zero"
    """Which of several actions of the greatest value is taken: any of them at random (the paper),
    or the one that begins the longest known path without a loss, or, only where that value is 0,
    the one with the highest known subtree (highest-zero)."""

    def prefer(self, search: Search, best: NDArray[np.int64], values: Values) -> NDArray[np.int64]:
        """Keep those that begin the longest paths, or, where all are worth 0, highest subtrees."""
        if self.ties == "longest":
            return of_longest(best, search.tree.safe_lengths())
        return of_longest(best, search.tree.heights()) if values[best[0]] == 0 else best


@final
@dataclass(unsafe_hash=True)
class Repeats(Rule):
    """Rollouts pass states that only repeat the one above, some times in a row (rollout-iw-2018).

    They go on by the same action alone; what repeats enters no table.
    """

    neutral: ClassVar = {"max_repeats": 0}

    max_repeats: Annotated[int, Range(0, 1000)] = 2
    """Rollouts pass nodes that show just what the one above shows, by that one's action, so many
    times in a row; a node after them is pruned. 0: such nodes are like others (the paper)."""

    def verdict(self, search: Search, node: int) -> bool | None:
        """Say whether a node that repeats is passed; None where it does not repeat."""
        repeats = self._count(search, node)
        return repeats <= self.max_repeats if repeats else None

    def passed(self, search: Search, node: int) -> None:
        """Let a walk go on by the same action only, from a node that passed as a repetition."""
        # As long as nothing changes, other actions are not worth their calls.
        tree = search.tree
        if search.judge.width is not None and self._count(search, node):
            tree.unsolved[node] = False
            tree.unsolved[node, tree.action[node]] = True

    def _count(self, search: Search, node: int) -> int:
        """Count the steps up from a node that showed just what the node above shows."""
        count = 0
        # One more than may be is enough: the node is pruned then.
        while node != ROOT and count <= self.max_repeats:
            above = int(search.tree.parent[node])
            if not np.array_equal(search.read(node), search.read(above)):
                break
            node, count = above, count + 1
        return count


@final
@dataclass(unsafe_hash=True)
class Tolerance(Rule):
    """Actions hardly worth less than the best count as equal to it (N-CPL)."""

    neutral: ClassVar = {"tie_tolerance": 0.0}

    tie_tolerance: Annotated[float, Range(0, 1e9)] = 1e-7
    """Actions whose values are so little below the greatest count as equal to it."""

    def allow(self, search: Search, values: Values) -> Values:
        """Lift values that are little below the greatest one to it."""
        greatest = np.nanmax(values)
        return np.where(values >= greatest - self.tie_tolerance, greatest, values)


@final
@dataclass(unsafe_hash=True)
class Drawn(Rule):
    """The root's action is drawn, by values and by the sizes of subtrees (π-IW+, π-HIW)."""

    neutral: ClassVar = {"action_temperature": 0.0}

    action_temperature: Annotated[float, Range(0, 1e9)] = 0.01
    """Temperature τ of the softmax of the actions' values / τ that the action is drawn from; 0: the
    action of the greatest value (the paper)."""
    size_temperature: Annotated[float, Range(0, 1e9)] = 1.0
    """Temperature of a second softmax, of the numbers of nodes below the actions, by which the
    first is multiplied where the action is drawn; 0: none."""

    def take(self, search: Search) -> int | None:
        """Draw an action."""
        shares = self.shares(search.tree)
        return int(search.random(Stream.TIES).choice(len(shares), p=shares))

    def shares(self, tree: Tree) -> NDArray[np.float64]:
        """Shares by which the root's action is drawn, shape (actions,)."""
        shares = softmax(tree.action_values(), self.action_temperature)
        if self.size_temperature:
            shares = shares * softmax(tree.sizes().astype(np.float64), self.size_temperature)
        total = math.fsum(shares.tolist())
        # Where the two contradict each other beyond all numbers, the values decide.
        return shares / total if total else softmax(tree.action_values(), 0.0)
