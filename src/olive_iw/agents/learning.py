"""Learning the features: once from screens that another planner met, or online while playing."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.agents.episode import Episode, Observer, TrainingEpisode, play_episode
from olive_iw.agents.learner import WEIGHTS, Planning, Progress, load_progress, save_progress
from olive_iw.agents.parts import Chosen, Options
from olive_iw.agents.screens import Reservoir, ScreenSet
from olive_iw.agents.selection import at_random, make_selection
from olive_iw.agents.spec import (
    NETWORK,
    RESERVOIR,
    SELECTION,
    TRAINING,
    Spec,
    make_planner,
)
from olive_iw.errors import InputError
from olive_iw.features import BProst, Features, FeaturesError, Patches, make_features
from olive_iw.features.image import grey_image
from olive_iw.features.vae import TrainingReport
from olive_iw.planners import Planner, SearchWatch
from olive_iw.planners.rollout_iw import RolloutOptions
from olive_iw.randomness import child_seed, generator
from olive_iw.simulators.base import Simulator, Step, grey_levels

if TYPE_CHECKING:
    from olive_iw.features.vae import BinaryVae

SCREENS = "screens.npy"
GONE = (
    "This training episode was planned with features that have been trained further since: "
    "it is replayed from its actions, without trees."
)


WHERE_POSSIBLE = "auto"
"""Features to collect screens with: B-PROST where it can be had, otherwise patches."""


def collection_planner(simulator: Simulator, options: Options) -> Planner:
    """Rollout-IW that collects screens before any features are learned, with a run's options.

    Its features, bandit and width are options of their own, and no rules bend what it collects.
    """
    search = RolloutOptions(
        options.reseed_search,
        options.discount,
        options.depth_limit,
        options.risk_averse,
        options.collection_width,
        options.collection_bandit,
        options.get("search_workers", 1),
    )

    def on(features: Features) -> Planner:
        return make_planner(Options((("search", Chosen()), ("search", search))), features)

    if options.collection_features != WHERE_POSSIBLE:
        return on(make_features(options.collection_features))
    features = BProst()
    try:
        features.prepare(simulator, simulator.reset())
    except FeaturesError:
        return on(Patches())
    return on(features)


class _FeatureLearner:
    """What those who learn a VAE share: files."""

    spec: Spec
    vae: "BinaryVae"
    progress: Progress
    screens: Reservoir | ScreenSet

    def save(self, folder: Path) -> None:
        """Write the network, the training set and the progress."""
        self.vae.save(folder / WEIGHTS)
        self.screens.save(folder / SCREENS)
        save_progress(self.progress, folder)

    def load(self, folder: Path) -> None:
        """Read them back."""
        self.load_weights(folder / WEIGHTS)
        self.progress = load_progress(folder)
        limit = self.spec.options.screen_limit
        self.screens = type(self.screens).load(folder / SCREENS, limit)

    def load_weights(self, path: Path) -> None:
        """Take over the weights of a file."""
        self.vae.load_weights(path)


@final
class OfflineLearner(_FeatureLearner):
    """VAE-IW: collects screens with Rollout-IW on B-PROST, then trains one network on a sample."""

    def __init__(self, spec: Spec, vae: "BinaryVae") -> None:
        self.spec = spec
        self.vae = vae
        self.progress = Progress()
        self.screens: Reservoir = Reservoir(
            spec.options.screen_limit, generator(spec.seed, RESERVOIR)
        )
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
        play = partial(_play, self.spec, collector, simulator, self.screens.offer, observer)
        game = play(calls - progress.calls, number)
        progress.count(game)
        progress.finished = self.is_spent(calls)
        report = None
        if progress.finished:
            collector.close()
            report = _train(self, progress.trainings, observer)
        found = self.screens.seen - met
        return TrainingEpisode(number, (game,), progress.calls, found, len(self.screens), report)

    def planning_of(
        self, number: int, game: int, simulator: Simulator, before: int, calls: int
    ) -> Planning:
        """Say how a training episode was planned: all alike."""
        planner = collection_planner(simulator, self.spec.options)
        return Planning(planner, child_seed(self.spec.seed, TRAINING, number), calls - before)


@final
class OnlineLearner(_FeatureLearner):
    """Olive: plays an episode, learns from the screens it showed, plays the next one better.

    It is active or passive by its rule of selection.
    """

    def __init__(self, spec: Spec, vae: "BinaryVae", planner: Planner) -> None:
        """Assemble a learner; the planner is the agent's, and plans with the network's features."""
        self.spec = spec
        self.vae = vae
        self.planner = planner
        self.progress = Progress()
        self.screens: ScreenSet = ScreenSet(spec.options.screen_limit)

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
            play = partial(_play, self.spec, self.planner, simulator, met.add, observer)
            left = calls - progress.calls
            games = [play(left, number)]
        progress.count(*games)
        progress.finished = self.is_spent(calls)
        candidates = met.not_in(self.screens)
        self._add_screens(candidates, number)
        report = _train(self, number, observer)
        held = len(self.screens)
        return TrainingEpisode(number, tuple(games), progress.calls, len(candidates), held, report)

    def _first_episode(
        self, simulator: Simulator, met: ScreenSet, calls: int, observer: Observer
    ) -> list[Episode]:
        """Play with Rollout-IW on B-PROST, game after game, until its share of calls is spent."""
        planner = collection_planner(simulator, self.spec.options)
        play = partial(_play, self.spec, planner, simulator, met.add, observer)
        left, games = self.first_share(calls), list[Episode]()
        while left > 0:
            games.append(play(left, 0, len(games)))
            left -= games[-1].calls
        planner.close()
        return games

    def first_share(self, calls: int) -> int:
        """Return how many of the training calls the first episode may spend."""
        share: float = self.spec.options.first_share
        return max(1, round(calls * share))

    def _add_screens(self, candidates: NDArray[np.uint8], number: int) -> None:
        """Add k of an episode's new screens; after the last one fill the set up from the rest.

        Before the first training there is no encoder to ask, so the choice is random.
        """
        draw = generator(self.spec.seed, SELECTION, number)
        select = at_random if number == 0 else make_selection(self.spec.options.selection)
        chosen = select(candidates, self.vae, self.spec.options.screens_per_episode, draw)
        for image in candidates[chosen]:
            self.screens.add(image)
        if self.progress.finished:
            rest = np.delete(candidates, chosen, axis=0)
            for image in rest[at_random(rest, self.vae, self.screens.room, draw)]:
                self.screens.add(image)

    def planning_of(
        self, number: int, game: int, simulator: Simulator, before: int, calls: int
    ) -> Planning:
        """Say how a training episode was planned; see `Agent.planning_of`."""
        if number > 0:
            return Planning(None, why_not=GONE)
        planner, seed = collection_planner(simulator, self.spec.options), self.spec.seed
        left = self.first_share(calls) - before
        return Planning(planner, child_seed(seed, TRAINING, number, game), left)


def _play(
    spec: Spec,
    planner: Planner,
    simulator: Simulator,
    look: Callable[[NDArray[np.uint8]], object],
    observer: Observer,
    max_calls: int,
    *key: int,
) -> Episode:
    """Play a game of a training episode; each `key` has its own randomness.

    Every screen that the planner meets is shown to `look`: its grey image, 128×128.
    """
    levels, kind = grey_levels(simulator), spec.network.image

    class Collector(SearchWatch):
        def on_step(self, step: Step) -> None:
            look(grey_image(step.screen, levels, kind))

    with planner.watched_by(Collector()):
        return play_episode(
            planner,
            simulator,
            spec.decisions,
            seed=child_seed(spec.seed, TRAINING, *key),
            max_actions=spec.options.training_actions,
            max_calls=max_calls,
            observer=observer,
        )


def _train(
    learner: OfflineLearner | OnlineLearner, number: int, observer: Observer
) -> TrainingReport:
    """Train the network on the screens there are; each number has its own randomness."""
    images, spec = learner.screens.images, learner.spec
    if len(images) < 2:
        raise InputError(
            f"too few distinct screens to learn from ({len(images)}); "
            "give more training calls, or a game that shows more than one screen"
        )
    learner.progress.trainings += 1
    draw = generator(spec.seed, NETWORK, number + 1)
    return learner.vae.train(images, spec.training, draw, on_step=observer.on_network_step)
