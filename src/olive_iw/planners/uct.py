"""UCT: UCB1 down the known tree, then a random playout; nothing is pruned."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from olive_iw.bandits import BANDITS, Bandit
from olive_iw.errors import InputError
from olive_iw.planners.base import DISCOUNT, Planner, SearchOptions
from olive_iw.search.decision import Risk, Stopped
from olive_iw.search.rollout import Rollout
from olive_iw.search.rule import MOMENTS, Stream
from olive_iw.search.search import Search
from olive_iw.search.tree import NONE
from olive_iw.settings import PartOf

PLAYOUT_DEPTH = 20  # 300 frames at 15 frames a call


@dataclass(frozen=True)
class UCTOptions(SearchOptions):
    """Options of UCT."""

    bandit: Annotated[str | Bandit, PartOf(BANDITS)] = "uniform"
    """Which unsolved action is taken where the tree is known (see `olive-iw list bandits`)."""


class UCT(Planner):
    """UCT whose playouts stay in the tree, so that a step once simulated is never paid again.

    A rollout follows the bandit through nodes that earlier rollouts of this decision chose from,
    up to and including one new choice; below it actions are uniformly random to `depth_limit`.
    Only the choices of the bandit are counted in the statistics.
    """

    options = UCTOptions
    takes_features = False
    never_asks = frozenset(MOMENTS)
    rolls_out = True

    def __init__(
        self,
        bandit: str | Bandit = "ucb1",
        discount: float = DISCOUNT,
        depth_limit: int = PLAYOUT_DEPTH,
        risk: Risk | None = None,
    ) -> None:
        """Assemble a planner; `depth_limit` counts from the root."""
        super().__init__(None, None, bandit, discount=discount, depth_limit=depth_limit, risk=risk)
        if isinstance(bandit, str) and bandit == "uniform":
            raise InputError("UCT with the bandit 'uniform' would be random search; try 'ucb1'")

    def grow(self, search: Search) -> Stopped:
        """Roll out until the budget is spent or the tree is solved."""
        search.begin(width=None)
        self.driver.run(search, playout)
        return search.stopped


def playout(search: Search) -> Rollout:
    """Choose by the bandit as far as the choices are known, then play out at random."""
    tree, walk, chosen = search.tree, search.walk(), 0
    path = walk.path
    while search.enter(path[-1], depth=len(path) - 1):
        playing_out = chosen < len(path) - 1  # below the first choice that was new
        action = _random(search, path[-1]) if playing_out else search.choose(walk)
        if not playing_out and tree.count[path[-1], action] > 0:
            chosen += 1
        child = search.known_child(path[-1], action)
        if child == NONE:
            yield walk, action
            child = search.arrive(walk, action)
        if child == NONE:
            break
        path.append(child)
    else:
        search.solve(path[-1])
    search.back_up(path, counted=chosen + 1)
    return walk


def _random(search: Search, node: int) -> int:
    """Draw one of a node's unsolved actions, each equally likely."""
    with search.ledger.stopwatches.bandit:
        unsolved = np.flatnonzero(search.tree.unsolved[node])
        return int(search.random(Stream.BANDIT).choice(unsolved))
