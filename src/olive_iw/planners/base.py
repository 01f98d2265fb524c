"""What all planners share: decisions, and the step from root to root."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from olive_iw.bandits import Bandit, make_bandit
from olive_iw.bandits.base import Values
from olive_iw.errors import InputError
from olive_iw.features import Features, make_features
from olive_iw.planners.decision import (
    Decision,
    Risk,
    Stopped,
    best_actions,
    break_tie,
    of_longest,
    softmax,
)
from olive_iw.planners.dominance import DominatedActions
from olive_iw.planners.drivers import Driver, SequentialDriver
from olive_iw.planners.fitting import Fitted
from olive_iw.planners.house_rules import HouseRules
from olive_iw.planners.ledger import Ledger
from olive_iw.planners.search import Search
from olive_iw.planners.tree import NONE, ROOT, Tree
from olive_iw.planners.twins import TwinStatistics
from olive_iw.planners.watch import SearchWatch
from olive_iw.simulators.base import Simulator, Step

DISCOUNT = 0.99
DEPTH_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A moment between two decisions of an episode."""

    tree: Tree
    ledger: Ledger
    bandit_generator: np.random.Generator
    tie_generator: np.random.Generator
    twins: TwinStatistics | None
    dominance: DominatedActions | None
    fitted: Fitted
    memory: Any


def action_shares(tree: Tree, rules: HouseRules) -> NDArray[np.float64]:
    """Shares by which the root's action is drawn where it is drawn, shape (actions,)."""
    shares = softmax(tree.action_values(), rules.action_temperature)
    if rules.size_temperature:
        shares = shares * softmax(tree.sizes().astype(np.float64), rules.size_temperature)
    total = shares.sum()
    # Where the two contradict each other beyond all numbers, the values decide.
    return shares / total if total else softmax(tree.action_values(), 0.0)


