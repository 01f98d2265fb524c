"""The search tree, as arrays over its nodes: what planners, tests and the viewer read.

Nodes are numbered as they are added, so a child's number is greater than its parent's. The root
is node 0. Everything that belongs to one decision (bandit statistics, solved labels) is reset
lazily, when a node is first entered in that decision.
"""

from copy import copy
from typing import Annotated, Any, NamedTuple, Self, TypeAlias, get_type_hints

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from olive_iw.bandits import INITIAL_VARIANCE, ActionStatistics
from olive_iw.bandits.base import Counts, Mask, Priors, Values
from olive_iw.search.decision import Risk
from olive_iw.search.measures import (
    Ints,
    renew_values,
    root_actions,
    safe_lengths,
    subtree,
    values_up_to_any,
)
from olive_iw.search.node import FrozenState, NodeData
from olive_iw.simulators.base import Step
from olive_iw.simulators.messages import thaw

Keys: TypeAlias = NDArray[np.uint64]

ROOT = 0
NONE = -1
MEMORY = 3
"""Steps above the root that are remembered: with its own, what networks with a memory look at."""
AGAIN, FIRST, NEW = range(3)
"""How a walk reaches a node: again in this search, for the first time in it, for the first ever."""


class Rows(NamedTuple):
    """How an array is made."""

    shape: str
    """N: an entry per node; NA: per node and action."""
    kind: type[np.generic]
    new: float = 0
    """What a new node has."""


