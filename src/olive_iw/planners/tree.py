"""The search tree, as arrays over its nodes: what planners, tests and the viewer read.

Nodes are numbered as they are added, so a child's number is greater than its parent's. The root
is node 0. Everything that belongs to one decision (bandit statistics, solved labels) is reset
lazily, when a node is first entered in that decision.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from olive_iw.bandits.statistics import INITIAL_VARIANCE
from olive_iw.features.base import Atoms
from olive_iw.planners.decision import Risk, best_child_value
from olive_iw.simulators.base import Step

ROOT = 0
NONE = -1


@dataclass(frozen=True, slots=True)
class NodeData:
    """What a node keeps of the simulator: never simulated again, never computed again."""

    step: Step
    state: Any
    """Saved state; None at a terminal node, from which nothing can follow."""
    atoms: Atoms


class Tree:
    """Nodes below the current root. Shapes: N nodes, A actions; only the first `size` rows count.

    parent, action  int32 (N,): where a node hangs; -1 at the root
    depth           int32 (N,): actions since the episode's start
    reward          float64 (N,): raw reward of the step into the node
    terminal        bool (N,); lives int32 (N,)
    children        int32 (N, A): -1 where missing
    value           float64 (N,): greatest risk-averse discounted return below the node, to a leaf
    shaped_reward   float64 (N,): reward of the step into the node with risk aversion
    count, mean, variance   int64, float64, float64 (N, A): bandit statistics
    unsolved        bool (N, A): actions whose child is not solved
    flying          int64 (N, A): rollouts under way through an action, in a parallel search
    blocked         bool (N, A): unsolved actions below which every call is being made already
    solved          bool (N,)
    """

    def __init__(self, actions: int, discount: float, risk: Risk) -> None:
        self.actions = actions
        self.discount = discount
        self.risk = risk
        self.size = 0
        self.seen: list[NodeData] = []
        self.decision = 0
        """Number of the current decision."""
        self.search = 0
        """Number of the current search; a decision that widens has a second one."""
        self.on_enter: Callable[[int], None] | None = None
        """Called with each node that a walk reaches, before its novelty is judged."""
        self._allocate(256)

    def _allocate(self, capacity: int) -> None:
        rows, table = capacity, (capacity, self.actions)
        self.parent = np.full(rows, NONE, np.int32)
        self.action = np.full(rows, NONE, np.int32)
        self.depth = np.zeros(rows, np.int32)
        self.reward = np.zeros(rows)
        self.terminal = np.zeros(rows, np.bool_)
        self.lives = np.zeros(rows, np.int32)
        self.children = np.full(table, NONE, np.int32)
        self.value = np.zeros(rows)
        self.shaped_reward = np.zeros(rows)
        self.count = np.zeros(table, np.int64)
        self.mean = np.zeros(table)
        self.variance = np.full(table, INITIAL_VARIANCE)
        self.unsolved = np.ones(table, np.bool_)
        self.flying = np.zeros(table, np.int64)
        self.blocked = np.zeros(table, np.bool_)
        self.solved = np.zeros(rows, np.bool_)
        self._counted = np.full(rows, NONE, np.int64)
        self._entered = np.full(rows, NONE, np.int64)

    _ARRAYS = (
        "parent",
        "action",
        "depth",
        "reward",
        "terminal",
        "lives",
        "children",
        "value",
        "shaped_reward",
        "count",
        "mean",
        "variance",
        "unsolved",
        "flying",
        "blocked",
        "solved",
        "_counted",
        "_entered",
    )

    def __len__(self) -> int:
        return self.size

    def add_root(self, seen: NodeData) -> None:
        """Begin the tree of an episode."""
        self._append(seen, lives=seen.step.lives)

    def add(self, parent: int, action: int, seen: NodeData) -> int:
        """Hang a new node below `parent` and bring the values above it up to date."""
        node = self._append(seen, lives=seen.step.lives)
        self.parent[node] = parent
        self.action[node] = action
        self.depth[node] = self.depth[parent] + 1
        life_lost = seen.step.lives < self.lives[parent]
        self.shaped_reward[node] = self.risk.reward(seen.step.reward, bool(life_lost))
        self.children[parent, action] = node
        _renew_values(
            parent, self.parent, self.children, self.shaped_reward, self.value, self.discount
        )
        return node

    def _append(self, seen: NodeData, lives: int) -> int:
        if self.size == len(self.parent):
            self._keep(np.arange(self.size), 2 * self.size)
        node = self.size
        self.size += 1
        self.seen.append(seen)
        self.reward[node] = seen.step.reward
        self.terminal[node] = seen.step.terminal
        self.lives[node] = lives
        return node

    def start_decision(self) -> None:
        """Forget statistics and solved labels (lazily)."""
        self.decision += 1
        self.search += 1

    def start_search(self) -> None:
        """Forget solved labels but keep the statistics: a second search in one decision."""
        self.search += 1

    def enter(self, node: int) -> bool:
        """Note that a walk reached a node; True if it is the first time in this search."""
        if self.on_enter is not None:
            self.on_enter(node)
        if self._counted[node] != self.decision:
            self._counted[node] = self.decision
            self.count[node] = 0
            self.mean[node] = 0.0
            self.variance[node] = INITIAL_VARIANCE
        if self._entered[node] == self.search:
            return False
        self._entered[node] = self.search
        self.unsolved[node] = True
        self.solved[node] = False
        return True

    def was_entered(self, node: int) -> bool:
        """Whether a walk of the current search has reached this node."""
        return bool(self._entered[node] == self.search)

    def visits(self, node: int) -> NDArray[np.int64]:
        """How often each action was taken from a node in this decision, int64, shape (A,)."""
        fresh = self._counted[node] == self.decision
        return self.count[node].copy() if fresh else np.zeros(self.actions, np.int64)

    def solve(self, node: int) -> None:
        """Label a node solved, and every node above it all of whose actions are."""
        self.solved[node] = True
        while node != ROOT:
            parent = int(self.parent[node])
            self.unsolved[parent, self.action[node]] = False
            if self.unsolved[parent].any():
                return
            self.solved[parent] = True
            node = parent

    def action_values(self) -> NDArray[np.float64]:
        """Value of each root action, float64, shape (A,); NaN where there is no child."""
        values = np.full(self.actions, np.nan)
        for action, child in enumerate(self.children[ROOT]):
            if child != NONE:
                values[action] = self.shaped_reward[child] + self.discount * self.value[child]
        return values

    def path(self, node: int) -> list[int]:
        """Nodes from the root to `node`, both included."""
        nodes = [node]
        while nodes[-1] != ROOT:
            nodes.append(int(self.parent[nodes[-1]]))
        return nodes[::-1]

    def advance(self, action: int) -> None:
        """Make the child reached by `action` the root; keep its subtree, drop the rest."""
        kept = _subtree(int(self.children[ROOT, action]), self.size, self.parent)
        self._keep(kept, max(256, 2 * len(kept)))
        self.parent[ROOT] = NONE
        self.action[ROOT] = NONE

    def copied(self) -> Self:
        """Return a tree of the same nodes that can grow apart from this one."""
        other = copy(self)
        for name in self._ARRAYS:
            setattr(other, name, getattr(self, name).copy())
        other.seen = list(self.seen)
        return other

    def _keep(self, kept: NDArray[np.int64], capacity: int) -> None:
        """Renumber the nodes `kept`, in ascending order, into arrays of `capacity` rows."""
        number = np.full(self.size + 1, NONE, np.int32)  # the last entry maps NONE to NONE
        number[kept] = np.arange(len(kept), dtype=np.int32)
        before = {name: getattr(self, name) for name in self._ARRAYS}
        self._allocate(capacity)
        for name, array in before.items():
            rows = array[kept]
            getattr(self, name)[: len(kept)] = (
                number[rows] if name in ("parent", "children") else rows
            )
        self.seen = [self.seen[node] for node in kept]
        self.size = len(kept)


@njit(cache=True)
def _subtree(top: int, size: int, parent: NDArray[np.int32]) -> NDArray[np.int64]:
    """Nodes of the subtree below `top`, ascending: a node belongs if its parent does."""
    belongs = np.zeros(size, np.bool_)
    belongs[top] = True
    for node in range(top + 1, size):
        belongs[node] = parent[node] >= 0 and belongs[parent[node]]
    return np.nonzero(belongs)[0]


@njit(cache=True)
def _renew_values(
    node: int,
    parent: NDArray[np.int32],
    children: NDArray[np.int32],
    shaped_reward: NDArray[np.float64],
    value: NDArray[np.float64],
    discount: float,
) -> None:
    """Recompute the values from `node` upward, until one does not change."""
    while node != NONE:
        renewed = best_child_value(children[node], shaped_reward, value, discount)
        if renewed == value[node]:
            return
        value[node] = renewed
        node = parent[node]
