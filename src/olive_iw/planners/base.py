"""What all planners share: decisions, and the step from root to root."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, NotRequired, TypedDict

import numpy as np

from olive_iw import settings
from olive_iw.bandits import Bandit, make_bandit
from olive_iw.errors import InputError
from olive_iw.features import Features, Values, make_features
from olive_iw.novelty import Judge, Judging
from olive_iw.search.decision import Decision, Risk, Stopped, best_actions, break_tie
from olive_iw.search.drivers import Driver
from olive_iw.search.ledger import Ledger
from olive_iw.search.rule import ROLLING_OUT, Rule, Stream
from olive_iw.search.search import Search
from olive_iw.search.tree import NONE, ROOT, Tree
from olive_iw.search.watch import SearchWatch
from olive_iw.settings import Range
from olive_iw.simulators.base import Simulator, Step

DISCOUNT = 0.99
DEPTH_LIMIT = 100
PAPERS = Judging()
"""How the paper judges novelty."""


class Common(TypedDict):
    """Arguments that all planners take, by keyword."""

    discount: NotRequired[float]
    """Discount γ per call, 0.99."""
    depth_limit: NotRequired[int]
    """Depth below the root that nothing is searched beyond, 100."""
    risk: NotRequired[Risk | None]
    """How losses count when an action is chosen; the paper's way if it is left out."""
    rules: NotRequired[Sequence[Rule]]
    """Our own ideas beyond the papers, in the order in which they are asked."""
    judging: NotRequired[Judging]
    """How novelty is judged; the paper's way if it is left out."""


@dataclass(frozen=True)
class SearchOptions:
    """Options of every kind of planner."""

    reseed_search: bool = False
    """Give the search fresh randomness at every call, so that it cannot foresee the chance that is
    in a saved state. What was searched below an action is then not kept when it is done, and doing
    it costs a call. For simulators that can be reseeded, and one search worker."""
    discount: Annotated[float, Range(0, 1, above=True)] = DISCOUNT
    """Discount γ per call. The paper: 0.99."""
    depth_limit: Annotated[int, Range(1, 10_000_000)] = DEPTH_LIMIT
    """No rollout goes deeper below the root."""
    risk_averse: bool = True
    """Count a lost life as -500,000 and negative rewards 50,000-fold when choosing the action."""

    def __post_init__(self) -> None:
        settings.check(self)

    def adapt(self, arguments: dict[str, Any]) -> None:
        """Say with what arguments a planner is made that has these options: of the same names."""
        arguments |= {field.name: getattr(self, field.name) for field in fields(self)}
        del arguments["reseed_search"]
        arguments["risk"] = Risk(averse=arguments.pop("risk_averse"))


@dataclass(frozen=True)
class WidthOptions(SearchOptions):
    """Options of planners that prune by a width."""

    width: Annotated[int, Range(1, 2)] = 1
    """Width of the novelty that prunes."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A moment between two decisions of an episode."""

    tree: Tree
    ledger: Ledger
    streams: list[np.random.Generator]
    rules: tuple[Rule, ...]
    memory: Any
    features: Any
    """What features remember of the episode, if they say so."""


