"""What all planners share: an episode's tree, its ledger, and the step from root to root."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from olive_iw.bandits import ActionStatistics, Bandit, make_bandit
from olive_iw.bandits.base import checked_choice
from olive_iw.bandits.statistics import back_up
from olive_iw.errors import InputError
from olive_iw.features import Atoms, Features, make_features
from olive_iw.novelty import NoveltyTable, make_novelty_table
from olive_iw.planners.check_step import check_step
from olive_iw.planners.decision import Decision, Risk, Stopped, best_action
from olive_iw.planners.ledger import Ledger
from olive_iw.planners.tree import NONE, ROOT, NodeData, Tree
from olive_iw.randomness import generator
from olive_iw.simulators.base import Simulator, Step

DISCOUNT = 0.99
DEPTH_LIMIT = 100
NO_ATOMS = np.empty(0, np.int32)


class SearchWatch(Protocol):
    """Looks on while a planner searches (see `Planner.watch`); it must change nothing."""

    def on_enter(self, node: int) -> None:
        """Do something when a walk reaches a node, before its novelty is judged."""
        ...

    def on_rollout(self, path: Sequence[int]) -> None:
        """Do something when a rollout along `path` has ended and its return is backed up."""
        ...

    def watched(self, table: NoveltyTable) -> NoveltyTable:
        """Return a table to use in place of another, one that answers the same."""
        ...


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A moment between two decisions of an episode."""

    tree: Tree
    ledger: Ledger
    bandit_generator: np.random.Generator
    tie_generator: np.random.Generator