class Tree:
    """Nodes below the current root. Shapes: N nodes, A actions; only the first `size` rows count.

    Its arrays are listed once: they are made, copied and renumbered by what stands in their types.
    """

    parent: Annotated[Ints, Rows("N", np.int32, NONE)]  # the node above; NONE at the root
    action: Annotated[Ints, Rows("N", np.int32, NONE)]  # that led here; NONE at the root
    depth: Annotated[Ints, Rows("N", np.int32)]  # actions since the episode's start
    born: Annotated[Counts, Rows("N", np.int64)]  # decision that added the node
    reward: Annotated[Values, Rows("N", np.float64)]  # raw reward of the step into the node
    shaped_reward: Annotated[Values, Rows("N", np.float64)]  # the same with risk aversion
    total: Annotated[Values, Rows("N", np.float64)]  # shaped rewards since the episode's start
    terminal: Annotated[Mask, Rows("N", np.bool_)]
    lives: Annotated[Ints, Rows("N", np.int32)]
    alike: Annotated[Ints, Rows("N", np.int32, NONE)]  # action of its first twin, or its own
    children: Annotated[Ints, Rows("NA", np.int32, NONE)]  # NONE where missing
    value: Annotated[Values, Rows("N", np.float64)]  # greatest discounted shaped return to a leaf
    floor: Annotated[Values, Rows("N", np.float64, -np.inf)]  # least value, where one is learned
    count: Annotated[Counts, Rows("NA", np.int64)]  # bandit statistics, with mean and variance
    mean: Annotated[Values, Rows("NA", np.float64)]
    variance: Annotated[Values, Rows("NA", np.float64, INITIAL_VARIANCE)]
    low: Annotated[Values, Rows("NA", np.float64, np.inf)]  # least return, also a statistic
    high: Annotated[Values, Rows("NA", np.float64, -np.inf)]  # greatest return
    prior: Annotated[Priors, Rows("NA", np.float32, 1)]  # a policy's weights; they stay
    unsolved: Annotated[Mask, Rows("NA", np.bool_, True)]  # actions whose child is not solved
    solved: Annotated[Mask, Rows("N", np.bool_)]  # nothing is left to search below the node
    pruned: Annotated[Mask, Rows("N", np.bool_)]  # showed nothing new when it was judged last
    state_key: Annotated[Keys, Rows("N", np.uint64)]  # of the saved state, where one is wanted
    left_out: Annotated[Mask, Rows("NA", np.bool_)]  # actions that are not to be tried here
    _counted: Annotated[Counts, Rows("N", np.int64, NONE)]  # last decision that entered the node
    _entered: Annotated[Counts, Rows("N", np.int64, NONE)]  # last search that did

    def __init__(self, actions: int, discount: float, risk: Risk, untried: float = -np.inf) -> None:
        self.actions = actions
        self.discount = discount
        self.risk = risk
        self.untried = untried
        """Value of an action that was not tried; -inf: it is left out."""
        self.size = 0
        self.seen: list[NodeData] = []
        self.above: tuple[Step, ...] = ()
        """Steps that led to the root: the last few that were done for good."""
        self.decision = 0
        """Number of the current decision."""
        self.search = 0
        """Number of the current search; a decision that widens has a second one."""
        self._allocate(256)

    def _allocate(self, capacity: int) -> None:
        for name, rows in _ARRAYS.items():
            shape = (capacity, self.actions) if rows.shape == "NA" else (capacity,)
            setattr(self, name, np.full(shape, rows.new, rows.kind))

    def __len__(self) -> int:
        return self.size

    def emptied(self, actions: int) -> "Tree":
        """Return an empty tree for so many actions that discounts and weighs risks as this one."""
        return Tree(actions, self.discount, self.risk, self.untried)

    def add_root(self, seen: NodeData) -> None:
        """Begin the tree of an episode."""
        self.reward[self._append(seen)] = seen.step.reward

    def add(self, parent: int, action: int, seen: NodeData) -> int:
        """Hang a new node below `parent` and bring the values above it up to date."""
        node = self._append(seen)
        self.parent[node] = parent
        self.action[node] = action
        self.depth[node] = self.depth[parent] + 1
        self.count_reward(node, seen.step.reward)
        # To compare states is to compare screens: not done where there is no sibling.
        siblings = () if self.is_only_child(node) else self.children[parent].tolist()
        known = (other for other in siblings if other != NONE)
        twins = (self.alike[it] for it in known if seen.same_state(self.seen[it]))
        self.alike[node] = next(twins, action)
        self.children[parent, action] = node
        self.renew_values(parent)
        return node

    def count_reward(self, node: int, reward: float) -> None:
        """Say what the step into a node gives; the values above are not brought up to date."""
        parent = self.parent[node]
        self.reward[node] = reward
        shaped = self.risk.reward(reward, bool(self.lives[node] < self.lives[parent]))
        self.shaped_reward[node] = shaped
        self.total[node] = self.total[parent] + shaped

    def guide(self, node: int, prior: Priors, value: float, everywhere: bool) -> None:
        """Give a new node a policy's weights, shape (A,), and its learned value as a leaf.

        With `everywhere` the value is also the least that the node has once it has children. A
        terminal node is worth nothing.
        """
        self.prior[node] = prior
        self.unsolved[node] = prior > 0  # an action without a share is never tried
        if value == 0.0 or self.terminal[node]:
            return
        self.value[node] = value
        if everywhere:
            self.floor[node] = value
        self.renew_values(int(self.parent[node]))

    def renew_values(self, node: int) -> None:
        """Bring the values from a node, which has children, upward up to date."""
        rows = self.parent, self.children, self.shaped_reward, self.value, self.floor
        renew_values(node, *rows, self.discount, self.untried)

    def last_steps(self, node: int, count: int) -> list[Step]:
        """Return the last steps up to a node's own, `count` at most; at a start there are fewer."""
        steps: list[Step] = []
        while node != NONE and len(steps) < count:
            steps.append(self.seen[node].step)
            node = int(self.parent[node])
        return [*self.above, *steps[::-1]][-count:]

    def _append(self, seen: NodeData) -> int:
        if self.size == len(self.parent):  # twice the room, so that growing costs little a node
            self._keep(np.arange(self.size), 2 * self.size)
        node = self.size
        self.size += 1
        self.seen.append(seen)
        self.born[node] = self.decision
        self.terminal[node] = seen.step.terminal
        self.lives[node] = seen.step.lives
        return node

    def start_decision(self) -> None:
        """Forget statistics and solved labels (lazily)."""
        self.decision += 1
        self.search += 1

    def start_search(self) -> None:
        """Forget solved labels but keep the statistics: a second search in one decision."""
        self.search += 1

    def enter(self, node: int) -> int:
        """Note that a walk reached a node: `AGAIN` in this search, `FIRST` in it, or `NEW`."""
        last = self._entered[node]
        if last == self.search:
            return AGAIN
        self._entered[node] = self.search
        # Nodes are reset when they are met, and not all before a decision: walks meet few of them.
        if last == NONE:  # all is as it was made
            self._counted[node] = self.decision
            return NEW
        if self._counted[node] != self.decision:
            self._counted[node] = self.decision
            self.count[node] = 0
            self.mean[node] = 0.0
            self.variance[node] = INITIAL_VARIANCE
            self.low[node], self.high[node] = np.inf, -np.inf
        self.unsolved[node] = self.prior[node] > 0
        self.solved[node] = False
        return FIRST

    def was_entered(self, node: int) -> bool:
        """Whether a walk of the current search has reached this node."""
        return bool(self._entered[node] == self.search)

    def closed(self) -> Mask:
        """Nodes below which the current search has nothing left to search, bool, shape (N,)."""
        size = self.size
        closed: Mask = (self._entered[:size] == self.search) & self.solved[:size]
        return closed

    def visits(self, node: int) -> Counts:
        """How often each action was taken from a node in this decision, int64, shape (A,)."""
        fresh = self._counted[node] == self.decision
        return self.count[node].copy() if fresh else np.zeros(self.actions, np.int64)

    def statistics(self, node: int) -> ActionStatistics:
        """Rows of a node that was entered in this decision, for a bandit."""
        return ActionStatistics(
            self.count[node],
            self.mean[node],
            self.variance[node],
            self.unsolved[node],
            self.low[node],
            self.high[node],
            self.prior[node],
        )

    def saved_state(self, node: int) -> Any:
        """State of the simulator at a node that is not terminal, to be restored anywhere."""
        state = self.seen[node].state
        return thaw(state.content) if isinstance(state, FrozenState) else state

    def key_states(self) -> None:
        """Give every node that is not terminal a key of its saved state, 64 bits."""
        for node in range(self.size):
            if self.state_key[node] == 0 and not self.terminal[node]:
                # 0 stands for a node without a key.
                self.state_key[node] = xxh3_64_intdigest(self.seen[node].frozen) or 1

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

    def action_values(self) -> Values:
        """Value of each root action, float64, shape (A,); NaN where there is no child."""
        values = np.full(self.actions, np.nan if self.untried == -np.inf else self.untried)
        for action, child in enumerate(self.children[ROOT]):
            if child != NONE:
                values[action] = self.shaped_reward[child] + self.discount * self.value[child]
        return values

    def values_up_to_any_node(self) -> Values:
        """Value of each root action if its paths may be left anywhere, float64, shape (A,).

        NaN where there is no child.
        """
        parent = self.parent[: self.size]
        best = values_up_to_any(parent, self.shaped_reward, self.discount)
        values = np.full(self.actions, np.nan)
        for action, child in enumerate(self.children[ROOT]):
            if child != NONE:
                values[action] = self.shaped_reward[child] + self.discount * best[child]
        return values

    def safe_lengths(self, at_end: int = 0) -> Counts:
        """Count the steps of the longest path that each root action begins, shape (A,).

        No step of it has a negative shaped reward. A path to the game's end counts `at_end`.
        """
        losses = self.parent[: self.size], self.action, self.shaped_reward, self.terminal
        return safe_lengths(self.actions, *losses, at_end)

    def sizes(self) -> Counts:
        """Count the nodes below each root action, its child included, shape (A,)."""
        above = root_actions(self.parent[: self.size], self.action)
        return np.bincount(above[1:], minlength=self.actions)

    def heights(self) -> Counts:
        """Count the steps of the longest path from each root action, shape (A,)."""
        heights = np.zeros(self.actions, np.int64)
        above = root_actions(self.parent[: self.size], self.action)
        np.maximum.at(heights, above[1:], self.depth[1 : self.size] - self.depth[ROOT])
        return heights

    def is_new(self, node: int) -> bool:
        """Whether the current decision added the node."""
        return bool(self.born[node] == self.decision)

    def is_only_child(self, node: int) -> bool:
        """Whether the node just added hangs below the one added before it: it has no siblings."""
        return bool(self.parent[node] == node - 1)

    def is_twin(self, node: int) -> bool:
        """Whether a sibling was in the same state already when the node was added."""
        return bool(self.alike[node] != self.action[node])

    def path(self, node: int) -> list[int]:
        """Nodes from the root to `node`, both included."""
        nodes = [node]
        while nodes[-1] != ROOT:
            nodes.append(int(self.parent[nodes[-1]]))
        return nodes[::-1]

    def advance(self, action: int) -> None:
        """Make the child reached by `action` the root; keep its subtree, drop the rest."""
        self.above = (*self.above, self.seen[ROOT].step)[-MEMORY:]
        kept = subtree(int(self.children[ROOT, action]), self.size, self.parent)
        self._keep(kept, max(256, 2 * len(kept)))  # with room for what the next decision adds
        self.parent[ROOT] = NONE
        self.action[ROOT] = NONE

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a tree of the same nodes that can grow apart from this one."""
        other = copy(self)
        for name in _ARRAYS:
            setattr(other, name, getattr(self, name).copy())
        other.seen = list(self.seen)
        return other

    def _keep(self, kept: NDArray[np.int64], capacity: int) -> None:
        """Renumber the nodes `kept`, in ascending order, into arrays of `capacity` rows."""
        number = np.full(self.size + 1, NONE, np.int32)  # the last entry maps NONE to NONE
        number[kept] = np.arange(len(kept), dtype=np.int32)
        before = {name: getattr(self, name) for name in _ARRAYS}
        self._allocate(capacity)
        for name, array in before.items():
            rows = number[array[kept]] if name in ("parent", "children") else array[kept]
            getattr(self, name)[: len(kept)] = rows
        self.seen = [self.seen[node] for node in kept]
        self.size = len(kept)


_ARRAYS: dict[str, Rows] = {
    name: kind.__metadata__[0]
    for name, kind in get_type_hints(Tree, include_extras=True).items()
    if hasattr(kind, "__metadata__")
}
