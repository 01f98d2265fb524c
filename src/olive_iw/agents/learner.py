"""What a learner is: it plays training episodes, learns, and can be stopped after each."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from olive_iw.agents.episode import Episode, Observer, TrainingEpisode
from olive_iw.agents.spec import Spec
from olive_iw.planners import Planner
from olive_iw.reading import fill, read_json
from olive_iw.simulators.base import Simulator

WEIGHTS = "network.safetensors"
PROGRESS = "progress.json"


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

    def count(self, *games: Episode) -> None:
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


class Learner(Protocol):
    """Plays training episodes and learns from them; the agent lets it, checkpoint by checkpoint."""

    spec: Spec
    progress: Progress

    def is_spent(self, calls: int) -> bool:
        """Whether a training with so many calls is over."""

    def training_episode(
        self, simulator: Simulator, calls: int, observer: Observer
    ) -> TrainingEpisode:
        """Play an episode of a training with so many calls in all, and learn from it."""
        ...

    def planning_of(
        self, number: int, game: int, simulator: Simulator, before: int, calls: int
    ) -> Planning:
        """Say how a training episode was planned; see `Agent.planning_of`."""
        ...

    def save(self, folder: Path) -> None:
        """Write what was learned and how far the training has come, into an existing folder."""

    def load(self, folder: Path) -> None:
        """Read back what `save` wrote, to go on exactly."""


@runtime_checkable
class NetworkLearner(Learner, Protocol):
    """One that trains a network."""

    def load_weights(self, path: Path) -> None:
        """Take over what was learned alone, to play with: the file `WEIGHTS` of a saved agent."""


def save_progress(progress: Progress, folder: Path) -> None:
    """Write how far a training has come."""
    (folder / PROGRESS).write_text(json.dumps(asdict(progress)), encoding="utf-8")


def load_progress(folder: Path) -> Progress:
    """Read how far a training has come."""
    return fill(Progress, read_json(folder / PROGRESS), folder / PROGRESS)