class Planner(ABC):
    """Plans in a simulator, one decision at a time.

    ```python
    planner.start(simulator, seed=0)
    while not planner.over:
        decision = planner.decide(calls=100)
        step = planner.advance(decision.action)
    ```
    """

    def __init__(
        self,
        features: str | Features | None,
        width: int | None,
        *,
        discount: float = DISCOUNT,
        depth_limit: int = DEPTH_LIMIT,
        risk: Risk | None = None,
        bandit: str | Bandit = "uniform",
    ) -> None:
        """Prune by novelty of `features` at `width` (1 or 2); None for either: no pruning."""
        if width not in (None, 1, 2):
            raise InputError(f"width {width} is not possible; it must be 1, 2 or None (no pruning)")
        if not 0 < discount <= 1:
            raise InputError(f"discount {discount} is not possible; it must be in (0, 1]")
        if depth_limit < 1:
            raise InputError(f"depth limit {depth_limit} is not possible; it must be at least 1")
        self.features = None if features is None or width is None else make_features(features)
        self.bandit = make_bandit(bandit)
        self.width = None if self.features is None else width
        self.discount = discount
        self.depth_limit = depth_limit
        self.risk = risk or Risk()
        self.ledger = Ledger()
        self.tree = Tree(0, discount, self.risk)
        self.watch: SearchWatch | None = None
        """Who looks on, from the next `start` on."""
        self.on_step: Callable[[Step], object] | None = None
        """Called with every step that the simulator shows: an episode's first, and each call's."""
        self._tables: dict[int, NoveltyTable] = {}

    def start(self, simulator: Simulator, seed: int) -> Step:
        """Reset the simulator and begin an episode."""
        self._simulator = simulator
        self._bandit_generator = generator(seed, 0)
        self._tie_generator = generator(seed, 1)
        self.ledger = Ledger()
        self.tree = Tree(simulator.action_count, self.discount, self.risk)
        self.tree.on_enter = None if self.watch is None else self.watch.on_enter
        step = simulator.reset()
        self._screen_shape: tuple[int, ...] | None = None
        self._check(step, "reset()")
        self._screen_shape = step.screen.shape
        if self.features is not None:
            self.features.prepare(simulator, step)
        if self.on_step is not None:
            self.on_step(step)
        self.tree.add_root(NodeData(step, self._save(step), self._atoms(step, None)))
        self._simulator_at = ROOT
        return step

    @property
    def root(self) -> Step:
        """The step that the current root shows."""
        if not self.tree.size:
            raise InputError("no episode has begun; call start() first")
        return self.tree.seen[ROOT].step

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.root.terminal

    def decide(self, calls: int = 100, seconds: float | None = None) -> Decision:
        """Plan from the current root with at most `calls` new calls; choose an action.

        With `seconds`, no call but the first begins later than that: planning can be stopped at
        any time, and the action is the best one known by then.
        """
        if calls < 1:
            raise InputError(f"a budget of {calls} calls is not possible; it must be at least 1")
        if seconds is not None and not seconds > 0:
            raise InputError(f"a budget of {seconds} seconds is not possible; more than 0 is")
        self._check_not_over()
        spent = self.ledger.calls
        self.ledger.open(calls, seconds)
        self.tree.start_decision()
        stopped = self._plan()
        values = self.tree.action_values()
        return Decision(
            action=best_action(values, self._tie_generator),
            values=values,
            visits=self.tree.visits(ROOT),
            calls=self.ledger.calls - spent,
            stopped=stopped,
        )

    def advance(self, action: int) -> Step:
        """Do an action for good: its node becomes the root and keeps its subtree.

        An action that no rollout tried costs one call.
        """
        self._check_not_over()
        if not 0 <= action < self.tree.actions:
            last = self.tree.actions - 1
            raise InputError(f"there is no action {action}; actions are 0 to {last}")
        if self.tree.children[ROOT, action] == NONE:
            self.ledger.open(1)
            self._expand(ROOT, action)
        with self.ledger.tree:
            self.tree.advance(action)
        self._nodes_renumbered()
        return self.root

    def bookmark(self) -> Bookmark:
        """Remember this moment between two decisions."""
        return Bookmark(
            self.tree.copied(),
            deepcopy(self.ledger),
            deepcopy(self._bandit_generator),
            deepcopy(self._tie_generator),
        )

    def return_to(self, bookmark: Bookmark) -> None:
        """Go back to a moment of the episode: what follows is what followed then."""
        self.tree = bookmark.tree.copied()
        self.ledger = deepcopy(bookmark.ledger)
        self._bandit_generator = deepcopy(bookmark.bandit_generator)
        self._tie_generator = deepcopy(bookmark.tie_generator)
        self._nodes_renumbered()

    def saved_state(self, node: int) -> Any:
        """State of the simulator at a node that is not terminal, to be restored anywhere."""
        return self.tree.seen[node].state

    def close(self) -> None:
        """End what runs beside the planner and give memory back; `start` begins anew."""
        self._tables.clear()

    def _nodes_renumbered(self) -> None:
        """Forget at which node the simulator stands."""
        self._simulator_at = NONE

    @abstractmethod
    def _plan(self) -> Stopped:
        """Grow the tree until the budget is spent or nothing is left to search."""

    def _table(self, width: int) -> NoveltyTable:
        """Return the novelty table of a width, emptied for this search."""
        if self.features is None:
            raise InputError("novelty needs features")
        if width not in self._tables:
            self._tables[width] = make_novelty_table(width, self.features.size, self.depth_limit)
        table = self._tables[width]
        table.start_decision()
        return table if self.watch is None else self.watch.watched(table)

    def _depth(self, node: int) -> int:
        """Actions from the current root to a node."""
        return int(self.tree.depth[node] - self.tree.depth[ROOT])

    def _child(self, node: int, action: int) -> int:
        """Return the node an action leads to: known, or for one call; NONE if no call is left."""
        child = self._known_child(node, action)
        if child != NONE:
            return child
        return self._expand(node, action) if self.ledger.left else NONE

    def _known_child(self, node: int, action: int) -> int:
        """Return the node an action leads to, if it is in the tree; NONE otherwise."""
        child = int(self.tree.children[node, action])
        self.ledger.revisits += child != NONE
        return child

    def _choose(self, node: int) -> int:
        """Let the bandit choose among a node's unsolved actions."""
        tree = self.tree
        with self.ledger.bandit:
            rows = tree.count[node], tree.mean[node], tree.variance[node], tree.unsolved[node]
            return checked_choice(self.bandit, ActionStatistics(*rows), self._bandit_generator)

    def _expand(self, node: int, action: int) -> int:
        """Simulate an action for one call, and add what it shows to the tree."""
        self.ledger.spend()
        step, state = self._simulate(node, action)
        seen = NodeData(step, state, self._atoms(step, self.tree.seen[node].step))
        self._simulator_at = self._add(node, action, seen)
        return self._simulator_at

    def _simulate(self, node: int, action: int) -> tuple[Step, Any]:
        """Do an action in the simulator; return what it shows, and the state after it."""
        if self._simulator_at != node:
            self.ledger.restore(self._simulator, self.saved_state(node))
        self._simulator_at = NONE  # until the child is in the tree: the call may be interrupted
        step = self.ledger.step(self._simulator, action)
        self._check(step, f"step({action})")
        return step, self._save(step)

    def _add(self, node: int, action: int, seen: NodeData) -> int:
        """Add what an action showed to the tree."""
        if self.on_step is not None:
            self.on_step(seen.step)
        with self.ledger.tree:
            child = self.tree.add(node, action, seen)
        self.ledger.nodes += 1
        return child

    def _back_up(self, path: Sequence[int], counted: int | None = None) -> None:
        """End a rollout: add its returns to the statistics of its edges.

        With `counted`, only that many edges from the root have their statistics updated; what
        came after them still counts in their returns.
        """
        tree, ledger = self.tree, self.ledger
        ledger.rollouts += 1
        ledger.rollout_depth += len(path) - 1
        with ledger.tree:
            above, below = np.array(path[:-1], np.int32), np.array(path[1:], np.int32)
            rewards = tree.reward[below]
            if counted is not None and counted < len(above):
                tail = rewards[counted:]
                rewards[counted - 1] += tail @ self.discount ** np.arange(1, len(tail) + 1)
                above, below, rewards = above[:counted], below[:counted], rewards[:counted]
            statistics = (tree.count, tree.mean, tree.variance)
            back_up(*statistics, above, tree.action[below], rewards, self.discount)
        if self.watch is not None:
            self.watch.on_rollout(path)

    def _save(self, step: Step) -> object:
        return None if step.terminal else self.ledger.save(self._simulator)

    def _atoms(self, step: Step, previous: Step | None) -> Atoms:
        features, ledger = self.features, self.ledger
        if features is None:
            return NO_ATOMS
        with ledger.features:
            hits = getattr(features, "cache_hits", 0)
            atoms = features.of_step(step, previous)
            hit = getattr(features, "cache_hits", 0) > hits
        ledger.cache_hits += hit
        ledger.cache_misses += not hit
        return atoms

    def _check_not_over(self) -> None:
        if self.over:
            raise InputError("the episode is over; call start() to begin another")

    def _check(self, step: Step, method: str) -> None:
        check_step(step, self._screen_shape, self._simulator, method)
