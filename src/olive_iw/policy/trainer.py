"""Who trains a policy: from the planner's own decisions, in π-IW, π-IW+ and HIW after each one."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows it by)
from numpy.typing import NDArray
from torch import Tensor

from olive_iw.features.vae import TrainingDivergedError, TrainingStep
from olive_iw.planners import Decision, Planner
from olive_iw.policy.config import DecisionTraining, PolicyTraining
from olive_iw.policy.experience import Experience, Moment
from olive_iw.policy.guide import PolicyGuide
from olive_iw.policy.network import PolicyNetwork, two_hot
from olive_iw.search.decision import softmax
from olive_iw.search.tree import ROOT


class Trainer(ABC):
    """What trainers of policies share: a guide, what was experienced with it, and steps."""

    def __init__(self, training: PolicyTraining, guide: PolicyGuide, planner: Planner) -> None:
        """Assemble one; the planner is the one that the guide guides."""
        self.training, self.guide, self.planner = training, guide, planner
        self.experience = Experience(training.replay)
        self.losses: list[float] = []
        """Of the steps of this episode."""

    def start(self, draw: np.random.Generator) -> None:
        """Begin an episode, with randomness of its own; the guide's network is there."""
        self.losses, self._draw = [], draw
        self.begin_episode()

    @abstractmethod
    def begin_episode(self) -> None:
        """Get ready."""

    @abstractmethod
    def after_decision(self, decision: Decision, rewards: Sequence[float]) -> None:
        """Learn from a decision, at whose root the planner still is; rewards of those before it."""

    @abstractmethod
    def after_episode(
        self, rewards: Sequence[float], over: bool, on_step: Callable[[TrainingStep], None]
    ) -> None:
        """Learn from an episode, at whose end the planner still is: `over` if it was the game's."""

    @property
    @abstractmethod
    def numbers(self) -> int:
        """How many numbers are known of a moment."""

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
            step = len(self.losses) + 1
            raise TrainingDivergedError(float(found), step, self.training.learning_rate)
        optimiser.zero_grad()
        found.backward()  # type: ignore[no-untyped-call]
        if clip is not None:
            own = [it for group in optimiser.param_groups for it in group["params"]]
            torch.nn.utils.clip_grad_norm_(own, clip)
        optimiser.step()
        self.losses.append(float(found.detach()))

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


@final
class DecisionTrainer(Trainer):
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

    def after_decision(self, decision: Decision, rewards: Sequence[float]) -> None:
        """Note what the policy should have been; learn from what was noted in earlier episodes."""
        target = target_shares(self.planner, decision.values, self.how.target_temperature)
        known = np.append(target, 0.0).astype(np.float32)
        self._episode.append(Moment(self.guide.image(self.planner.root), len(self._episode), known))
        if self._warm:
            rows = self.experience.rows
            batch = self._draw.choice(rows, min(self.training.batch, len(rows)), replace=False)
            clip = self.training.gradient_clip
            self.step(self._network, self.optimiser, lambda: self._loss(batch), clip)

    def after_episode(
        self, rewards: Sequence[float], over: bool, on_step: Callable[[TrainingStep], None]
    ) -> None:
        """Keep the episode's decisions, now that their returns are known."""
        back = 0.0
        for moment, reward in zip(self._episode[::-1], rewards[::-1], strict=True):
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
    """Return the policy to be learned from a decision, shape (actions,), by the actions' values.

    An action that was not tried has the value that the network gave the root, if it gives one.
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
    """Pick the tensors whose names begin with a prefix, by the rest of their names."""
    return {
        name.removeprefix(prefix): it for name, it in tensors.items() if name.startswith(prefix)
    }
