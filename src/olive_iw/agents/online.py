"""Olive: play an episode, learn from the screens it showed, play the next one better."""

from collections.abc import Callable
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

from olive_iw.agents.base import SELECTION, Observer, TrainingEpisode, collecting_screens
from olive_iw.agents.episode import Episode
from olive_iw.agents.learning import LearningAgent
from olive_iw.agents.planning import collection_planner
from olive_iw.agents.spec import Spec
from olive_iw.features import Features
from olive_iw.features.binary_vae import BinaryVae
from olive_iw.planners import Planner
from olive_iw.randomness import generator
from olive_iw.screens import ScreenSet
from olive_iw.selection import at_random, make_selection
from olive_iw.simulators.base import Simulator


@final
class OnlineAgent(LearningAgent):
    """Learns while it plays: Olive, active or passive by its rule of selection."""

    screens: ScreenSet

    def __init__(
        self,
        spec: Spec,
        vae: BinaryVae,
        make_planner: Callable[[Features], Planner],
    ) -> None:
        super().__init__(spec, vae, make_planner)
        self.screens = ScreenSet(spec.options.screen_limit)

    def _training_episode(
        self, simulator: Simulator, calls: int, observer: Observer
    ) -> TrainingEpisode:
        number = self.progress.episodes
        met = ScreenSet()
        if number == 0:
            episode = self._first_episode(simulator, met, calls, observer)
        else:
            left, kind = calls - self.progress.calls, self.spec.network.image
            with collecting_screens(self.planner, simulator, kind, met.add):
                episode = self._play_training(self.planner, simulator, (number,), left, observer)
        self._count(episode, calls, episodes=self.spec.options.max_training_episodes)
        candidates = met.not_in(self.screens)
        self._add_screens(candidates, number)
        return TrainingEpisode(
            number,
            episode,
            calls_spent=self.progress.calls,
            candidates=len(candidates),
            screens=len(self.screens),
            training=self._train_network(number, observer),
        )

    def _first_episode(
        self, simulator: Simulator, met: ScreenSet, calls: int, observer: Observer
    ) -> Episode:
        """Play with Rollout-IW on B-PROST, game after game, until its share of calls is spent.

        Returns the first game, with the calls of all.
        """
        planner = collection_planner(simulator, self.spec.options)
        share = max(1, round(calls * self.spec.options.first_share))
        games: list[Episode] = []
        with collecting_screens(planner, simulator, self.spec.network.image, met.add):
            while (spent := sum(game.calls for game in games)) < share:
                key = (0, len(games))
                games.append(self._play_training(planner, simulator, key, share - spent, observer))
        planner.close()
        games[0].calls = spent
        return games[0]

    def _add_screens(self, candidates: NDArray[np.uint8], number: int) -> None:
        """Add k of an episode's new screens; after the last one fill the set up from the rest.

        Before the first training there is no encoder to ask, so the choice is random.
        """
        draw = generator(self.spec.seed, SELECTION, number)
        select = at_random if number == 0 else make_selection(self.spec.options.selection)
        chosen = select(candidates, self.vae, self.spec.options.screens_per_episode, draw)
        self._add(candidates[chosen])
        if self.progress.finished:
            rest = np.delete(candidates, chosen, axis=0)
            self._add(rest[at_random(rest, self.vae, self.screens.room, draw)])

    def _add(self, images: NDArray[np.uint8]) -> None:
        for image in images:
            self.screens.add(image)

    def _load_screens(self, path: Path) -> None:
        self.screens = ScreenSet.load(path, self.spec.options.screen_limit)
