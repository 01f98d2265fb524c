"""Persistence: some rollouts go straight on, others wind.

Whatever the distance of what is to be earned, some rollouts then go straight far enough. Even
choices at every node would wander about where they began.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

from olive_iw.arithmetic import exp, log
from olive_iw.bandits import ActionStatistics
from olive_iw.bandits.base import untried
from olive_iw.search.rule import Rule, Stream
from olive_iw.search.search import Search
from olive_iw.search.tree import ROOT
from olive_iw.search.walk import Walk
from olive_iw.settings import Range


@final
@dataclass(unsafe_hash=True)
class Persistence(Rule):
    """Lets a rollout's first choice at a node repeat the action that led there."""

    neutral: ClassVar = {"persistence": 0.0}

    persistence: Annotated[float, Range(0, 1)] = 0.5
    """Chance that a rollout's first choice at a node is the action that led there once more. Every
    rollout draws a chance of its own; this is their mean."""

    def walk(self, search: Search, walk: Walk) -> None:
        """Draw the rollout's chance."""
        # 1 - U^k has the mean k / (k + 1), which is `mean` for k = mean / (1 - mean), and lies
        # anywhere between 0 and 1: some rollouts go nearly straight, others wander.
        mean = self.persistence
        if 0.0 < mean < 1.0:
            draw = search.random(Stream.BANDIT).random()
            mean = 1.0 - exp(mean / (1.0 - mean) * log(draw))
        walk.notes[type(self)] = mean

    def pick(self, search: Search, walk: Walk, node: int, known: ActionStatistics) -> int | None:
        """Repeat the action that led to a node where none was tried, by the rollout's chance."""
        chance = walk.notes[type(self)]
        if not chance or node == ROOT or not untried(known.count):
            return None
        last = int(search.tree.action[node])
        if known.unsolved[last] and search.random(Stream.BANDIT).random() < chance:
            return last
        return None
