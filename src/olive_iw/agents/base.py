"""What agents and learners tell of their work, and what an observer can hear of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from olive_iw.features.binary_vae import TrainingReport, TrainingStep
from olive_iw.planners import Decision, Ledger, Planner

# Keys of the generators of a run: each part of it has one of its own.
TRAINING, EVALUATION, NETWORK, SELECTION, RESERVOIR = range(5)

COUNTED = (
    *("rollouts", "rollout_depth", "tied_decisions", "unused_calls", "twins", "pruned_new"),
    *("skipped_twins", "cache_hits", "cache_misses"),
)
"""What an episode takes over from the planner's counters, under the same names."""
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
    skipped_twins: int = 0
    """Untried actions that were left out because they were likely to lead to twins."""
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

    def take_counts(self, ledger: Ledger, seconds: float) -> None:
        """Note what the episode has cost."""
        self.calls = ledger.calls
        self.seconds = seconds
        for name in COUNTED:
            setattr(self, name, getattr(ledger.counters, name))
        self.table_overflows = ledger.counters.overflows
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


@dataclass(slots=True)
class Progress:
    """How far a training has come."""

    calls: int = 0
    """Training calls spent."""
    episodes: int = 0
    """Training episodes done."""
    trainings: int = 0
    """Trainings of the network done."""
    finished: bool = False
    """Whether the calls that were given, or the most episodes, are spent."""

    def count(self, games: Sequence[Episode]) -> None:
        """Note the games of a training episode."""
        self.calls += sum(game.calls for game in games)
        self.episodes += 1


@dataclass(frozen=True, slots=True)
class Planning:
    """How an episode was planned: with it, the same decisions come out again."""

    planner: Planner | None
    """None if the features that it planned with are no more."""
    seed: int = 0
    """Seed for `planner.start`."""
    max_calls: int | None = None
    """Calls that the whole episode might spend; None if only its decisions were limited."""
    why_not: str = ""
    """Why there is no planner, in a sentence."""


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
