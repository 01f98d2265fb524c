"""Agents whose planner a policy guides: they learn it while they play (π-IW, π-IW+, HIW, N-CPL)."""

import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, final

import numpy as np

from olive_iw.agents.episode import Episode, Observer, TrainingEpisode, play_episode
from olive_iw.agents.learner import WEIGHTS, Planning, Progress, load_progress, save_progress
from olive_iw.agents.spec import REPLAY, TRAINING, Spec
from olive_iw.errors import DamagedFileError
from olive_iw.features.vae import TrainingReport
from olive_iw.features.vae.config import HistoryEntry
from olive_iw.features.vae.devices import one_thread
from olive_iw.planners import Decision, Planner
from olive_iw.policy.tensors import KEY, read_tensors, write_tensors
from olive_iw.policy.trainer import Trainer
from olive_iw.randomness import child_seed, generator
from olive_iw.simulators.base import Simulator

LEARNING = "learning.safetensors"
GONE = (
    "This training episode was planned with a policy that has learned since: it is replayed from "
    "its actions, without trees."
)


@final
class PolicyLearner:
    """Plays with the newest policy, and lets its trainer learn from decisions and episodes."""

    def __init__(self, spec: Spec, trainer: Trainer, untrained: Callable[[], Planner]) -> None:
        """Assemble a learner; `untrained` makes a planner with the first weights."""
        self.spec, self.trainer = spec, trainer
        self.progress = Progress()
        self._untrained = untrained
        self._seconds = 0.0

    def is_spent(self, calls: int) -> bool:
        """Whether a training with so many calls is over."""
        return self.progress.calls >= calls

    def training_episode(
        self, simulator: Simulator, calls: int, observer: Observer
    ) -> TrainingEpisode:
        """Play an episode with the newest policy, and learn from it."""
        spec, progress, number = self.spec, self.progress, self.progress.episodes
        trainer, self._seconds = self.trainer, 0.0
        trainer.guide.prepare(simulator, simulator.reset())
        trainer.start(generator(spec.seed, REPLAY, number))
        game = play_episode(
            trainer.planner,
            simulator,
            spec.decisions,
            seed=child_seed(spec.seed, TRAINING, number),
            max_actions=spec.options.training_actions,
            max_calls=calls - progress.calls,
            observer=_Lessons(self, observer),
        )
        game.seconds -= self._seconds
        over = game.ended == "game over"
        self.timed(trainer.after_episode, game.rewards, over, observer.on_network_step)
        progress.count(game)
        progress.finished = self.is_spent(calls)
        held, report = len(trainer.experience.rows), self._report()
        return TrainingEpisode(number, (game,), progress.calls, len(game.actions), held, report)

    def planning_of(
        self, number: int, game: int, simulator: Simulator, before: int, calls: int
    ) -> Planning:
        """Say how a training episode was planned; the first was, before anything was learned."""
        if number > 0:
            return Planning(None, why_not=GONE)
        return Planning(self._untrained(), child_seed(self.spec.seed, TRAINING, 0), calls - before)

    def timed(self, learn: Callable[..., None], *of: Any) -> None:
        """Learn, and count the seconds that it takes, which are not the game's."""
        began = perf_counter()
        with one_thread():
            learn(*of)
        self._seconds += perf_counter() - began

    def _report(self) -> TrainingReport | None:
        """Say what was learned in this episode, if anything was."""
        trainer, steps = self.trainer, len(self.trainer.losses)
        if not steps:
            return None
        self.progress.trainings += 1
        entry = HistoryEntry(steps, float(np.mean(trainer.losses)), None, 0.0)
        held, speed = len(trainer.experience.rows), steps * trainer.training.batch / self._seconds
        return TrainingReport((entry,), steps, held, self._seconds, speed)

    def save(self, folder: Path) -> None:
        """Write the policy, what it learns from, and the progress; nothing before an episode."""
        save_progress(self.progress, folder)
        if self.trainer.guide.network is not None:
            self.trainer.guide.save(folder / WEIGHTS)
            tensors, plain = self.trainer.state()
            write_tensors(folder / LEARNING, tensors, {KEY: json.dumps(plain)})

    def load(self, folder: Path) -> None:
        """Read them back."""
        self.progress = load_progress(folder)
        if self.progress.episodes or (folder / WEIGHTS).exists():
            self.load_weights(folder / WEIGHTS)
            path = folder / LEARNING
            tensors, plain = read_tensors(path)
            try:
                self.trainer.restore(tensors, plain, path)
            except (KeyError, TypeError, ValueError, RuntimeError) as error:
                raise DamagedFileError(path, f"is of no such learner ({error!r})") from None

    def load_weights(self, path: Path) -> None:
        """Take over the policy of a file."""
        self.trainer.guide.load_weights(path)


class _Lessons(Observer):
    """Lets a trainer learn from every decision, after those who look on."""

    def __init__(self, learner: PolicyLearner, others: Observer) -> None:
        self._learner, self._others = learner, others

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        self._others.on_decision(planner, decision, episode)
        learn = self._learner.trainer.after_decision
        self._learner.timed(learn, decision, episode.rewards)
