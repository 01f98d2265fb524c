"""Every option of an agent, with the paper's values: which parts it is made of, and its numbers."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, TypeAlias

from olive_iw import settings
from olive_iw.agents.house_rules import HouseRules
from olive_iw.agents.selection import SELECTIONS, Selection
from olive_iw.bandits import BANDITS, Bandit
from olive_iw.features import FEATURES, Features, Values
from olive_iw.planners import PLANNERS, Planner
from olive_iw.planners.hiw import (
    TILE_COLUMNS,
    TILE_ROWS,
    TILE_VALUES,
    VISIT_TEMPERATURE,
    HighWidth,
)
from olive_iw.planners.p_iw import Order
from olive_iw.planners.two_queues import Queues
from olive_iw.settings import PartOf, Range
from olive_iw.simulators.atari import FRAME_SKIP, ActionSet

AS_MANY_AS_FIT = 100_000
"""Calls per action of those who only limit the seconds."""
NONE = "none"
"""Features of planners that prune nothing."""
LEARNED = "vae"
"""Features of algorithms that learn theirs."""
POLICY = "policy"
"""Features of algorithms with a policy: their network's hidden units."""
WHERE_POSSIBLE = "auto"
"""Features to collect screens with: B-PROST where it can be had, otherwise patches."""
ADDED = frozenset(
    {
        *("planner", "features", "bandit", "selection"),
        *("collection_features", "collection_bandit", "collection_width"),
        *("reseed_search", "order", "queues", "life_replaces", "frame_skip", "action_set"),
        "action_levels",
        *("tile_rows", "tile_columns", "tile_values", "high_width", "visit_temperature"),
        *(field.name for field in fields(HouseRules)),
    }
)
"""Options that files of version 0.1.0 lack; there they are the algorithm's own."""

Count: TypeAlias = Annotated[int, Range(1, 10_000_000)]
Share: TypeAlias = Annotated[float, Range(0, 1)]


@dataclass(frozen=True, slots=True)
class Options(HouseRules):
    """What an agent is made of, what it may spend, and how it plans and learns.

    Parts are named, or are objects. The defaults are the paper's; every algorithm has its own. The
    first options, our own, are `HouseRules` of the planner.
    """

    planner: Annotated[str | Planner | Callable[..., Planner], PartOf(PLANNERS, (NONE,))] = (
        "rollout-iw"
    )
    """What searches (see `olive-iw list planners`); none: nothing is searched (brute)."""
    features: Annotated[str | Features, PartOf(FEATURES, (NONE, LEARNED, POLICY))] = "bprost"
    """What novelty is judged on (see `olive-iw list features`); none: nothing is pruned; vae:
    what an algorithm that learns has learned; policy: the hidden units of its policy network."""
    bandit: Annotated[str | Bandit, PartOf(BANDITS)] = "uniform"
    """Which unsolved action a rollout takes (see `olive-iw list bandits`)."""
    selection: Annotated[str | Selection, PartOf(SELECTIONS)] = "random"
    """Which screens of an episode Olive learns from (see `olive-iw list selections`)."""
    calls_per_action: Count = 100
    """Most simulator calls of a decision. The paper: 100."""
    seconds_per_action: Annotated[float | None, Range(0, 86_400, above=True)] = None
    """Seconds after which a decision makes no more calls; without calls_per_action as many calls
    as fit. How many do depends on the machine, so such a run cannot be repeated exactly; its
    episodes can be verified."""
    search_workers: Annotated[int, Range(1, 256)] = 1
    """Processes that make the calls of a decision (Rollout-IW and what is built on it). Another
    number gives another search, as another seed does."""
    reseed_search: bool = False
    """Give the search fresh randomness at every call, so that it cannot foresee the chance that is
    in a saved state. What was searched below an action is then not kept when it is done, and doing
    it costs a call. For simulators that can be reseeded, and one search worker."""
    width: Annotated[int, Range(1, 2)] = 1
    """Width of the novelty that prunes."""
    discount: Annotated[float, Range(0, 1, above=True)] = 0.99
    """Discount γ per call. The paper: 0.99."""
    depth_limit: Count = 100
    """No rollout goes deeper below the root."""
    risk_averse: bool = True
    """Count a lost life as -500,000 and negative rewards 50,000-fold when choosing the action."""
    tile_rows: Annotated[int, Range(1, 128)] = TILE_ROWS
    """Rows of tiles of HIW's coarse picture."""
    tile_columns: Annotated[int, Range(1, 128)] = TILE_COLUMNS
    """Columns of tiles of HIW's coarse picture."""
    tile_values: Annotated[int, Range(2, 256)] = TILE_VALUES
    """Steps of grey of a tile of HIW's coarse picture."""
    high_width: HighWidth = "whole"
    """When HIW's coarse picture is new: as a whole (width n), or by a tile's value (width 1)."""
    visit_temperature: Annotated[float, Range(0, 1e9)] = VISIT_TEMPERATURE
    """Temperature of the softmax of 1 / (visits + 1) by which HIW draws where to go on."""
    life_replaces: bool = False
    """Whether a lost life counts so in place of the step's reward, instead of in addition (Bandres
    et al. 2018)."""
    order: Order = "depth-reward"
    """Which node p-IW expands next: the least deep, then the one with most reward; or that with
    most reward."""
    queues: Queues = "both"
    """Where a new node of 2BFS waits: in both queues, or in one (as in its authors' code): that for
    reward if it has a return other than 0, otherwise that for novelty."""
    frame_skip: Annotated[int, Range(1, 1000)] = FRAME_SKIP
    """Frames that an Atari game holds an action for in one call. The paper: 15; before 2018: 5."""
    action_set: ActionSet = "minimal"
    """Actions of an Atari game: the minimal set of those that do something (the paper), or all 18
    (full), as before 2019."""
    action_levels: Annotated[int | None, Range(2, 256)] = None
    """Levels of every dimension of actions that are numbers of a range (a Gymnasium Box), evenly
    between its bounds; 256 actions in all at most."""
    training_actions: Count = 200
    """Most actions of a training episode. The paper: 200."""
    max_training_episodes: Count = 30
    """Most training episodes of Olive. The paper: 30."""
    first_share: Annotated[float, Range(0, 1, above=True)] = 1 / 30
    """Share of the training calls that the first training episode of Olive may spend."""
    screens_per_episode: Count = 500
    """Screens that Olive adds to its training set after each training episode. The paper: 500."""
    screen_limit: Count = 15_000
    """Most screens in the training set. The paper: 15,000."""
    collection_features: Annotated[str | Features, PartOf(FEATURES, (WHERE_POSSIBLE,))] = "auto"
    """Features before any are learned: in VAE-IW's collection and Olive's first episode. auto:
    B-PROST for Atari games (the paper), patches elsewhere."""
    collection_bandit: Annotated[str | Bandit, PartOf(BANDITS)] = "uniform"
    """Bandit before any features are learned. The paper: uniform."""
    collection_width: Annotated[int, Range(1, 2)] = 1
    """Width before any features are learned. The paper: 1."""

    def __post_init__(self) -> None:
        settings.check(self)

    def of_environments(self) -> dict[str, Any]:
        """Options of `GymnasiumSimulator`: who plans on numbers needs no pictures."""
        levels = {} if self.action_levels is None else {"action_levels": self.action_levels}
        numbers = self.features == "values" or isinstance(self.features, Values)
        return levels | ({"screen": "none"} if numbers else {})
