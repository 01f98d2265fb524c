"""What the page says of a node that is pointed at."""

from typing import Any

from olive_iw.planners import Planner
from olive_iw.planners.tree import ROOT
from olive_iw.simulators.base import Simulator
from olive_iw.viewer import atoms as words
from olive_iw.viewer.page_messages import finite
from olive_iw.viewer.pictures import screen_address
from olive_iw.viewer.search_recorder import NO_ATOMS, STATUSES, Entry, statuses, why
from olive_iw.viewer.tree_view import life_lost


def node_details(
    planner: Planner, entries: dict[int, Entry], simulator: Simulator, node: int
) -> dict[str, Any]:
    """Screen, place, reward, new atoms and fate of a node, for JSON."""
    tree = planner.tree
    seen, entry = tree.seen[node], entries.get(node)
    depth = int(tree.depth[node] - tree.depth[ROOT])
    status = int(statuses(planner, entries)[node])
    new = NO_ATOMS if entry is None else entry.new_atoms
    return {
        "node": node,
        "screen": screen_address(simulator, seen.step),
        "depth": depth,
        "action": "" if node == ROOT else simulator.action_names[int(tree.action[node])],
        "reward": seen.step.reward,
        "lives": seen.step.lives,
        "life_lost": life_lost(tree, node),
        "value": finite(float(tree.value[node])),
        "status": STATUSES[status],
        "why": why(status, entry, len(seen.atoms), depth),
        "atoms": len(seen.atoms),
        "new": len(new),
        "new_words": words.describe(planner.features, new),
        "new_kinds": words.kinds(planner.features, new),
        "new_cells": words.cells(planner.features, new),
    }