class Planner(ABC):
    """Plans in a simulator, one decision at a time; a kind of planner is its `grow`.

    ```python
    planner.start(simulator, seed=0)
    while not planner.over:
        decision = planner.decide(calls=100)
        step = planner.advance(decision.action)
    ```
    """

    options: ClassVar[type[SearchOptions]] = WidthOptions
    """What people can tell this kind of planner."""
    takes_features: ClassVar[bool] = True
    """Whether it judges novelty."""
    never_asks: ClassVar[frozenset[str]] = ROLLING_OUT
    """Moments that do not come in this kind of planner: a rule that acts at one is refused."""
    rolls_out: ClassVar[bool] = False
    """Whether it grows the tree by rollouts; others expand node after node."""
    prunes: ClassVar[bool] = True
    """Whether nodes that show nothing new are dropped; otherwise they only come later."""

    def __init__(
        self,
        features: str | Features | None,
        width: int | None,
        bandit: str | Bandit = "uniform",
        *,
        untried: float = -np.inf,
        value_everywhere: bool = False,
        discount: float = DISCOUNT,
        depth_limit: int = DEPTH_LIMIT,
        risk: Risk | None = None,
        rules: Sequence[Rule] = (),
        judging: Judging = PAPERS,
    ) -> None:
        """Prune by novelty of `features` at `width` (1 or 2); None for either: no pruning.

        untried: what an action that was not tried is worth where values are compared
        value_everywhere: whether a learned value counts where more is known, too
        """
        if width not in (None, 1, 2):
            raise InputError(f"width {width} is not possible; it must be 1, 2 or None (no pruning)")
        if not 0 < discount <= 1:
            raise InputError(f"discount {discount} is not possible; it must be in (0, 1]")
        if depth_limit < 1:
            raise InputError(f"depth limit {depth_limit} is not possible; it must be at least 1")
        # Without a width nothing is judged, and atoms would be computed for nothing.
        self.features = None if features is None or width is None else make_features(features)
        self.bandit = make_bandit(bandit)
        self.width = None if self.features is None else width
        self.discount = discount
        self.depth_limit = depth_limit
        self.value_everywhere = value_everywhere
        self.reseed_search = False
        """Whether searches have fresh randomness at every call: they cannot foresee chance then.

        The simulator must be one with `HasChance`.
        """
        self.driver = Driver()
        """Who makes the calls of rollouts."""
        self.memory: Any = None
        """What a kind of planner remembers of an episode, besides its tree."""
        self._search = Search(
            self.features,
            self.bandit,
            Tree(0, discount, risk or Risk(), untried),
            depth_limit,
            # Copies: rules know things of an episode, and one list may serve several planners.
            tuple(deepcopy([rule for rule in rules if self._heeds(rule)])),
            Judge(depth_limit, judging),
            value_everywhere,
        )

    def __repr__(self) -> str:
        about = [
            f"width {self.width} on {type(self.features).__name__}" if self.width else "no pruning"
        ]
        about += [str(rule) for rule in self.rules] + [f"{self.tree.size} nodes"]
        return f"<{type(self).__name__}, {', '.join(about)}>"

    @classmethod
    def heeds(cls, rule: Rule) -> bool:
        """Whether all moments at which a rule acts come in this kind of planner."""
        return not rule.moments & cls.never_asks

    def _heeds(self, rule: Rule) -> bool:
        """Whether a rule is to be asked; `InputError` for one that would never be."""
        if rule.acts and not self.heeds(rule):
            never = ", ".join(sorted(rule.moments & self.never_asks))
            raise InputError(f"{rule} acts at {never}: {type(self).__name__} never asks there")
        return rule.acts

    @abstractmethod
    def grow(self, search: Search) -> Stopped:
        """Grow the tree until the budget is spent or nothing is left to search; say which.

        `decide` calls it; it begins a search and goes on by the verbs of `Search`.
        """

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that act, with what they know."""
        return self._search.rules

    @property
    def judging(self) -> Judging:
        """How novelty is judged."""
        return self._search.judge.judging

    @property
    def tree(self) -> Tree:
        """All that the episode has simulated below the current root."""
        return self._search.tree

    @property
    def ledger(self) -> Ledger:
        """What the episode has spent and counted."""
        return self._search.ledger

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
        search.reseeds = self.reseed_search  # here: it may be changed between two decisions
        search.start_decision(calls, seconds)
        stopped = self.grow(search)
        # Read after `grow`: an interrupted decision is not counted, but its calls are spent.
        made, counters = self.ledger.calls - spent, self.ledger.counters
        action, ties = choose_action(search)
        counters.decisions += 1
        counters.tied_decisions += ties > 1
        counters.unused_calls += calls - made
        counters.overflows += search.judge.overflowed
        values, visits = self.tree.action_values(), self.tree.visits(ROOT)
        return Decision(action, values, visits, made, stopped, ties)

    def advance(self, action: int) -> Step:
        """Do an action for good: its node becomes the root and keeps its subtree.

        An action that no rollout tried costs one call. With `reseed_search` every action does: the
        game's dice fall otherwise than the search's.
        """
        self._check_not_over()
        search, tree = self._search, self.tree
        if not 0 <= action < tree.actions:
            raise InputError(f"there is no action {action}; actions are 0 to {tree.actions - 1}")
        if self.reseed_search:  # the child that is known shows other dice than the game's
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
        # What `Values` say depends on all that they have met; other features say the same again.
        now, features = self._search, self.features
        met = features.bookmark() if isinstance(features, Values) else None
        return deepcopy(Bookmark(now.tree, now.ledger, now.streams, self.rules, self.memory, met))

    def return_to(self, bookmark: Bookmark) -> None:
        """Go back to a moment of the episode; the same decisions follow again."""
        search, kept = self._search, deepcopy(bookmark)  # so that it can be returned to again
        search.tree, search.ledger, search.streams = kept.tree, kept.ledger, kept.streams
        self.memory = kept.memory
        if isinstance(self.features, Values):
            self.features.return_to(kept.features)
        search.heed(kept.rules)
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
        self._search.judge.close()

    def _check_not_over(self) -> None:
        if self.over:
            raise InputError("the episode is over; call start() to begin another")


def choose_action(search: Search) -> tuple[int, int]:
    """Choose a root action of the greatest value, as the rules allow and prefer; count the ties."""
    # Rules say, in this order, which actions may be taken, learn from the tree, and perhaps take an
    # action themselves. Ties are broken only where none does.
    asked, values = search.asked, search.tree.action_values()
    for rule in asked["allow"]:
        values = rule.allow(search, values)
    best = best_actions(values)
    ties, action = len(best), None
    for rule in asked["decided"]:
        rule.decided(search)
    for rule in asked["take"]:
        action = rule.take(search)
    if action is None:
        for rule in asked["prefer"] if ties > 1 else ():
            best = rule.prefer(search, best, values)
        action = break_tie(best, search.random(Stream.TIES))
    return action, ties
