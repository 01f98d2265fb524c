"""What is seen of a search: what happened at each node, the tree to draw, the root's actions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.features.base import Atoms
from olive_iw.planners import Planner, Search, SearchWatch
from olive_iw.search.sight import NO_ATOMS
from olive_iw.search.tree import NONE, ROOT, Tree
from olive_iw.viewer.page_messages import RootActions, TreeChange

STATUSES = ("kept", "new", "pruned", "solved", "depth limit", "terminal")
KEPT, NEW, PRUNED, SOLVED, AT_DEPTH_LIMIT, TERMINAL = range(len(STATUSES))


@dataclass(slots=True)
class Entry:
    """What happened when walks of this search reached a node."""

    depth: int
    """Below the root, or below where novelty counts depths from: of HIW, the entry of its area."""
    judged: bool = True
    """Whether the search that reached it first judges novelty; a far one does not."""
    times: int = 0
    novel: bool = True
    """Verdict of the last time; True where nothing is judged."""
    new_atoms: Atoms = field(default_factory=lambda: NO_ATOMS)
    """Atoms that were new when the node was first reached; few, but at the root all."""


@final
class SearchRecorder(SearchWatch):
    """Keeps an entry per node that a planner reaches, and calls `between` after every rollout.

    Planners that expand nodes have no rollouts: there a step is one node reached.
    """

    def __init__(self, planner: Planner, between: Callable[[], None]) -> None:
        self._between = between
        self._search: Search | None = None
        self._rollouts = planner.rolls_out
        self.begin()

    def begin(self) -> None:
        """Forget everything, before a decision."""
        self.entries: dict[int, Entry] = {}
        """By node; a decision's second search adds to the entries of its first."""
        self.steps = 0
        """Rollouts (or nodes reached) of the current decision."""

    def on_search(self, search: Search) -> None:
        """Ask the search later."""
        self._search = search

    def on_enter(self, node: int, depth: int) -> None:
        """Note that a walk reached a node, and what is new there if it is the first time."""
        if not self._rollouts and self.entries:
            self._step()  # the node before is judged by now
        entry = self.entries.setdefault(node, Entry(depth))
        entry.times += 1
        if entry.times == 1 and self._search is not None:
            entry.judged = self._search.judge.width is not None
            entry.new_atoms = self._search.new_atoms(node, depth)

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
    if entries:  # what was made since and not reached is a twin, which a sibling stands for
        found[tree.born[: tree.size] == tree.decision] = SOLVED
    found[ROOT] = NEW
    reached = np.fromiter(entries, np.int64, len(entries))
    found[reached] = np.where(tree.solved[reached], SOLVED, NEW)
    at_limit = tree.depth[reached] - tree.depth[ROOT] >= planner.depth_limit
    found[reached[at_limit]] = AT_DEPTH_LIMIT
    found[[node for node, entry in entries.items() if not entry.novel and node != ROOT]] = PRUNED
    found[tree.terminal[: tree.size]] = TERMINAL
    return found


NOT_NEW = {
    "depth": "is new at depth {depth}",
    "classic": "is new in this decision",
    "reward": "comes with more reward than before",
}
"""What none of the atoms of a pruned node is, by how novelty is judged."""


def why(planner: Planner, node: int, status: int, entry: Entry | None) -> str:
    """Say in a sentence why a search went on from a node or did not."""
    tree = planner.tree
    atoms, by = len(tree.seen[node].atoms), planner.judging.by
    if status == PRUNED and entry is not None:
        told = "pruned" if planner.prunes else "put back"
        if entry.times > 1 and len(entry.new_atoms) and by == "depth":
            return f"{told} when reached again: all {atoms} atoms were seen less deep by then"
        return f"{told}: none of its {atoms} atoms {NOT_NEW[by].format(depth=entry.depth)}"
    texts = {
        TERMINAL: "the game is over here",
        KEPT: "kept from an earlier decision, not reached again in this one",
        SOLVED: "solved: nothing is left to search below it",
        AT_DEPTH_LIMIT: "not searched further: it lies at the depth limit",
    }
    if status == SOLVED and entry is None:
        return "a twin: a sibling is in the same state, and is searched in its place"
    begins = "the search begins here" if entry is None else "open: the search goes on from here"
    return texts.get(status, begins)


