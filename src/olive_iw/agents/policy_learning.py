"""Learning a policy from the planner's own decisions: π-IW, π-IW+ and HIW, after each of them."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, final

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows it by)
from numpy.typing import NDArray
from torch import Tensor

from olive_iw.agents.episode import Episode, Observer, TrainingEpisode, play_episode
from olive_iw.agents.experience import Experience, Moment
from olive_iw.agents.learner import WEIGHTS, Planning, Progress, load_progress, save_progress
from olive_iw.agents.spec import REPLAY, TRAINING, Spec
from olive_iw.errors import DamagedFileError
from olive_iw.features.binary_vae import TrainingDivergedError, TrainingReport
from olive_iw.features.binary_vae.config import HistoryEntry
from olive_iw.features.binary_vae.devices import one_thread
from olive_iw.features.policy_network.config import DecisionTraining, PolicyTraining
from olive_iw.features.policy_network.guide import PolicyGuide
from olive_iw.features.policy_network.network import PolicyNetwork, two_hot
from olive_iw.features.policy_network.tensors import KEY, read_tensors, write_tensors
from olive_iw.planners import Decision, Planner
from olive_iw.randomness import child_seed, generator
from olive_iw.search.decision import softmax
from olive_iw.search.tree import ROOT
from olive_iw.simulators.base import Simulator

LEARNING = "learning.safetensors"
GONE = (
    "This training episode was planned with a policy that has learned since: it is replayed from "
    "its actions, without trees."
)


class PolicyLearning(ABC):
    """What learners of policies share: they play with the agent's planner, and learn meanwhile."""

    def __init__(
        self, spec: Spec, guide: PolicyGuide, planner: Planner, untrained: Callable[[], Planner]
    ) -> None:
        """Assemble a learner; `untrained` makes a planner with the first weights."""
        assert isinstance(spec.training, PolicyTraining)
        self.spec, self.guide, self.planner = spec, guide, planner
        self.training: PolicyTraining = spec.training
        self.progress = Progress()
        self.experience = Experience(spec.training.replay)
        self._untrained = untrained
        self._losses: list[float] = []
        self._seconds = 0.0

    @abstractmethod
    def begin_episode(self) -> None:
        """Get ready; the network is there."""

    @abstractmethod
    def after_decision(self, decision: Decision, episode: Episode) -> None:
        """Learn from a decision, at whose root the planner still is."""

    @abstractmethod
    def after_episode(self, episode: Episode, observer: Observer) -> None:
        """Learn from an episode, at whose end the planner still is."""

    @property
    @abstractmethod
    def numbers(self) -> int:
        """How many numbers are known of a moment."""

    def is_spent(self, calls: int) -> bool:
        """Whether a training with so many calls is over."""
        return self.progress.calls >= calls

    def training_episode(
        self, simulator: Simulator, calls: int, observer: Observer
    ) -> TrainingEpisode:
        """Play an episode with the newest policy, and learn from it."""
        spec, progress, number = self.spec, self.progress, self.progress.episodes
        self.guide.prepare(simulator, simulator.reset())
        self._losses, self._seconds = [], 0.0
        self._draw = generator(spec.seed, REPLAY, number)
        self.begin_episode()
        game = play_episode(
            self.planner,
            simulator,
            spec.options,
            seed=child_seed(spec.seed, TRAINING, number),
            max_actions=spec.options.training_actions,
            max_calls=calls - progress.calls,
            observer=_Lessons(self, observer),
        )
        game.seconds -= self._seconds
        self.timed(self.after_episode, game, observer)
        progress.count(game)
        progress.finished = self.is_spent(calls)
        held, report = len(self.experience.rows), self._report()
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
        steps = len(self._losses)
        if not steps:
            return None
        self.progress.trainings += 1
        entry = HistoryEntry(steps, float(np.mean(self._losses)), None, 0.0)
        looked = steps * self.training.batch
        return TrainingReport(
            (entry,), steps, len(self.experience.rows), self._seconds, looked / self._seconds
        )

    def step(
        self,
        network: PolicyNetwork,
        optimiser: torch.optim.Optimizer,
        loss: Callable[[], Tensor],
        clip: float | None,
    ) -> None:
        """Go one step down a loss, which is computed with the network in training mode."""
        network.train()
        found = loss()
        network.eval()
        if not bool(found.isfinite()):
            step = len(self._losses) + 1
            raise TrainingDivergedError(float(found), step, self.training.learning_rate)
        optimiser.zero_grad()
        found.backward()  # type: ignore[no-untyped-call]
        if clip is not None:
            own = [it for group in optimiser.param_groups for it in group["params"]]
            torch.nn.utils.clip_grad_norm_(own, clip)
        optimiser.step()
        self._losses.append(float(found.detach()))

    # Files

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors and plain values that it takes to go on exactly, besides the guide's weights."""
        moments = self.experience.tensors()
        return {f"experience.{name}": tensor for name, tensor in moments.items()}, {}

    def restore(self, tensors: dict[str, Tensor], plain: dict[str, Any], path: Path) -> None:
        """Take back what `state` gave, from a file."""
        side, found = self.guide.config.side, part("experience.", tensors)
        limit = self.training.replay
        self.experience = Experience.read(limit, found, side, self.numbers, path)

    def save(self, folder: Path) -> None:
        """Write the policy, what it learns from, and the progress; nothing before an episode."""
        save_progress(self.progress, folder)
        if self.guide.network is not None:
            self.guide.save(folder / WEIGHTS)
            tensors, plain = self.state()
            write_tensors(folder / LEARNING, tensors, {KEY: json.dumps(plain)})

    def load(self, folder: Path) -> None:
        """Read them back."""
        self.progress = load_progress(folder)
        if self.progress.episodes or (folder / WEIGHTS).exists():
            self.load_weights(folder / WEIGHTS)
            path = folder / LEARNING
            tensors, plain = read_tensors(path)
            try:
                self.restore(tensors, plain, path)
            except (KeyError, TypeError, ValueError, RuntimeError) as error:
                raise DamagedFileError(path, f"is of no such learner ({error!r})") from None

    def load_weights(self, path: Path) -> None:
        """Take over the policy of a file."""
        self.guide.load_weights(path)


