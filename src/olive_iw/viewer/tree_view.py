"""What the page draws of a planner: its tree, and the table of root actions."""

from dataclasses import dataclass
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.planners import Planner
from olive_iw.planners.tree import NONE, ROOT, Tree
from olive_iw.viewer.page_messages import RootActions, TreeChange
from olive_iw.viewer.search_recorder import Entry, statuses


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
        tree = planner.tree
        size = tree.size
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
    visits = tree.visits(ROOT)
    tried = visits > 0
    deviation = np.sqrt(tree.variance[ROOT] / np.maximum(visits, 1))
    return RootActions(
        visits=visits.tolist(),
        means=_known(tried, tree.mean[ROOT]),
        deviations=_known(tried, deviation),
        values=_known(np.isfinite(tree.action_values()), tree.action_values()),
        chosen=chosen,
        recorded=recorded,
    )


def _known(known: NDArray[np.bool_], values: NDArray[np.float64]) -> list[float | None]:
    """Round numbers for JSON; None where they are not known."""
    pairs = zip(known, values, strict=True)
    return [round(float(value), 6) if sure else None for sure, value in pairs]
