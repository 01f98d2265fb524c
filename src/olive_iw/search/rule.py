"""What a rule is: one idea beyond the paper, as an object that a search asks at its moments."""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from olive_iw import settings
from olive_iw.bandits import ActionStatistics
from olive_iw.bandits.base import Values
from olive_iw.features.base import Atoms, Features
from olive_iw.simulators.base import Screen

if TYPE_CHECKING:
    from olive_iw.search.node import NodeData
    from olive_iw.search.search import Search
    from olive_iw.search.walk import Walk


class Stream(IntEnum):
    """Random streams of an episode. Only ever appended to: a number is part of every old run."""

    BANDIT = 0
    TIES = 1
    TWINS = 2
    READING = 3
    CHANCE = 4
    """Not a generator: seeds of simulators whose search has fresh chance."""
    DOMINANCE = 5


class Rule:
    """One idea beyond the paper, whole: its numbers, its state, and the moments it acts at.

    A rule is a dataclass. Its fields are its numbers, and thereby the options that people have.
    What else it knows begins with `start`. A search asks only the rules that override a moment,
    in their order; the others cost nothing. Random numbers come from `search.random(stream)`.
    """

    neutral: ClassVar[Mapping[str, Any]] = {}
    """The numbers with which it does nothing: what its options are where nobody asks for it."""
    needs: ClassVar[str] = ""
    """A number of learned features' network, without which it means nothing."""

    def __post_init__(self) -> None:
        settings.check(self)

    @property
    def acts(self) -> bool:
        """Whether its numbers make it do anything; a rule that does nothing is never asked."""
        return not self.neutral or any(getattr(self, it) != self.neutral[it] for it in self.neutral)

    @classmethod
    def idle(cls) -> Self:
        """Return the rule with the numbers with which it does nothing."""
        return cls(**cls.neutral)

    @property
    def moments(self) -> frozenset[str]:
        """Moments at which it is to be asked, mostly those that it overrides."""
        # Found once, when a planner is made: an empty method would cost a call at every node.
        return frozenset(
            name for name in MOMENTS if getattr(type(self), name) is not getattr(Rule, name)
        )

    # An episode, a decision, a search

    def check(self, features: Features | None) -> None:
        """Raise `InputError` if it cannot act on such features; at the making of a planner."""

    def start(self, search: "Search") -> None:
        """Begin an episode."""

    def start_decision(self, search: "Search") -> None:
        """Begin a decision."""

    def begin(self, search: "Search") -> None:
        """Begin a search: its table is empty, and nothing is solved."""

    # A node

    def draw(self, search: "Search", screen: Screen) -> Atoms | None:
        """Atoms of a new node in place of what its features say; None: its features say them."""

    def perceive(self, search: "Search", atoms: Atoms) -> Atoms:
        """Atoms that a new node keeps, given those of its features."""
        return atoms

    def sizes(self, size: int) -> int:
        """Count the atoms there can be as it reads them now, where features have `size`."""
        return size

    def read(self, seen: "NodeData", size: int) -> Atoms:
        """Atoms of a node, of features of a size, as it reads them now. Only one rule can."""
        return seen.atoms

    def verdict(self, search: "Search", node: int) -> bool | None:
        """Say whether a walk may go on from a node; None: its novelty decides."""

    def passed(self, search: "Search", node: int) -> None:
        """Note that a walk goes on from a node that this search has reached for the first time."""

    def pardons(self, search: "Search", node: int, first: bool) -> bool:
        """Let a walk go on from a node that shows nothing new; `first` in this search, or again."""
        return False

    # A rollout

    def walk(self, search: "Search", walk: "Walk") -> None:
        """Begin a rollout."""

    def offer(self, search: "Search", node: int, known: ActionStatistics) -> ActionStatistics:
        """Say what the bandit is told of a node's actions."""
        return known

    def pick(
        self, search: "Search", walk: "Walk", node: int, known: ActionStatistics
    ) -> int | None:
        """Choose an action without the bandit; None: the bandit chooses."""

    def stops(self, search: "Search", walk: "Walk") -> bool:
        """Say whether a rollout may make no further call."""
        return False

    def added(self, search: "Search", child: int) -> None:
        """Note a node that a call has added to the tree."""

    def arrive(self, search: "Search", child: int) -> int:
        """Node that a walk goes on from after a call: the new one, or another in its place."""
        return child

    def leaves_out(self, search: "Search", node: int, action: int) -> bool:
        """Say whether to leave an untried action out where a planner makes all children."""
        return False

    # A decision, after its rollouts

    def reserve(self, calls: int) -> int:
        """Say how many of a decision's calls to keep back for `further`; rules share them."""
        return 0

    def again(self, search: "Search") -> bool:
        """Begin another search if the last one has nothing left to search; say if it did."""
        return False

    def after(self, search: "Search", depth: float) -> None:
        """Learn from a decision's rollouts, whose mean depth is given."""

    def further(self, search: "Search") -> int | None:
        """Begin the search that the calls kept back are for.

        Return how many of them it may make before the search goes on as it was; None: all.
        """

    def allow(self, search: "Search", values: Values) -> Values:
        """Values of root actions, shape (A,), as they are compared; NaN: not to be taken."""
        return values

    def prefer(
        self, search: "Search", best: NDArray[np.int64], values: Values
    ) -> NDArray[np.int64]:
        """Keep the preferred ones of several root actions of the greatest value, ascending."""
        return best

    def take(self, search: "Search") -> int | None:
        """Take a root action, whatever its value; None: the greatest value decides."""

    def decided(self, search: "Search") -> None:
        """Learn from the decision's tree, just before its action is chosen."""


MOMENTS = tuple(
    name for name, method in vars(Rule).items() if callable(method) and not name.startswith("_")
)
"""Names of all moments."""
ROLLING_OUT = frozenset(
    ("passed", "walk", "offer", "pick", "stops", "arrive", "reserve", "again", "after", "further")
)
"""Moments of rollouts: planners that make none do not ask at them."""


def asked(rules: Sequence[Rule]) -> dict[str, tuple[Rule, ...]]:
    """Return for every moment the rules that are asked at it, in their order."""
    of_rules = [(rule, rule.moments) for rule in rules]
    return {name: tuple(rule for rule, its in of_rules if name in its) for name in MOMENTS}
