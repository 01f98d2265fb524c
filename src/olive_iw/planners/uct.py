"""UCT: UCB1 down the known tree, then a random playout; nothing is pruned."""

from functools import partial

import numpy as np

from olive_iw.bandits import Bandit
from olive_iw.errors import InputError
from olive_iw.planners.base import DISCOUNT, Planner
from olive_iw.planners.decision import Risk, Stopped
from olive_iw.planners.drivers import Rollout, StatisticsOf
from olive_iw.planners.search import Search
from olive_iw.planners.tree import NONE, ROOT

PLAYOUT_DEPTH = 20  # 300 frames at 15 frames a call


class UCT(Planner):
    """UCT whose playouts stay in the tree, so that a step once simulated is never paid again.

    A rollout follows the bandit through nodes that earlier rollouts of this decision chose from,
    up to and including one new choice; below it actions are uniformly random to `depth_limit`.
    Only the choices of the bandit are counted in the statistics.
    """

    def __init__(
        self,
        bandit: str | Bandit = "ucb1",
        discount: float = DISCOUNT,
        depth_limit: int = PLAYOUT_DEPTH,
        risk: Risk | None = None,
    ) -> None:
        """Assemble a planner; `depth_limit` counts from the root."""
        super().__init__(
            None, None, discount=discount, depth_limit=depth_limit, risk=risk, bandit=bandit
        )
        if isinstance(bandit, str) and bandit == "uniform":
            raise InputError("UCT with the bandit 'uniform' would be random search; try 'ucb1'")

    def grow(self, search: Search) -> Stopped:
        """Roll out until the budget is spent or the tree is solved."""
        search.begin(width=None)
        self.driver.run(search, partial(self._rollout, search))
        return search.stopped

    def _rollout(self, search: Search, statistics: StatisticsOf) -> Rollout:
        """Choose by the bandit as far as the choices are known, then play out at random."""
        tree = search.tree
        path, chosen = [ROOT], 0
        while search.enter(path[-1], len(path) - 1):
            node, playing_out = path[-1], chosen < len(path) - 1
            action = _random(search, node) if playing_out else search.choose(node, statistics)
            if not playing_out and tree.count[node, action] > 0:
                chosen += 1
            child = search.known_child(node, action)
            if child == NONE:
                yield path, action
                child = int(tree.children[node, action])
            if child == NONE:
                break
            path.append(child)
        else:
            search.solve(path[-1])
        search.back_up(path, counted=chosen + 1)
        return path


def _random(search: Search, node: int) -> int:
    """Draw one of a node's unsolved actions, each equally likely."""
    with search.ledger.stopwatches.bandit:
        return int(search.bandit_generator.choice(np.flatnonzero(search.tree.unsolved[node])))
