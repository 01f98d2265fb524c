"""One episode: decide, act, until the game is over or a limit is reached."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from olive_iw.errors import InputError
from olive_iw.planners import Decision, Ledger, Planner
from olive_iw.simulators.base import Simulator

Ended: TypeAlias = Literal["game over", "action limit", "calls spent"]


@dataclass(slots=True)
class Episode:
    """What was played. Lists have one entry per action."""

    actions: list[int] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    values: list[NDArray[np.float64]] = field(default_factory=list)
    """Risk-averse value of every action at each decision; NaN where none was tried."""
    calls: int = 0
    """Simulator calls made for planning."""
    seconds: float = 0.0
    """Wall time."""
    lives: int = 0
    """Lives left at the end."""
    ended: Ended = "action limit"
    rollouts: int = 0
    rollout_depth: int = 0
    """Depths at which the rollouts ended, added up."""
    exhausted: int = 0
    """Decisions that ended because nothing was left to search."""
    tied_decisions: int = 0
    """Decisions in which several actions shared the greatest value."""
    unused_calls: int = 0
    """Calls that the decisions were given and did not make."""
    twins: int = 0
    """Calls that bought a state in which a sibling was already."""
    pruned_new: int = 0
    """Calls whose new state showed nothing new and was pruned at once."""
    table_overflows: int = 0
    """Decisions in which the novelty table was full; see `Width2Table`."""
    cache_hits: int = 0
    cache_misses: int = 0
    seconds_by_part: dict[str, float] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """Undiscounted sum of raw rewards."""
        return float(sum(self.rewards))


Watch: TypeAlias = Callable[[Planner, Decision, Episode], None]
"""Called after each decision, before its action is done for good."""


def play_episode(
    planner: Planner,
    simulator: Simulator,
    *,
    seed: int,
    calls_per_action: int,
    max_actions: int,
    seconds_per_action: float | None = None,
    max_calls: int | None = None,
    watch: Watch | None = None,
) -> Episode:
    """Play from reset to game over, `max_actions` actions, or `max_calls` calls."""
    for name, limit in (("calls_per_action", calls_per_action), ("max_actions", max_actions)):
        if limit < 1:
            raise InputError(f"{name} = {limit} is not possible; it must be at least 1")
    episode = Episode()
    began = perf_counter()
    planner.start(simulator, seed)
    while not planner.over and len(episode.actions) < max_actions:
        left = calls_per_action if max_calls is None else max_calls - planner.ledger.calls
        if left < 1:
            break
        decision = planner.decide(min(calls_per_action, left), seconds_per_action)
        episode.exhausted += decision.stopped == "exhausted"
        episode.values.append(decision.values)
        if watch is not None:
            watch(planner, decision, episode)
        step = planner.advance(decision.action)
        episode.actions.append(decision.action)
        episode.rewards.append(step.reward)
    _close(episode, planner, max_actions, perf_counter() - began)
    return episode


def _close(episode: Episode, planner: Planner, max_actions: int, seconds: float) -> None:
    take_counts(episode, planner.ledger, seconds)
    episode.lives = planner.root.lives
    if planner.over:
        episode.ended = "game over"
    elif len(episode.actions) < max_actions:
        episode.ended = "calls spent"


COUNTED = (
    "rollouts",
    "rollout_depth",
    "tied_decisions",
    "unused_calls",
    "twins",
    "pruned_new",
    "cache_hits",
    "cache_misses",
)
"""What an episode takes over from the planner's counters, under the same names."""


def take_counts(episode: Episode, ledger: Ledger, seconds: float) -> None:
    """Note what an episode has cost."""
    episode.calls = ledger.calls
    episode.seconds = seconds
    counters = ledger.counters
    for name in COUNTED:
        setattr(episode, name, getattr(counters, name))
    episode.table_overflows = counters.overflows
    episode.seconds_by_part = ledger.stopwatches.seconds()
