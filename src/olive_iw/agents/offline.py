"""VAE-IW: collect screens with Rollout-IW on B-PROST, train one network, play with it."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import final

from olive_iw.agents.base import RESERVOIR, Observer, TrainingEpisode, collecting_screens
from olive_iw.agents.learning import LearningAgent
from olive_iw.agents.planning import collection_planner
from olive_iw.agents.spec import Spec
from olive_iw.features import Features
from olive_iw.features.binary_vae import BinaryVae
from olive_iw.planners import Planner
from olive_iw.randomness import generator
from olive_iw.screens import Reservoir
from olive_iw.simulators.base import Simulator


@final
class OfflineAgent(LearningAgent):
    """Learns once, from a uniform sample of the screens that another planner met."""

    screens: Reservoir

    def __init__(
        self,
        spec: Spec,
        vae: BinaryVae,
        make_planner: Callable[[Features], Planner],
    ) -> None:
        super().__init__(spec, vae, make_planner)
        self.screens = Reservoir(spec.options.screen_limit, generator(spec.seed, RESERVOIR))
        self._collector: Planner | None = None

    def _training_episode(
        self, simulator: Simulator, calls: int, observer: Observer
    ) -> TrainingEpisode:
        number, met = self.progress.episodes, self.screens.seen
        options = self.spec.options
        collector = self._collector = self._collector or collection_planner(simulator, options)
        left, kind = calls - self.progress.calls, self.spec.network.image
        with collecting_screens(collector, simulator, kind, self.screens.offer):
            episode = self._play_training(collector, simulator, (number,), left, observer)
        self._count(episode, calls, episodes=math.inf)
        if self.progress.finished:
            collector.close()
        report = self._train_network(0, observer) if self.progress.finished else None
        return TrainingEpisode(
            number,
            episode,
            calls_spent=self.progress.calls,
            candidates=self.screens.seen - met,
            screens=len(self.screens),
            training=report,
        )

    def _load_screens(self, path: Path) -> None:
        self.screens = Reservoir.load(path)
