"""Our own options of Rollout-IW, beyond the paper's: what bends novelty, statistics and choice."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from olive_iw import settings
from olive_iw.features.base import MOST_GRAIN
from olive_iw.settings import Range

Ties: TypeAlias = Literal["random", "longest"]
Kept: TypeAlias = Literal["judged", "free"]
Backup: TypeAlias = Literal["mean", "max", "unpruned"]
Fit: TypeAlias = Literal["none", "grain", "pardon"]
Chance: TypeAlias = Annotated[float, Range(0, 1)]


@dataclass(frozen=True, slots=True)
class HouseRules:
    """How Rollout-IW departs from the paper; nowhere, by default."""

    ties: Ties = "random"
    """Which of several actions of the greatest value is taken: random (the paper), or the one that
    begins the longest known path without a loss, then at random."""
    avoid_twins: bool = False
    """Leave out untried actions that, by what the episode has shown, are likely to lead to the
    same state as a tried one; where one does nevertheless, go on from the state that is known."""
    persistence: Chance = 0.0
    """Chance of a rollout's first choice at a node to be the action that led there once more."""
    look_further: Chance = 0.0
    """Share of a decision's calls that are kept back, and go into rollouts that nothing prunes if
    the others know of nothing to be earned."""
    kept_nodes: Kept = "judged"
    """Nodes that an earlier decision simulated: judged as if they were new (the paper), or free:
    never pruned, and what they show is still new when another node shows it."""
    reward_strata: bool = False
    """Judge novelty apart for every power of two of the (risk-averse) reward on the way from the
    root, as the subtables of Bandres et al. 2018 do."""
    grain: Annotated[int, Range(1, MOST_GRAIN)] = 1
    """How learned features are read: 1, an atom for every true bit (the paper); more, one for the
    value of every group of so many bits. It must divide the bits of a place (20). Where fit is
    grain, an episode begins with it; 1: with the finest."""
    noise: Chance = 0.0
    """Chance of every bit of learned features to be flipped, drawn anew for every node."""
    training_mode: bool = False
    """Plan with the network in training mode, as the authors' code did: dropout and batch
    statistics on, so that a screen has other bits at every node. Of the profile paper only."""
    pardon: Chance = 0.0
    """Chance of a rollout to go on from a node that shows nothing new, unless it is a twin."""
    fit: Fit = "none"
    """Fit the search's shape to the game, decision by decision, so that rollouts are wanted_depth
    deep: by the grain of learned features (then by pardons), or by pardons alone."""
    wanted_depth: Annotated[float, Range(1, 100)] = 10.0
    """Depth that the rollouts of a decision should have on average, where fit says how; none of
    them then makes more than twice as many calls."""
    backup: Backup = "mean"
    """What an action's statistics are told: every rollout's return (mean, the paper), the best
    return known below it (max), or nothing of rollouts that end at once, at a pruned new node
    (unpruned)."""

    def __post_init__(self) -> None:
        settings.check(self)
