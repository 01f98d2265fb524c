"""What agents that learn have in common: a network, a training set, and how far they have come."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from olive_iw.agents.base import (
    NETWORK,
    TRAINING,
    Observer,
    TrainingEpisode,
    evaluation_episode,
    save_agent,
)
from olive_iw.agents.episode import Episode, play_episode
from olive_iw.agents.spec import Spec
from olive_iw.errors import InputError
from olive_iw.features import Features
from olive_iw.features.binary_vae import BinaryVae, TrainingReport
from olive_iw.planners import Planner
from olive_iw.randomness import child_seed, generator
from olive_iw.screens import Reservoir, ScreenSet
from olive_iw.simulators.base import Simulator

WEIGHTS = "network.safetensors"
PROGRESS = "progress.json"
SCREENS = "screens.npy"


@dataclass(slots=True)
class Progress:
    """How far a training has come."""

    calls: int = 0
    """Training calls spent."""
    episodes: int = 0
    """Training episodes done."""
    finished: bool = False


class LearningAgent(ABC):
    """Plays training episodes, learns features from their screens, then plays with them."""

    screens: ScreenSet | Reservoir

    def __init__(
        self,
        spec: Spec,
        vae: BinaryVae,
        make_planner: Callable[[Features], Planner],
    ) -> None:
        self.spec = spec
        self.vae = vae
        self.planner = make_planner(vae)
        self.progress = Progress()
        self._next_episode = 0

    def train(self, simulator: Simulator, calls: int, observer: Observer | None = None) -> None:
        """Play training episodes and learn, until the calls are spent."""
        if calls < 1:
            raise InputError(f"training_calls = {calls} is not possible; it must be at least 1")
        observer = observer or Observer()
        while not self.progress.finished:
            done = self._training_episode(simulator, calls, observer)
            observer.on_training_episode(done)
            observer.on_checkpoint()

    @abstractmethod
    def _training_episode(
        self, simulator: Simulator, calls: int, observer: Observer
    ) -> TrainingEpisode:
        """Play one training episode, bring the training set and the network up to date."""

    def _play_training(
        self,
        planner: Planner,
        simulator: Simulator,
        key: tuple[int, ...],
        max_calls: int,
        observer: Observer,
    ) -> Episode:
        return play_episode(
            planner,
            simulator,
            seed=child_seed(self.spec.seed, TRAINING, *key),
            calls_per_action=self.spec.options.calls_per_action,
            seconds_per_action=self.spec.options.seconds_per_action,
            max_actions=self.spec.options.training_actions,
            max_calls=max_calls,
            watch=observer.on_decision,
        )

    def _count(self, episode: Episode, calls: int, episodes: float) -> None:
        """Note a training episode; the last is the one that spends the calls or the episodes."""
        self.progress.calls += episode.calls
        self.progress.episodes += 1
        self.progress.finished = self.progress.calls >= calls or self.progress.episodes >= episodes

    def _train_network(self, number: int, observer: Observer) -> TrainingReport:
        """Train on the screens there are; each number has its own randomness."""
        images = self.screens.images
        if len(images) < 2:
            raise InputError(
                f"too few distinct screens to learn from ({len(images)}); "
                "give more training calls, or a game that shows more than one screen"
            )
        draw = generator(self.spec.seed, NETWORK, number + 1)
        return self.vae.train(images, self.spec.training, draw, on_step=observer.on_network_step)

    def play(
        self,
        simulator: Simulator,
        max_actions: int = 18_000,
        episode: int | None = None,
        observer: Observer | None = None,
    ) -> Episode:
        """Play an evaluation episode with the newest features; nothing is learned."""
        number = self._next_episode if episode is None else episode
        self._next_episode = number + 1
        return evaluation_episode(self.planner, self.spec, simulator, max_actions, number, observer)

    def save(self, folder: Path | str) -> None:
        """Write everything that `load_agent` needs to go on exactly."""
        save_agent(self, Path(folder))

    @abstractmethod
    def _load_screens(self, path: Path) -> None:
        """Read the training set back."""

    def save_learned(self, folder: Path) -> None:
        """Write network, screens and progress."""
        self.vae.save(folder / WEIGHTS)
        self.screens.save(folder / SCREENS)
        (folder / PROGRESS).write_text(json.dumps(asdict(self.progress)), encoding="utf-8")

    def load_learned(self, folder: Path) -> None:
        """Read back what `save_learned` wrote."""
        self.vae.load_weights(folder / WEIGHTS)
        self._load_screens(folder / SCREENS)
        self.progress = _read_progress(folder / PROGRESS)


def _read_progress(path: Path) -> Progress:
    try:
        fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Progress(**fields)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{path} is not a checkpoint's progress: {error}") from None
