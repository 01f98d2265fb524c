"""Olive: play an episode, learn from the screens it showed, play the next one better."""

from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

from olive_iw.agents.base import (
    SELECTION,
    TRAINING,
    Episode,
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
from olive_iw.screens import ScreenSet
from olive_iw.selection import at_random, make_selection
from olive_iw.simulators.base import Simulator

GONE = (
    "This training episode was planned with features that have been trained further since: "
    "it is replayed from its actions, without trees."
)


@final
class OnlineLearner:
    """Learns while it plays: Olive, active or passive by its rule of selection."""

    def __init__(self, spec: Spec, vae: BinaryVae, planner: Planner) -> None:
        """Assemble a learner; the planner is the agent's, and plans with the network's features."""
        self.spec = spec
        self.vae = vae
        self.planner = planner
        self.progress = Progress()
        self.screens = ScreenSet(spec.options.screen_limit)

    def is_spent(self, calls: int) -> bool:
        """Whether a training with so many calls is over."""
        done = self.progress
        return done.calls >= calls or done.episodes >= self.spec.options.max_training_episodes

    def training_episode(
        self, simulator: Simulator, calls: int, observer: Observer
    ) -> TrainingEpisode:
        """Play an episode with the newest features, add screens, and train the network again."""
        progress, number, met = self.progress, self.progress.episodes, ScreenSet()
        if number == 0:
            games = self._first_episode(simulator, met, calls, observer)
        else:
            left, kind = calls - progress.calls, self.spec.network.image
            with collecting_screens(self.planner, simulator, kind, met.add):
                games = [
                    play_training(self.spec, self.planner, simulator, (number,), left, observer)
                ]
        progress.calls += sum(game.calls for game in games)
        progress.episodes += 1
        progress.finished = self.is_spent(calls)
        candidates = met.not_in(self.screens)
        self._add_screens(candidates, number)
        report = train_network(self.spec, self.vae, self.screens.images, number, observer)
        progress.trainings += 1
        return TrainingEpisode(
            number,
            tuple(games),
            calls_spent=progress.calls,
            candidates=len(candidates),
            screens=len(self.screens),
            training=report,
        )

    def _first_episode(
        self, simulator: Simulator, met: ScreenSet, calls: int, observer: Observer
    ) -> list[Episode]:
        """Play with Rollout-IW on B-PROST, game after game, until its share of calls is spent."""
        planner = collection_planner(simulator, self.spec.options)
        share = self._first_share(calls)
        games: list[Episode] = []
        with collecting_screens(planner, simulator, self.spec.network.image, met.add):
            while (left := share - sum(game.calls for game in games)) > 0:
                key = (0, len(games))
                games.append(play_training(self.spec, planner, simulator, key, left, observer))
        planner.close()
        return games

    def _first_share(self, calls: int) -> int:
        return max(1, round(calls * self.spec.options.first_share))

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

    def planning_of(
        self, number: int, game: int, simulator: Simulator, calls_before: int, training_calls: int
    ) -> Planning:
        """Say how a training episode was planned; see `Agent.planning_of`."""
        if number > 0:
            return Planning(None, why_not=GONE)
        return Planning(
            collection_planner(simulator, self.spec.options),
            child_seed(self.spec.seed, TRAINING, 0, game),
            self._first_share(training_calls) - calls_before,
        )

    def save(self, folder: Path) -> None:
        """Write what was learned and how far the training has come, into an existing folder."""
        save_learned(folder, self.vae, self.screens, self.progress)

    def load(self, folder: Path) -> None:
        """Read back what `save` wrote, to go on exactly."""
        self.progress = load_learned(folder, self.vae)
        self.screens = ScreenSet.load(folder / SCREENS, self.spec.options.screen_limit)
