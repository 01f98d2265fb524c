"""What the page draws of a planner: changes of its tree, and the table of root actions."""

from typing import final

import numpy as np
from numpy.typing import NDArray

from olive_iw.planners import Planner
from olive_iw.planners.tree import NONE, ROOT, Tree
from olive_iw.runs.records import EpisodeRecord
from olive_iw.viewer.page_messages import RootActions, TreeChange, finite
from olive_iw.viewer.search_recorder import Entry, statuses


@final
class TreeSender:
    """Remembers what was sent of a tree, and says what changed since."""

    def __init__(self) -> None:
        self._decision = NONE
        self._sent = np.empty(0, np.int8)

    def change(
        self,
        planner: Planner,
        entries: dict[int, Entry],
        decision: int,
        chosen: int | None = None,
    ) -> TreeChange:
        """Return the nodes added and the marks changed; all of them in a new decision."""
        reset = decision != self._decision
        if reset:
            self._decision, self._sent = decision, np.empty(0, np.int8)
        tree, now = planner.tree, statuses(planner, entries)
        known = len(self._sent)
        changed = np.flatnonzero(now[:known] != self._sent)
        added = np.arange(known, len(now))
        self._sent = now
        return TreeChange(
            decision,
            reset,
            nodes=[_node(tree, int(node)) for node in added],
            marks=[[int(node), int(now[node])] for node in (*changed, *added)],
            branch=principal_branch(tree, chosen),
        )

    def forget(self) -> None:
        """Send everything the next time."""
        self._decision = NONE


def _node(tree: Tree, node: int) -> list[float]:
    parent = int(tree.parent[node])
    return [
        node,
        parent,
        int(tree.action[node]),
        int(tree.depth[node] - tree.depth[ROOT]),
        float(tree.reward[node]),
        int(life_lost(tree, node)),
    ]


def life_lost(tree: Tree, node: int) -> bool:
    """Whether the step into a node lost a life."""
    return node != ROOT and bool(tree.lives[node] < tree.lives[tree.parent[node]])


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


def root_actions(
    tree: Tree,
    decision: int,
    chosen: int | None = None,
    recorded: int | None = None,
) -> RootActions:
    """Read the statistics and values of the root's actions."""
    visits = tree.visits(ROOT)
    tried = visits > 0
    deviation = np.sqrt(tree.variance[ROOT] / np.maximum(visits, 1))
    return RootActions(
        decision,
        visits=[int(count) for count in visits],
        means=_where(tried, tree.mean[ROOT]),
        deviations=_where(tried, deviation),
        values=_where(np.isfinite(tree.action_values()), tree.action_values()),
        chosen=chosen,
        recorded=recorded,
    )


def recorded_actions(record: EpisodeRecord, decision: int) -> RootActions:
    """Read the values that were recorded with a decision, where nothing is recomputed."""
    over = decision >= len(record.actions)
    values = None if over or record.values is None else record.values[decision]
    count = max((len(row) for row in record.values or () if row is not None), default=0)
    return RootActions(
        decision,
        visits=[0] * count,
        means=[None] * count,
        deviations=[None] * count,
        values=[None] * count if values is None else list(values),
        chosen=None,
        recorded=None if over else int(record.actions[decision]),
    )


def _where(mask: NDArray[np.bool_], values: NDArray[np.float64]) -> list[float | None]:
    return [finite(value) if use else None for use, value in zip(mask, values, strict=True)]
