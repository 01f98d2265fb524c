"""Which nodes must show something new, and which table says whether they do."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, final

import numpy as np

from olive_iw.errors import InputError
from olive_iw.features.base import Atoms
from olive_iw.novelty.base import NoveltyTable
from olive_iw.novelty.reward import RewardTable
from olive_iw.novelty.width1 import Width1Table
from olive_iw.novelty.width2 import Width2Table

By: TypeAlias = Literal["depth", "classic", "reward"]
Kept: TypeAlias = Literal["judged", "free", "known", "first", "retested"]


@dataclass(frozen=True, slots=True)
class Judging:
    """How novelty is judged: as in the paper by default, or as other systems do."""

    by: By = "depth"
    """When an atom is new in a decision.

    depth: where it was met only deeper (the paper).
    classic: where it was not met at all.
    reward: where it was met only with less reward on the way from the root.
    """
    kept: Kept = "judged"
    """Nodes that an earlier decision simulated.

    judged: like new ones (the paper).
    free: never pruned; their atoms stay new for other nodes.
    known: the same, but pruned where new nodes have shown all of their atoms less deep.
    first: judged like new ones before the search begins, in the order in which they were made.
    retested: the pruned ones are judged like new ones, the others are free.
    """
    root_in_table: bool = True
    """Whether the root's atoms are known to the table, and so not new below it."""
    over_in_table: bool = True
    """Whether a terminal node's atoms are known to the table, and so not new elsewhere."""
    strata: bool = False
    """Judge apart for every power of two of the reward on the way from the root."""

    def asks(self, again: bool, is_root: bool, over: bool, kept: bool, pruned: bool) -> bool | None:
        """Say how a table is asked about a node: as one that enters it (True), or as met before.

        None: it is not asked; the node passes, and its atoms stay new elsewhere. again: whether the
        search has met the node before; over: whether the game ends there; kept, pruned: whether an
        earlier decision made it, and pruned it
        """
        if (is_root and not self.root_in_table) or (over and not self.over_in_table):
            return None
        if kept and not is_root and self.kept == "retested" and not pruned:
            return None
        if kept and self.kept == "free":
            return None
        return not again and (is_root or not kept or self.kept != "known")


@final
class Judge:
    """The tables of an episode's searches."""

    width: int | None = None
    """Of the current search; None: nothing is judged."""

    def __init__(self, depth_limit: int, judging: Judging) -> None:
        self.judging = judging
        in_table = judging.root_in_table and judging.over_in_table
        self.is_choosy = judging.kept != "judged" or not in_table
        """Whether some nodes are not asked, or not as if they were met for the first time."""
        self.heeds_reward = judging.by == "reward" or judging.strata
        """Whether it matters what was collected on the way to a node."""
        self._depth_limit = depth_limit
        self._size = 0
        self._tables: dict[tuple[int, int, int], NoveltyTable] = {}  # by width, size and number
        self._fresh: dict[int, NoveltyTable] = {}  # of the current search, by number
        self._searched: list[NoveltyTable] = []  # of all searches of the decision

    def start_decision(self) -> None:
        """Forget which tables the last decision used."""
        self._searched.clear()

    def begin(self, width: int | None, size: int) -> None:
        """Begin a search, with empty tables of a width (None: nothing is judged) for atoms."""
        self.width, self._size, self._fresh = width, size, {}

    def is_new(self, atoms: Atoms, depth: int, reward: float, number: int, first: bool) -> bool:
        """Ask a table about a node; one that is met for the `first` time enters it.

        depth, reward: actions from the root to the node, and what was collected on the way
        number: of the table to ask, where a planner has several
        """
        table, at = self._asked(depth, reward, number)
        return table.enter_first(atoms, at) if first else table.enter_again(atoms, at)

    def new_atoms(self, atoms: Atoms, depth: int, reward: float, number: int) -> Atoms:
        """Atoms of a node that would be new, if it were judged now; see `is_new`."""
        if self.width is None:
            return np.empty(0, np.int32)
        table, at = self._asked(depth, reward, number)
        return atoms[table.depth_of(atoms) > at]

    @property
    def overflowed(self) -> bool:
        """Whether a table of this decision could not take all that was to be remembered."""
        return any(table.overflowed for table in self._searched)

    def close(self) -> None:
        """Give the tables' memory back."""
        self._tables.clear()

    def _asked(self, depth: int, reward: float, number: int) -> tuple[NoveltyTable, float]:
        """Table that judges a node, and the node's depth as novelty counts it."""
        at: float = depth
        # Tables keep the least of what they are given: a depth, or minus the reward (p-IW).
        if self.judging.by == "reward":
            number, at = 0, -reward
        else:
            if self.judging.strata:
                number = reward_stratum(reward)
            if self.judging.by == "classic":
                at = 0  # everywhere alike, so that nothing is met "only deeper"
        return self._fresh.get(number) or self._open(number), at

    def _open(self, number: int) -> NoveltyTable:
        """Take a table into the search, empty."""
        assert self.width is not None, "nothing is judged"
        # Tables are kept from search to search: emptying one is cheap, making a large one is not.
        key = self.width, self._size, number
        if key not in self._tables and self.judging.by == "reward":
            self._tables[key] = RewardTable(self._size)
        elif key not in self._tables:
            self._tables[key] = make_novelty_table(self.width, self._size, self._depth_limit)
        table = self._fresh[number] = self._tables[key]
        table.start_decision()
        self._searched.append(table)
        return table


def make_novelty_table(width: int, size: int, depth_limit: int = 100) -> NoveltyTable:
    """Return a table of width 1 or 2 for atoms in [0, size) and depths from 0 to the limit."""
    if width not in (1, 2):
        raise InputError(f"there are novelty tables of width 1 and 2, not {width}")
    return Width1Table(size, depth_limit) if width == 1 else Width2Table(size, depth_limit)


def reward_stratum(reward: float) -> int:
    """Class of a path's reward: 0 for none or less, then one for every power of two."""
    return 0 if reward <= 0 else math.frexp(reward)[1] - 1 + (reward >= 1)
