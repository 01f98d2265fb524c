"""What an agent is: a planner that plays, and perhaps features that it learns first."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from olive_iw.agents.episode import Episode, play_episode
from olive_iw.agents.spec import Spec
from olive_iw.features.binary_vae import TrainingReport, TrainingStep
from olive_iw.features.image import ImageKind, grey_image
from olive_iw.planners import Decision, Planner, SearchWatch
from olive_iw.randomness import child_seed
from olive_iw.simulators.base import Simulator, Step, grey_levels

FORMAT = 1
"""Of a saved agent."""
SPEC = "agent.json"

# Keys of the generators of a run: each part of it has one of its own.
TRAINING, EVALUATION, NETWORK, SELECTION, RESERVOIR = range(5)


@dataclass(frozen=True, slots=True)
class TrainingEpisode:
    """One training episode, and what was learned after it."""

    number: int
    episode: Episode
    calls_spent: int
    """Training calls spent so far, this episode's included."""
    candidates: int
    """Distinct screens of the episode that were not in the training set."""
    screens: int
    """Screens in the training set after the episode."""
    training: TrainingReport | None
    """The training of the network that followed, if one did."""


class Observer:
    """Watches an agent train and play; every method does nothing unless overridden."""

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        """Do something after each decision, before its action is done."""

    def on_network_step(self, step: TrainingStep) -> None:
        """Do something after each step of the network's training."""

    def on_training_episode(self, done: TrainingEpisode) -> None:
        """Do something after a training episode and what was learned from it."""

    def on_checkpoint(self) -> None:
        """Save the agent: from here its training can be resumed exactly."""


class Agent(Protocol):
    """Trains, then plays."""

    spec: Spec
    planner: Planner

    def train(self, simulator: Simulator, calls: int, observer: Observer | None = None) -> None:
        """Learn with at most `calls` simulator calls; goes on where an earlier call stopped."""
        ...

    def play(
        self,
        simulator: Simulator,
        max_actions: int = 18_000,
        episode: int | None = None,
        observer: Observer | None = None,
    ) -> Episode:
        """Play an evaluation episode; nothing is learned. Each number has its own randomness.

        Without a number it is the one after the last played.
        """
        ...

    def save(self, folder: Path | str) -> None:
        """Write everything that `load_agent` needs to go on exactly."""
        ...

    def save_learned(self, folder: Path) -> None:
        """Write what was learned and how far the training has come, into an existing folder."""
        ...

    def load_learned(self, folder: Path) -> None:
        """Read back what `save_learned` wrote, to go on exactly."""
        ...


def evaluation_episode(
    planner: Planner,
    spec: Spec,
    simulator: Simulator,
    max_actions: int,
    number: int,
    observer: Observer | None,
) -> Episode:
    """Play the evaluation episode of a number, with its own randomness."""
    return play_episode(
        planner,
        simulator,
        seed=child_seed(spec.seed, EVALUATION, number),
        calls_per_action=spec.options.calls_per_action,
        seconds_per_action=spec.options.seconds_per_action,
        max_actions=max_actions,
        watch=None if observer is None else observer.on_decision,
    )


def save_agent(agent: Agent, folder: Path) -> None:
    """Write an agent's specification, and what it has learned."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"format": FORMAT, **agent.spec.to_dict()}, indent=2)
    (folder / SPEC).write_text(text, encoding="utf-8")
    agent.save_learned(folder)


@contextmanager
def collecting_screens(
    planner: Planner,
    simulator: Simulator,
    kind: ImageKind,
    look: Callable[[NDArray[np.uint8]], object],
) -> Iterator[None]:
    """Show every screen that a planner meets meanwhile to `look`: its grey image of a kind."""
    levels = grey_levels(simulator)

    class Collector(SearchWatch):
        def on_step(self, step: Step) -> None:
            look(grey_image(step.screen, levels, kind))

    with planner.watched_by(Collector()):
        yield