class _Lessons(Observer):
    """Lets a learner learn from every decision, after those who look on."""

    def __init__(self, learner: PolicyLearning, others: Observer) -> None:
        self._learner, self._others = learner, others

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        self._others.on_decision(planner, decision, episode)
        self._learner.timed(self._learner.after_decision, decision, episode)


@final
class PolicyLearner(PolicyLearning):
    """After every decision, one step on decisions of earlier episodes."""

    @property
    def how(self) -> DecisionTraining:
        """How it learns."""
        assert isinstance(self.training, DecisionTraining)
        return self.training

    def begin_episode(self) -> None:
        """Make the optimiser with the first episode; use the policy once it has learned."""
        if not hasattr(self, "optimiser"):
            self.optimiser = self._make_optimiser()
        if self.how.uniform_start:
            self.guide.guides = self._warm
        self._episode: list[Moment] = []

    @property
    def _warm(self) -> bool:
        return len(self.experience.rows) >= self.training.warm_up

    @property
    def numbers(self) -> int:
        """A target's share for every action, and the return."""
        return self._network.actions + 1

    @property
    def _network(self) -> PolicyNetwork:
        assert self.guide.network is not None, "it is made before an episode"
        return self.guide.network

    def _make_optimiser(self) -> torch.optim.Optimizer:
        rate = self.training.learning_rate
        return torch.optim.RMSprop(self._network.parameters(), rate, alpha=0.99, eps=0.1)

    def after_decision(self, decision: Decision, episode: Episode) -> None:
        """Note what the policy should have been; learn from what was noted in earlier episodes."""
        target = target_shares(self.planner, decision.values, self.how.target_temperature)
        known = np.append(target, 0.0).astype(np.float32)
        self._episode.append(Moment(self.guide.image(self.planner.root), len(self._episode), known))
        if self._warm:
            rows = self.experience.rows
            batch = self._draw.choice(rows, min(self.training.batch, len(rows)), replace=False)
            clip = self.training.gradient_clip
            self.step(self._network, self.optimiser, lambda: self._loss(batch), clip)

    def after_episode(self, episode: Episode, observer: Observer) -> None:
        """Keep the episode's decisions, now that their returns are known."""
        back = 0.0
        for moment, reward in zip(self._episode[::-1], episode.rewards[::-1], strict=True):
            back = reward + self.training.learning_discount * back
            moment.known[-1] = back
        self.experience.add(*self._episode)
        if self.how.uniform_start:
            self.guide.guides = self._warm

    def _loss(self, rows: NDArray[np.int64]) -> Tensor:
        network, known = self._network, torch.from_numpy(self.experience.known(rows))
        known = known.to(network.policy.weight.device)
        said = network(self.experience.inputs(rows))
        loss = F.cross_entropy(said.logits, known[:, :-1])
        if said.value.shape[1]:
            loss = loss + F.cross_entropy(said.value, two_hot(known[:, -1], said.value.shape[1]))
        squares = torch.stack([it.square().sum() for it in network.parameters()]).sum()
        return loss + 0.5 * self.how.regularisation * squares

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Moments, and the optimiser's own."""
        tensors, plain = super().state()
        return tensors | optimiser_tensors(self.optimiser), plain

    def restore(self, tensors: dict[str, Tensor], plain: dict[str, Any], path: Path) -> None:
        """Take them back."""
        super().restore(tensors, plain, path)
        self.optimiser = self._make_optimiser()
        load_optimiser(self.optimiser, tensors)


def target_shares(
    planner: Planner, values: NDArray[np.float64], temperature: float
) -> NDArray[np.float64]:
    """Return what a policy should be after a decision, shape (actions,), by the actions' values.

    What was not tried is worth what the network said of the root, where it has a value.
    """
    if planner.value_everywhere:
        floor = float(planner.tree.floor[ROOT])
        values = np.where(np.isnan(values), floor if np.isfinite(floor) else 0.0, values)
    return softmax(values, temperature)


def optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """State of an optimiser, by names such as `optimiser.3.square_avg`."""
    state = optimiser.state_dict()["state"]
    return {
        f"optimiser.{number}.{name}": tensor
        for number, entry in state.items()
        for name, tensor in entry.items()
    }


def load_optimiser(optimiser: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Take back what `optimiser_tensors` gave."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in part("optimiser.", tensors).items():
        number, _, name = key.partition(".")
        state.setdefault(int(number), {})[name] = tensor
    optimiser.load_state_dict(optimiser.state_dict() | {"state": state})


def part(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Those of some tensors whose names begin so, by the rest of their names."""
    return {
        name.removeprefix(prefix): it for name, it in tensors.items() if name.startswith(prefix)
    }
