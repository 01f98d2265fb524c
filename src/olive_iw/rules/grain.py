"""Grain: learned bits are read in groups, as large as makes rollouts as deep as they should be."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, TypeAlias, final

from olive_iw.features.base import MOST_GRAIN
from olive_iw.search.rule import Rule
from olive_iw.settings import Range

Fit: TypeAlias = Literal["none", "grain", "noise"]


@final
@dataclass(unsafe_hash=True)
class Grain(Rule):
    """Reads learned bits in groups; fits the size of the groups to the game."""

    neutral: ClassVar = {"grain": 1, "fit": "none"}

    grain: Annotated[int, Range(1, MOST_GRAIN)] = 1
    """How learned features are read: 1, an atom for every true bit (the paper); more, one for the
    value of every group of so many bits. It must divide the bits of a place (20). Where fit is
    grain, an episode begins with it; 1: with the finest."""
    fit: Fit = "grain"
    """What is fitted to the game, decision by decision, so that rollouts are wanted_depth deep:
    nothing (none), the grain of learned features and then pardons of states that show nothing new
    (grain), or noise (noise): bits are read with noise where, read as they are, rollouts are less
    than two thirds as deep and more than a tenth of the decisions are ties."""
    wanted_depth: Annotated[float, Range(1, 100)] = 10.0
    """Depth that the rollouts of a decision should have on average, where fit says how. With fit =
    grain no rollout makes more than twice as many calls."""

    @property
    def acts(self) -> bool:
        """Whether bits are read in groups."""
        return self.grain > 1 or self.fit == "grain"