@final
@dataclass(frozen=True, slots=True, eq=False)
class TreeSnapshot:
    """A tree at one moment; a page is sent what changed since the one that it shows."""

    decision: int
    visit: int
    """Which time this decision is shown: seen again, it has another tree."""
    rows: NDArray[np.float64]
    """Shape (nodes, 5): parent, action, depth, reward, and 1 where a life is lost."""
    marks: NDArray[np.int8]
    """Status of every node, shape (nodes,)."""
    branch: list[int]

    @classmethod
    def of(
        cls,
        planner: Planner,
        entries: dict[int, Entry],
        decision: int,
        visit: int = 0,
        chosen: int | None = None,
    ) -> Self:
        """Copy what is drawn of a planner's tree, with the chosen action's branch."""
        tree, size = planner.tree, planner.tree.size
        parent, depth = tree.parent[:size], tree.depth[:size] - tree.depth[ROOT]
        columns = (parent, tree.action[:size], depth, tree.reward[:size], lives_lost(tree))
        rows = np.stack(columns, axis=1).astype(np.float64)
        branch = principal_branch(tree, chosen)
        return cls(decision, visit, rows, statuses(planner, entries), branch)

    def since(self, before: "TreeSnapshot | None") -> TreeChange:
        """Return the nodes added and the marks changed; all of them in another tree."""
        if before is not None and (before.decision, before.visit) != (self.decision, self.visit):
            before = None
        marks = np.empty(0, np.int8) if before is None else before.marks
        known = len(marks)
        changed = np.flatnonzero(self.marks[:known] != marks)
        added = range(known, len(self.marks))
        return TreeChange(
            self.decision,
            reset=before is None,
            nodes=[[node, *self.rows[node].tolist()] for node in added],
            marks=[[int(node), int(self.marks[node])] for node in (*changed, *added)],
            branch=self.branch,
        )


def lives_lost(tree: Tree) -> NDArray[np.bool_]:
    """Whether the step into each node lost a life, shape (nodes,)."""
    lives, parent = tree.lives[: tree.size], tree.parent[: tree.size]
    lost: NDArray[np.bool_] = lives < lives[parent]
    lost[ROOT] = False
    return lost


def principal_branch(tree: Tree, chosen: int | None = None) -> list[int]:
    """Nodes from the root along the best values, to a leaf; `chosen` is the first action.

    Among equal values the child with more children of its own comes first, then the first action.
    """
    branch = [ROOT]
    if chosen is not None and tree.children[ROOT, chosen] != NONE:
        branch.append(int(tree.children[ROOT, chosen]))
    while True:
        children = tree.children[branch[-1]]
        children = children[children != NONE]
        if not len(children):
            return branch
        values = tree.shaped_reward[children] + tree.discount * tree.value[children]
        best = children[values == values.max()]
        sizes = (tree.children[best] != NONE).sum(axis=1)
        branch.append(int(best[np.argmax(sizes)]))


def root_actions(tree: Tree, chosen: int | None = None, recorded: int | None = None) -> RootActions:
    """Read the statistics and values of the root's actions."""
    visits, values = tree.visits(ROOT), tree.action_values()
    deviation = np.sqrt(tree.variance[ROOT] / np.maximum(visits, 1))
    means, deviations = (
        _numbers(np.where(visits > 0, found, np.nan)) for found in (tree.mean[ROOT], deviation)
    )
    return RootActions(visits.tolist(), means, deviations, _numbers(values), chosen, recorded)


def _numbers(values: NDArray[np.float64]) -> list[float | None]:
    """Round numbers for JSON; None where they are not finite."""
    return [round(value, 6) if np.isfinite(value) else None for value in values.tolist()]