class Planner(ABC):
    """Plans in a simulator, one decision at a time; a kind of planner is its `grow`.

    ```python
    planner.start(simulator, seed=0)
    while not planner.over:
        decision = planner.decide(calls=100)
        step = planner.advance(decision.action)
    ```
    """

    unheeded: ClassVar[frozenset[str]] = frozenset()
    """Rules that this kind of planner makes nothing of: asking for one is an error."""

    def __init__(
        self,
        features: str | Features | None,
        width: int | None,
        *,
        discount: float = DISCOUNT,
        depth_limit: int = DEPTH_LIMIT,
        risk: Risk | None = None,
        bandit: str | Bandit = "uniform",
        rules: HouseRules | None = None,
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
        self.driver: Driver = SequentialDriver()
        """Who makes the calls of rollouts."""
        self.memory: Any = None
        """What a kind of planner remembers of an episode, besides its tree."""
        self.rules = rules or HouseRules()
        untried = 0.0 if self.rules.untried_value == "zero" else -np.inf
        no_tree = Tree(0, discount, self.risk, untried)
        self._search = Search(self.features, self.bandit, no_tree, depth_limit, self.rules)

    @abstractmethod
    def grow(self, search: Search) -> Stopped:
        """Grow the tree until the budget is spent or nothing is left to search; say which.

        `decide` calls it; it begins a search and goes on by the verbs of `Search`.
        """

    @property
    def tree(self) -> Tree:
        """All that the episode has simulated below the current root."""
        return self._search.tree

    @property
    def ledger(self) -> Ledger:
        """What the episode has spent and counted."""
        return self._search.ledger

    @property
    def reseed_search(self) -> bool:
        """Whether searches have fresh randomness at every call: they cannot foresee chance then.

        The simulator must be one with `HasChance`.
        """
        return self._search.reseeds

    @reseed_search.setter
    def reseed_search(self, reseeds: bool) -> None:
        self._search.reseeds = reseeds

    @property
    def root(self) -> Step:
        """The step that the current root shows."""
        if not self.tree.size:
            raise InputError("no episode has begun; call start() first")
        return self.tree.seen[ROOT].step

    @property
    def grain(self) -> int:
        """Bits of a group as the current search reads features of bits; 1: each bit by itself."""
        return self._search.judge.grain

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.root.terminal

    def start(self, simulator: Simulator, seed: int, after: Sequence[int] = ()) -> Step:
        """Reset the simulator and begin an episode; its first root comes after some actions.

        These are no calls of the planner: somebody has done them before.
        """
        self.driver.open(simulator)
        return self._search.start(simulator, seed, after)

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
        search, spent = self._search, self.ledger.calls
        search.start_decision(calls, seconds)
        stopped = self.grow(search)
        made = self.ledger.calls - spent
        values = self.tree.action_values()
        best = best_actions(self._of_safe_actions(values), self.rules.tie_tolerance)
        counters = self.ledger.counters
        counters.decisions += 1
        if search.dominance is not None:
            search.dominance.learn(self.tree)
        counters.tied_decisions += len(best) > 1
        counters.unused_calls += calls - made
        counters.overflows += search.judge.overflowed
        tied = len(best)
        if self.rules.action_temperature:
            shares = action_shares(self.tree, self.rules)
            action = int(search.tie_generator.choice(len(shares), p=shares))
        else:
            if tied > 1 and self.rules.ties == "longest":
                best = of_longest(best, self.tree.safe_lengths())
            elif tied > 1 and self.rules.ties == "highest-zero" and values[best[0]] == 0:
                best = of_longest(best, self.tree.heights())
            action = break_tie(best, search.tie_generator)
        return Decision(action, values, self.tree.visits(ROOT), made, stopped, ties=tied)

    def _of_safe_actions(self, values: Values) -> Values:
        """Return the values of actions that are safe as far as the rules want it; NaN of others."""
        steps = self.rules.safe_steps
        if not steps:
            return values
        lengths = self.tree.safe_lengths(at_end=steps)
        return np.where(lengths >= min(steps, lengths.max()), values, np.nan)

    def advance(self, action: int) -> Step:
        """Do an action for good: its node becomes the root and keeps its subtree.

        An action that no rollout tried costs one call; so does every one with
        `reseed_search`, as what happens is not what the search drew.
        """
        self._check_not_over()
        search, tree = self._search, self.tree
        if not 0 <= action < tree.actions:
            raise InputError(f"there is no action {action}; actions are 0 to {tree.actions - 1}")
        if self.reseed_search:
            tree.children[ROOT, action] = search.simulator_at = NONE
        if tree.children[ROOT, action] == NONE:
            search.ledger.budget.open(1)
            search.expand(ROOT, action, for_good=True)
        with search.ledger.stopwatches.tree:
            tree.advance(action)
        search.simulator_at = NONE  # the nodes have new numbers
        return self.root

    def bookmark(self) -> Bookmark:
        """Remember this moment between two decisions."""
        now = self._search
        bandits, ties = now.bandit_generator, now.tie_generator
        learned = now.twins, now.dominance, now.judge.fitted, self.memory
        return deepcopy(Bookmark(now.tree, now.ledger, bandits, ties, *learned))

    def return_to(self, bookmark: Bookmark) -> None:
        """Go back to a moment of the episode: what follows is what followed then."""
        search, kept = self._search, deepcopy(bookmark)
        search.tree, search.ledger = kept.tree, kept.ledger
        search.twins, search.dominance = kept.twins, kept.dominance
        search.bandit_generator, search.tie_generator = kept.bandit_generator, kept.tie_generator
        search.judge.fitted, self.memory = kept.fitted, kept.memory
        search.simulator_at = NONE

    @contextmanager
    def watched_by(self, watch: SearchWatch) -> Iterator[None]:
        """Let somebody look on meanwhile; several may."""
        self._search.watches.append(watch)
        try:
            yield
        finally:
            self._search.watches.remove(watch)

    def close(self) -> None:
        """End what runs beside the planner and give memory back; `start` begins anew."""
        self.driver.close()
        self._search.close()

    def _check_not_over(self) -> None:
        if self.over:
            raise InputError("the episode is over; call start() to begin another")
