"""Our own options of Rollout-IW, beyond the paper's: what bends novelty, statistics and choice."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from olive_iw import settings
from olive_iw.features.base import MOST_GRAIN
from olive_iw.settings import Range

Ties: TypeAlias = Literal["random", "longest", "highest-zero"]
Kept: TypeAlias = Literal["judged", "free", "known", "first", "retested"]
Novelty: TypeAlias = Literal["depth", "classic", "reward"]
Untried: TypeAlias = Literal["none", "zero"]
PruneActions: TypeAlias = Literal["none", "dasp", "dasa"]
Fit: TypeAlias = Literal["none", "grain", "noise"]
Chance: TypeAlias = Annotated[float, Range(0, 1)]


@dataclass(frozen=True, slots=True)
class HouseRules:
    """How Rollout-IW departs from the paper; nowhere, by default."""

    ties: Ties = "random"
    """Which of several actions of the greatest value is taken: random (the paper), or the one that
    begins the longest known path without a loss (longest), or, only where that value is 0, the one
    with the highest known subtree (highest-zero); then at random."""
    tie_tolerance: Annotated[float, Range(0, 1e9)] = 0.0
    """Actions whose values are so little below the greatest count as equal to it."""
    action_temperature: Annotated[float, Range(0, 1e9)] = 0.0
    """Temperature τ of the softmax of the actions' values / τ that the action is drawn from; 0: the
    action of the greatest value (the paper)."""
    size_temperature: Annotated[float, Range(0, 1e9)] = 0.0
    """Temperature of a second softmax, of the numbers of nodes below the actions, by which the
    first is multiplied where the action is drawn; 0: none."""
    avoid_twins: bool = False
    """Leave out untried actions that, by what the episode has shown, are likely to lead to the
    same state as a tried one; where one does nevertheless, go on from the state that is known."""
    safe_steps: Annotated[int, Range(0, 100)] = 0
    """Steps without a loss that must be known to follow an action, or the game's end, before it is
    taken for what it earns; if no action has so many, as many as one has."""
    persistence: Chance = 0.0
    """Chance of a rollout's first choice at a node to be the action that led there once more. Every
    rollout draws its own, of which this is the mean: some go straight far, others wind."""
    look_further: Chance = 0.0
    """Share of a decision's calls that are kept back, and go into rollouts that nothing prunes if
    the others know of nothing to be earned."""
    explore: bool = False
    """Where nothing is to be earned, go towards the state of the tree that shows most of what the
    screens of the episode have not shown, and search from such states in the calls of
    look_further."""
    beyond_usual: bool = False
    """Count rewards by how much they are above, or below, the one that more than half of the
    episode's steps give (or the middle one, where each costs something else), and a game's end as
    what is then lost, or saved, of it for ever."""
    outlook: bool = False
    """Of several actions of the greatest value, take the one on the way to the known state whose
    numbers were met least often; if the last step was paid, to the one whose numbers, 20 steps
    ahead, are nearest the middle of those met. For observations that are numbers."""
    recall: bool = False
    """Value an action by the mean of all that it led to wherever the same whole numbers were
    observed, not by the best that this decision's tree knows."""
    kept_nodes: Kept = "judged"
    """Nodes that an earlier decision simulated: judged as if they were new (the paper), or free:
    never pruned, and what they show is still new when another node shows it; or known: the same,
    but pruned where new nodes have shown all of it less deep; or first: judged as new before the
    search begins, in the order in which they were made; or retested: those that were pruned are
    judged as new, the others are free."""
    novelty: Novelty = "depth"
    """What is new: an atom that was not met as little deep in this decision (depth, the paper), or
    not met at all (classic), or not with as much reward on the way from the root (reward)."""
    root_in_table: bool = True
    """Whether what the root shows is new no more below it."""
    over_in_table: bool = True
    """Whether what the end of a game shows is new no more elsewhere."""
    untried_value: Untried = "none"
    """What an action that was not tried is worth where values are compared: none, it is left out
    (the paper), or zero, it can be chosen (Bandres et al. 2018)."""
    max_repeats: Annotated[int, Range(0, 1000)] = 0
    """Rollouts pass nodes that show just what the one above shows, by that one's action, so many
    times in a row; a node after them is pruned. 0: such nodes are like others (the paper)."""
    prune_actions: PruneActions = "none"
    """Leave out, below the root, actions that have led where another leads: those that always have
    (dasp), or each with a chance by how often it has (dasa). Of planners that expand nodes."""
    prune_after: Annotated[int, Range(0, 1_000_000)] = 60
    """Decisions of an episode before actions are left out: 300 frames, of 5 each. An algorithm that
    leaves actions out keeps to 300 frames when it is given another frame_skip."""
    reward_strata: bool = False
    """Judge novelty apart for every power of two of the (risk-averse) reward on the way from the
    root, as the subtables of Bandres et al. 2018 do."""
    grain: Annotated[int, Range(1, MOST_GRAIN)] = 1
    """How learned features are read: 1, an atom for every true bit (the paper); more, one for the
    value of every group of so many bits. It must divide the bits of a place (20). Where fit is
    grain, an episode begins with it; 1: with the finest."""
    noise: Chance = 0.0
    """Chance of every bit of learned features to be flipped, anew for every node, so that walks
    pass what they have met. With fit = noise, 0 stands for 0.1, and a coin says in each decision
    whether noise is drawn so, or once in an episode for every set of true bits, so that what was
    met is not new again: one looks far, one near."""
    training_mode: bool = False
    """Plan with the network in training mode, as the authors' code did: dropout and batch
    statistics on, so that a screen has other bits at every node. Of the profile paper only."""
    fit: Fit = "none"
    """Fit the search's shape to the game, decision by decision, so that rollouts are wanted_depth
    deep: by the grain of learned features, and where the finest is not enough by pardons, chances
    of a rollout to go on from a node that shows nothing new (grain); noise: bits are read with
    noise where, read as they are, they make rollouts less than two thirds as deep and leave more
    than a tenth of the decisions as ties."""
    wanted_depth: Annotated[float, Range(1, 100)] = 10.0
    """Depth that the rollouts of a decision should have on average, where fit says how; none of
    them then makes more than twice as many calls."""
    value_everywhere: bool = False
    """Whether a learned value counts where more is known, too: a node is worth at least what the
    network says. Otherwise it is the value of leaves alone."""

    def __post_init__(self) -> None:
        settings.check(self)


OF_ROLLOUTS = frozenset(
    {"avoid_twins", "persistence", "look_further", "explore", "fit", "wanted_depth", "max_repeats"}
)
"""Rules that mean something to planners that roll out only."""
OF_EXPANSION = frozenset({"prune_actions", "prune_after"})
"""Rules that mean something only to planners that make all children of a node."""
