"""N-CPL: the value learns all the time, the policy at updates, which are kept if scores hold."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows it by)
from numpy.typing import NDArray
from scipy.stats import ttest_ind_from_stats
from torch import Tensor

from olive_iw.features.vae import TrainingStep
from olive_iw.planners import Decision
from olive_iw.policy.config import ScheduledTraining
from olive_iw.policy.experience import Experience, Moment
from olive_iw.policy.guide import load_into
from olive_iw.policy.network import PolicyNetwork, expected
from olive_iw.policy.trainer import Trainer, load_optimiser, optimiser_tensors, part
from olive_iw.reading import fill

NETWORKS = ("network", "target", "previous")
ACTION, REWARD, OVER = range(3)
"""Known numbers of a moment: its action, the reward for it, and whether the game then ended."""


@dataclass(slots=True)
class Schedule:
    """How far the schedule has come."""

    actions: int = 0
    """All that were learned from."""
    since_update: int = 0
    """Actions since the last update."""
    scores: list[float] = field(default_factory=list)
    """Of the episodes since the last update."""
    scores_before: list[float] = field(default_factory=list)
    """Of the episodes before the last update that was kept, since the one before that."""
    untested: bool = False
    """Whether the next update comes without a comparison: the last was taken back."""
    updates: int = 0
    taken_back: int = 0
    guided_before: bool = False
    """Whether the policy before the last update had learned anything."""


def fell(scores: Sequence[float], before: Sequence[float], how: ScheduledTraining) -> bool:
    """Whether scores are lower than before, by Welch's t-test, if there are enough of both."""
    if min(len(scores), len(before)) < max(2, how.least_scores):
        return False
    mean, spread = float(np.mean(scores)), float(np.std(scores, ddof=1))
    mean_before, spread_before = float(np.mean(before)), float(np.std(before, ddof=1))
    now, then = (mean, spread, len(scores)), (mean_before, spread_before, len(before))
    found = ttest_ind_from_stats(*now, *then, equal_var=False)
    # Two-sided, as in the authors' program; not a number, where nothing varies or differs.
    return mean < mean_before and bool(found.pvalue < how.significance)


