"""UCT: UCB1 down the known tree, then a random playout; nothing is pruned."""

import numpy as np

from olive_iw.bandits import Bandit
from olive_iw.errors import InputError
from olive_iw.planners.base import DISCOUNT, Planner
from olive_iw.planners.decision import Risk, Stopped
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

    def _plan(self) -> Stopped:
        self.tree.enter(ROOT)
        while self.ledger.left and not self.tree.solved[ROOT]:
            self._rollout()
        return "exhausted" if self.ledger.left else "budget"

    def _rollout(self) -> None:
        """Choose by the bandit as far as the choices are known, then play out at random."""
        tree = self.tree
        path, chosen = [ROOT], 0
        while not tree.terminal[path[-1]] and len(path) <= self.depth_limit:
            node, playing_out = path[-1], chosen < len(path) - 1
            action = self._random(node) if playing_out else self._choose(node)
            if not playing_out and tree.count[node, action] > 0:
                chosen += 1
            child = self._child(node, action)
            if child == NONE:
                break
            tree.enter(child)
            path.append(child)
        else:
            with self.ledger.tree:
                tree.solve(path[-1])
        self._back_up(path, counted=chosen + 1)

    def _random(self, node: int) -> int:
        with self.ledger.bandit:
            return int(self._bandit_generator.choice(np.flatnonzero(self.tree.unsolved[node])))
