"""VAE-IW: collect screens with Rollout-IW on B-PROST, train one network, play with it."""

from pathlib import Path
from typing import final

from olive_iw.agents.base import (
    RESERVOIR,
    TRAINING,
    Observer,
    Planning,
    Progress,
    TrainingEpisode,
    collecting_screens,
)
from olive_iw.agents.learning import (
    SCREENS,
    load_learned,
    play_training,
    save_learned,
    train_network,
)
from olive_iw.agents.planning import collection_planner
from olive_iw.agents.spec import Spec
from olive_iw.features.binary_vae import BinaryVae
from olive_iw.planners import Planner
from olive_iw.randomness import child_seed, generator
from olive_iw.screens import Reservoir
from olive_iw.simulators.base import Simulator


@final
class OfflineLearner:
    """Learns once, from a uniform sample of the screens that another planner met."""

    def __init__(self, spec: Spec, vae: BinaryVae) -> None:
        self.spec = spec
        self.vae = vae
        self.progress = Progress()
        self.screens = Reservoir(spec.options.screen_limit, generator(spec.seed, RESERVOIR))
        self._collector: Planner | None = None

    def is_spent(self, calls: int) -> bool:
        """Whether a training with so many calls is over."""
        return self.progress.calls >= calls

    def training_episode(
        self, simulator: Simulator, calls: int, observer: Observer
    ) -> TrainingEpisode:
        """Play an episode that collects screens; after the last one, train the network."""
        progress, number, met = self.progress, self.progress.episodes, self.screens.seen
        collector = self._collector or collection_planner(simulator, self.spec.options)
        self._collector = collector
        left, kind = calls - progress.calls, self.spec.network.image
        with collecting_screens(collector, simulator, kind, self.screens.offer):
            game = play_training(self.spec, collector, simulator, (number,), left, observer)
        progress.calls += game.calls
        progress.episodes += 1
        progress.finished = self.is_spent(calls)
        report = None
        if progress.finished:
            collector.close()
            images = self.screens.images
            report = train_network(self.spec, self.vae, images, progress.trainings, observer)
            progress.trainings += 1
        return TrainingEpisode(
            number,
            (game,),
            calls_spent=progress.calls,
            candidates=self.screens.seen - met,
            screens=len(self.screens),
            training=report,
        )

    def planning_of(
        self, number: int, game: int, simulator: Simulator, calls_before: int, training_calls: int
    ) -> Planning:
        """Say how a training episode was planned; see `Agent.planning_of`."""
        return Planning(
            collection_planner(simulator, self.spec.options),
            child_seed(self.spec.seed, TRAINING, number),
            training_calls - calls_before,
        )

    def save(self, folder: Path) -> None:
        """Write what was learned and how far the training has come, into an existing folder."""
        save_learned(folder, self.vae, self.screens, self.progress)

    def load(self, folder: Path) -> None:
        """Read back what `save` wrote, to go on exactly."""
        self.progress = load_learned(folder, self.vae)
        self.screens = Reservoir.load(folder / SCREENS)
