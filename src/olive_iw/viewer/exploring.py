"""What the rule Explore has seen, tile by tile, and where it goes."""

import numpy as np
from numpy.typing import NDArray

from olive_iw.planners import Planner
from olive_iw.rules import Explore
from olive_iw.rules.explore import COLOURS, IN_TILES, TILE_COLUMNS, TILE_ROWS, shown
from olive_iw.search.tree import ROOT
from olive_iw.simulators.base import Simulator, Step, grey_levels
from olive_iw.viewer.node_details import screen_address
from olive_iw.viewer.page_messages import Explored

TILES = TILE_ROWS * TILE_COLUMNS


def explored(planner: Planner, simulator: Simulator, decision: int, chose: bool) -> Explored | None:
    """Say what the rule knows at a decision; None if the planner has no such rule.

    chose: whether the decision is made, and was among several actions of the greatest value
    """
    rule = next((rule for rule in planner.rules if isinstance(rule, Explore)), None)
    if rule is None or screen_address(simulator, planner.root) is None:
        return None
    seen = rule.counts[:IN_TILES].reshape(TILES, COLOURS)
    path = [ROOT] if chose and rule.way else []
    for action in rule.way if path else ():
        path.append(int(planner.tree.children[path[-1], action]))
    target = planner.tree.seen[path[-1]].step if path else None
    return Explored(
        TILE_ROWS,
        TILE_COLUMNS,
        rule.steps,
        int(np.count_nonzero(rule.counts[IN_TILES:])),
        np.count_nonzero(seen, axis=1).tolist(),
        _rare(rule, simulator, planner.root, own=int(rule.steps > decision)),
        path,
        None if target is None else screen_address(simulator, target),
        [] if target is None else _rare(rule, simulator, target),
    )


def _rare(rule: Explore, simulator: Simulator, step: Step, own: int = 0) -> list[float]:
    """How seldom what each tile of a step shows was shown before, by its rarest colour.

    own: how often the step itself was counted
    """
    atoms: NDArray[np.int32] = shown(step.screen, grey_levels(simulator))
    atoms = atoms[atoms < IN_TILES]
    times = np.full(TILES, rule.steps)
    np.minimum.at(times, atoms // COLOURS, rule.counts[atoms] - own)
    always = 1 / (1 + rule.steps - own) ** 2
    return [round(max(0.0, 1 / (1 + count) ** 2 - always), 3) for count in times.tolist()]