@final
class ScheduledTrainer(Trainer):
    """N-CPL's critical path: it learns from what was done, not from what was searched."""

    schedule: Schedule
    network: PolicyNetwork
    """The one that learns; the guide's is deployed at updates."""

    @property
    def numbers(self) -> int:
        """Action, reward, over."""
        return 3

    @property
    def how(self) -> ScheduledTraining:
        """The schedule's numbers."""
        assert isinstance(self.training, ScheduledTraining)
        return self.training

    def begin_episode(self) -> None:
        """Copy the guide's network with the first episode."""
        if not hasattr(self, "network"):
            self._make_networks()
        self._place = 0

    def _make_networks(self) -> None:
        assert self.guide.network is not None, "it is made before an episode"
        self.schedule = Schedule()
        self.network, self.target, self.previous = (
            copy.deepcopy(self.guide.network) for _ in range(3)
        )
        self.value_optimiser = self._adam("value", "value_trunk")

    def _adam(self, *parts: str) -> torch.optim.Optimizer:
        own = [it for name, it in self.network.named_parameters() if name.split(".")[0] in parts]
        return torch.optim.Adam(own, self.training.learning_rate)

    def after_decision(self, decision: Decision, rewards: Sequence[float]) -> None:
        """Take the last action in, now that it is known where it led; perhaps learn the value."""
        if self._place:
            self._done(rewards[-1], over=False)
        self._arrive(decision.action)

    def after_episode(
        self, rewards: Sequence[float], over: bool, on_step: Callable[[TrainingStep], None]
    ) -> None:
        """Take the last action in, and update if it is time."""
        schedule = self.schedule
        self._done(rewards[-1], over)
        self._arrive(action=0)  # nothing is done there, but the last action led there
        schedule.scores.append(float(sum(rewards)))
        if schedule.since_update >= self.how.update_every:
            self.update(on_step)

    def _done(self, reward: float, over: bool) -> None:
        """Note what the action at the last moment gave."""
        moment, schedule = self.experience.moments[-1], self.schedule
        moment.known[[REWARD, OVER]] = reward, over
        moment.usable = True
        schedule.actions += 1
        schedule.since_update += 1

    def _arrive(self, action: int) -> None:
        """Note where it led and what is done there, and let the value learn if it is time."""
        known = np.array([action, 0.0, 0.0], np.float32)
        frame = self.guide.image(self.planner.root)
        self.experience.add(Moment(frame, self._place, known, usable=False))
        self._place += 1
        actions, how, rows = self.schedule.actions, self.how, self.experience.rows
        if self._place == 1:
            return
        if actions % how.every == 0 and len(rows) >= how.warm_up:
            for _ in range(how.steps_each):
                batch = self._draw.choice(rows, min(how.batch, len(rows)), replace=False)
                loss = partial(self._value_loss, batch)
                self.step(self.network, self.value_optimiser, loss, how.gradient_clip)
        if actions % how.target_every == 0:
            self.target.load_state_dict(self.network.state_dict())

    def update(self, on_step: Callable[[TrainingStep], None]) -> None:
        """Take the last update back if scores fell since; otherwise let the policy learn."""
        schedule, deployed = self.schedule, self.guide.network
        assert deployed is not None
        if not schedule.untested and fell(schedule.scores, schedule.scores_before, self.how):
            for network in (deployed, self.network, self.target):
                network.load_state_dict(self.previous.state_dict())
            self.guide.guides, schedule.untested = schedule.guided_before, True
            schedule.taken_back += 1
        else:
            self.previous.load_state_dict(deployed.state_dict())
            schedule.guided_before, schedule.untested = self.guide.guides, False
            schedule.scores_before = schedule.scores
            self._learn_policy(on_step)
            deployed.load_state_dict(self.network.state_dict())
            self.guide.guides = True
            schedule.updates += 1
        self.experience = Experience(self.training.replay)
        schedule.scores, schedule.since_update = [], 0

    def _learn_policy(self, on_step: Callable[[TrainingStep], None]) -> None:
        """Learn what was done, in some passes over all of it."""
        rows, how, optimiser = self.experience.rows, self.how, self._adam("policy", "trunk")
        per_epoch = -(-len(rows) // how.batch)
        for number in range(how.update_epochs):
            order = self._draw.permutation(rows)
            for place in range(per_epoch):
                batch = order[place * how.batch : (place + 1) * how.batch]
                self.step(self.network, optimiser, partial(self._policy_loss, batch), clip=None)
                step = number * per_epoch + place + 1
                steps = how.update_epochs * per_epoch
                on_step(TrainingStep(step, steps, self.losses[-1], 0.0))

    def _known(self, rows: NDArray[np.int64]) -> Tensor:
        device = self.network.policy.weight.device
        return torch.from_numpy(self.experience.known(rows)).to(device)

    def _policy_loss(self, rows: NDArray[np.int64]) -> Tensor:
        said = self.network(self.experience.inputs(rows))
        return F.cross_entropy(said.logits, self._known(rows)[:, ACTION].long())

    def _value_loss(self, rows: NDArray[np.int64]) -> Tensor:
        with torch.no_grad():
            then = expected(self.target(self.experience.inputs(rows + 1)).value)
            wanted = value_targets(self._known(rows), then, self.how)
        said = expected(self.network(self.experience.inputs(rows)).value)
        return F.huber_loss(said, wanted)

    # Files

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Moments, the networks besides the guide's, the optimiser, and the schedule."""
        tensors, _ = super().state()
        for name in NETWORKS:
            weights = getattr(self, name).state_dict()
            tensors |= {f"{name}.{key}": tensor for key, tensor in weights.items()}
        return tensors | optimiser_tensors(self.value_optimiser), asdict(self.schedule)

    def restore(self, tensors: dict[str, Tensor], plain: dict[str, Any], path: Path) -> None:
        """Take them back."""
        super().restore(tensors, plain, path)
        self._make_networks()
        self.schedule = fill(Schedule, plain, path)
        for name in NETWORKS:
            load_into(getattr(self, name), part(f"{name}.", tensors), path)
        load_optimiser(self.value_optimiser, tensors)


def value_targets(known: Tensor, then: Tensor, how: ScheduledTraining) -> Tensor:
    """Return the values to be learned, shape (N,): reward, and discounted value of what follows."""
    over = known[:, OVER]
    reward = known[:, REWARD] * (1.0 if how.terminal_reward else 1.0 - over)
    return reward + how.learning_discount * then * (1.0 - over)
