"""Episodes: what is played, who hears of it, and how: decide, act, until the game is over."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from time import perf_counter
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from olive_iw.agents.parts import Decisions
from olive_iw.features.vae import TrainingReport, TrainingStep
from olive_iw.planners import Decision, Ledger, Planner
from olive_iw.settings import AT_LEAST_ONE
from olive_iw.simulators.base import Simulator

Ended: TypeAlias = Literal["game over", "action limit", "calls spent"]


@dataclass(slots=True)
class Episode:
    """What was played. Lists have one entry per action."""

    start_actions: list[int] = field(default_factory=list)
    """What was done from the reset to where the episode begins, mostly nothing."""
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
    skipped_twins: int = 0
    """Untried actions that were left out because they were likely to lead to twins."""
    pruned_new: int = 0
    """Calls whose new state showed nothing new and was pruned at once."""
    table_overflows: int = 0
    """Decisions in which the novelty table was full; see `Width2Table`."""
    cache_hits: int = 0
    cache_misses: int = 0
    seconds_by_part: dict[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        spent = f"{self.calls:,} calls, {self.seconds:.1f} s, {self.ended}"
        return f"<Episode with score {self.score:g}, {len(self.actions):,} actions, {spent}>"

    @property
    def score(self) -> float:
        """Undiscounted sum of raw rewards."""
        return float(sum(self.rewards))

    def take_counts(self, ledger: Ledger, seconds: float) -> None:
        """Note what the episode has cost."""
        self.calls = ledger.calls
        self.seconds = seconds
        for counter in fields(ledger.counters):
            if hasattr(self, counter.name):
                setattr(self, counter.name, getattr(ledger.counters, counter.name))
        self.table_overflows = ledger.counters.overflows
        self.skipped_twins = ledger.counters.skipped
        self.seconds_by_part = ledger.stopwatches.seconds()


@dataclass(frozen=True, slots=True)
class TrainingEpisode:
    """One training episode, and what was learned after it."""

    number: int
    games: tuple[Episode, ...]
    """What was played: one game, or in Olive's first episode as many as its share of the calls
    allows."""
    calls_spent: int
    """Training calls spent so far, this episode's included."""
    candidates: int
    """Distinct screens of the episode that were not in the training set."""
    screens: int
    """Screens in the training set after the episode."""
    training: TrainingReport | None
    """The training of the network that followed, if one did."""

    @property
    def calls(self) -> int:
        """Simulator calls of all its games."""
        return sum(game.calls for game in self.games)


class Observer:
    """Watches an agent train and play; every method does nothing unless overridden."""

    def on_episode_start(self, phase: str, number: int) -> None:
        """Do something when a "training" or "evaluation" episode begins."""

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        """Do something after each decision, before its action is done for good."""

    def on_network_step(self, step: TrainingStep) -> None:
        """Do something after each step of the network's training."""

    def on_training_episode(self, done: TrainingEpisode) -> None:
        """Do something after a training episode and what was learned from it."""

    def on_evaluation_episode(self, number: int, episode: Episode) -> None:
        """Do something after an evaluation episode."""

    def on_checkpoint(self) -> None:
        """Save the agent: from here its training can be resumed exactly."""


def play_episode(
    planner: Planner,
    simulator: Simulator,
    limits: Decisions,
    *,
    seed: int,
    max_actions: int,
    max_calls: int | None = None,
    observer: Observer | None = None,
    start_actions: Sequence[int] = (),
) -> Episode:
    """Play from reset to game over, `max_actions` actions, or `max_calls` calls.

    With `start_actions` it begins where these lead from the reset.
    """
    AT_LEAST_ONE.check("max_actions", max_actions)
    episode, watch = Episode([*start_actions]), observer or Observer()
    began = perf_counter()
    planner.start(simulator, seed, start_actions)
    while not planner.over and len(episode.actions) < max_actions:
        calls = limits.calls_per_action
        if max_calls is not None:
            calls = min(calls, max_calls - planner.ledger.calls)
        if calls < 1:
            break
        decision = planner.decide(calls, limits.seconds_per_action)
        episode.exhausted += decision.stopped == "exhausted"
        episode.values.append(decision.values)
        watch.on_decision(planner, decision, episode)
        step = planner.advance(decision.action)
        episode.actions.append(decision.action)
        episode.rewards.append(step.reward)
    episode.take_counts(planner.ledger, perf_counter() - began)
    episode.lives = planner.root.lives
    if planner.over:
        episode.ended = "game over"
    elif len(episode.actions) < max_actions:
        episode.ended = "calls spent"
    return episode
