"""Looking on while a planner searches: which atoms were new at a node, and why it was pruned."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from olive_iw.features.base import Atoms
from olive_iw.planners import BreadthFirst, Planner, SearchWatch
from olive_iw.planners.judge import Judge
from olive_iw.planners.search import NO_ATOMS
from olive_iw.planners.tree import ROOT

STATUSES = ("kept", "new", "pruned", "solved", "depth limit", "terminal")
KEPT, NEW, PRUNED, SOLVED, AT_DEPTH_LIMIT, TERMINAL = range(len(STATUSES))


@dataclass(slots=True)
class Entry:
    """What happened when walks of this search reached a node."""

    times: int = 0
    novel: bool = True
    """Verdict of the last time; True where nothing is judged."""
    new_atoms: Atoms = field(default_factory=lambda: NO_ATOMS)
    """Atoms that were new when the node was first reached; few, but at the root all."""


@final
class SearchRecorder(SearchWatch):
    """Keeps an entry per node that a planner reaches, and calls `between` after every rollout.

    Breadth-first search has no rollouts: there a step is one node reached.
    """

    def __init__(self, planner: Planner, between: Callable[[], None]) -> None:
        self.entries: dict[int, Entry] = {}
        """By node, for the current search; a new dictionary in every search."""
        self.steps = 0
        """Rollouts (or nodes reached) of the current decision."""
        self._between = between
        self._planner = planner
        self._judge: Judge | None = None
        self._rollouts = not isinstance(planner, BreadthFirst)

    def begin(self) -> None:
        """Forget everything, before a decision."""
        self.entries = {}
        self.steps = 0

    def on_search(self, judge: Judge) -> None:
        """Begin with new entries; ask who judges later."""
        self.entries = {}
        self._judge = judge

    def on_enter(self, node: int, depth: int) -> None:
        """Note that a walk reached a node, and what is new there if it is the first time."""
        if not self._rollouts and self.entries:
            self._step()  # the node before is judged by now
        entry = self.entries.setdefault(node, Entry())
        entry.times += 1
        if entry.times == 1 and self._judge is not None:
            entry.new_atoms = self._judge.new_atoms(self._planner.tree, node, depth)

    def on_judged(self, node: int, novel: bool) -> None:
        """Note the verdict on a node."""
        self.entries[node].novel = novel

    def on_rollout(self, path: Sequence[int]) -> None:
        """Count a rollout."""
        self._step()

    def _step(self) -> None:
        self.steps += 1
        self._between()


def statuses(planner: Planner, entries: dict[int, Entry]) -> NDArray[np.int8]:
    """Status of every node, int8, shape (nodes,): indices into `STATUSES`.

    "kept" nodes were simulated in an earlier decision and not reached again in this one; the root
    is where the search begins, so it is "new" before it has begun.
    """
    tree = planner.tree
    found = np.full(tree.size, KEPT, np.int8)
    found[ROOT] = NEW
    reached = np.fromiter(entries, np.int64, len(entries))
    found[reached] = np.where(tree.solved[reached], SOLVED, NEW)
    at_limit = tree.depth[reached] - tree.depth[ROOT] >= planner.depth_limit
    found[reached[at_limit]] = AT_DEPTH_LIMIT
    pruned = [node for node, entry in entries.items() if not entry.novel and node != ROOT]
    found[pruned] = PRUNED
    found[tree.terminal[: tree.size]] = TERMINAL
    return found


def why(status: int, entry: Entry | None, atoms: int, depth: int) -> str:
    """Say in a sentence why a search went on from a node or did not."""
    if status == TERMINAL:
        return "the game is over here"
    if status == PRUNED and entry is not None:
        if entry.times > 1 and len(entry.new_atoms):
            return f"pruned when reached again: all {atoms} atoms were seen less deep by then"
        return f"pruned: none of its {atoms} atoms is new at depth {depth}"
    texts = {
        KEPT: "kept from an earlier decision, not reached again in this one",
        SOLVED: "solved: nothing is left to search below it",
        AT_DEPTH_LIMIT: "not searched further: it lies at the depth limit",
    }
    begins = "the search begins here" if entry is None else "open: rollouts go on from here"
    return texts.get(status, begins)
