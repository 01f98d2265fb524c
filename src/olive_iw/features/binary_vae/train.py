"""Training of a Binary-Concrete VAE on a set of screens."""

import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import Parameter

from olive_iw import settings
from olive_iw.errors import InputError
from olive_iw.features.binary_vae import loss as losses
from olive_iw.features.binary_vae.devices import memory_for, threads_for, torch_generator
from olive_iw.features.binary_vae.distinct_patches import Items, check_images
from olive_iw.features.binary_vae.model import Vae, initialise
from olive_iw.features.binary_vae.schedule import temperature
from olive_iw.settings import Range

Amount: TypeAlias = Annotated[int, Range(1, 100_000_000)]


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """How to train. Exactly one of `epochs` and `steps` is given."""

    learning_rate: Annotated[float, Range(0, 100, above=True)]
    """Learning rate of Adam."""
    warm_start: bool
    """Go on from the weights there are; otherwise draw new ones first."""
    epochs: Amount | None = None
    """Times that every item is seen."""
    steps: Amount | None = None
    """Number of batches."""
    batch: Amount = 64
    """Items per step: images (paper) or distinct patches (laptop)."""
    balance: Annotated[float, Range(-10, 10)] = 1.0
    """Weight of an item that occurs c times: c ** balance. 1: as the images have it; 0: a rare
    patch (the ball) counts as much as the background. Images occur once, so it is all the same
    to the paper network."""
    gradient_clip: Annotated[float | None, Range(0, 1e9, above=True)] = None
    """Largest norm of the gradient over all parameters, or None."""
    logit_clamp: Annotated[float | None, Range(0, 1e9, above=True)] = None
    """Latent logits are kept within ± this in training (not in planning), or None."""
    held_out_share: Annotated[float, Range(0, 1, below=True)] = 0.05
    """Share of the images never trained on, for the held-out loss; rounded down."""
    beta: Annotated[float, Range(0, 1e9)] = 1e-4
    """Weight of the KL divergence."""
    temperature_max: Annotated[float, Range(0, 1000, above=True)] = 5.0
    """Temperature at the first step."""
    temperature_min: Annotated[float, Range(0, 1000, above=True)] = 0.5
    """Temperature at the last step; equal to `temperature_max` for no annealing."""
    patience: Amount | None = None
    """Stop after so many measurements without a better held-out loss, and return to the best
    weights; None trains to the end, as the temperature's schedule supposes."""
    history_every: Amount = 50
    """Steps between two entries of the report's history (and measurements of held-out loss)."""

    def __post_init__(self) -> None:
        settings.check(self)
        if (self.epochs is None) == (self.steps is None):
            raise InputError("training needs either epochs or steps, and not both")
        if self.temperature_min > self.temperature_max:
            raise InputError(
                f"temperature_min = {self.temperature_min} is not possible; it must be at most "
                f"temperature_max = {self.temperature_max}"
            )


LAPTOP_TRAINING = TrainingConfig(
    steps=600, batch=512, learning_rate=3e-3, balance=0.0, warm_start=True
)
PAPER_TRAINING = TrainingConfig(
    epochs=100, learning_rate=1e-4, warm_start=False, gradient_clip=1.0, logit_clamp=8.0
)


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """One step, as told to a progress callback."""

    step: int
    """Steps done, from 1 on."""
    steps: int
    """Steps there will be, unless training stops early."""
    loss: float
    """Mean training loss of the batch, times the items of an image."""
    temperature: float


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """State of training after some step."""

    step: int
    loss: float
    """Mean of the steps' losses since the entry before."""
    held_out_loss: float | None
    """Mean loss per held-out image in evaluation mode; None where none is held out."""
    temperature: float


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """What a training did."""

    history: tuple[HistoryEntry, ...]
    """The last entry is of the last step."""
    steps: int
    images: int
    """Images trained on, without the held-out ones."""
    seconds: float
    images_per_second: float
    """Images per second: a pass over all items is a pass over all images."""

    @property
    def loss(self) -> float:
        """Training loss at the end: per image where `balance` is 1, else as weighted by it."""
        return self.history[-1].loss

    @property
    def held_out_loss(self) -> float | None:
        """Held-out loss at the end, or None."""
        return self.history[-1].held_out_loss


def train(
    network: Vae,
    images: NDArray[np.uint8],
    config: TrainingConfig,
    generator: np.random.Generator,
    *,
    on_step: Callable[[TrainingStep], None] | None = None,
) -> TrainingReport:
    """Train a network in place, on its device, on images of shape (N, 128, 128).

    Same weights (or not `warm_start`), images, configuration and generator state give the same
    weights, bit for bit, on the same machine (for the paper network: with as many threads). Leaves
    the network in evaluation mode.
    """
    check_images(images)
    if len(images) == 0:
        raise InputError("there are no images to train on; at least one is needed")
    started = time.perf_counter()
    if not config.warm_start:
        initialise(network, torch_generator(generator))
    training = _Training(network, images, config, generator)
    with threads_for(network), memory_for(network):
        history = training.run(on_step)
    seconds = time.perf_counter() - started
    return TrainingReport(
        history=tuple(history),
        steps=history[-1].step,
        images=training.images,
        seconds=seconds,
        images_per_second=training.images * training.passes(history[-1].step) / seconds,
    )


class _Training:
    """State of one training."""

    def __init__(
        self,
        network: Vae,
        images: NDArray[np.uint8],
        config: TrainingConfig,
        generator: np.random.Generator,
    ) -> None:
        self.network = network
        self.config = config
        self.generator = generator
        self.device = next(network.parameters()).device
        self.noise = torch_generator(generator, self.device)
        self.items: Items = network.items(images)
        self.inputs = torch.from_numpy(self.items.inputs).to(self.device)
        order = generator.permutation(len(images))
        held_out = int(config.held_out_share * len(images))
        self.held_out = self.items.occurrences(order[:held_out])
        self.held_out_images, self.images = held_out, len(images) - held_out
        occurs = self.items.occurrences(order[held_out:])
        self.trained = np.flatnonzero(occurs)
        weights = np.where(occurs > 0, occurs, 1).astype(np.float32) ** config.balance
        self.weights = torch.from_numpy(weights / weights[self.trained].mean()).to(self.device)
        per_epoch = -(-len(self.trained) // config.batch)
        self.steps = config.steps or (config.epochs or 0) * per_epoch
        self.parameters = list(network.parameters())
        self.optimiser = _adam(self.parameters, config.learning_rate)

    def run(self, on_step: Callable[[TrainingStep], None] | None) -> list[HistoryEntry]:
        best = _Best(self.config.patience)
        self.network.train()
        try:
            history = self._run(on_step, best)
        finally:
            self.network.eval()
        best.restore(self.network)
        return history

    def _run(
        self, on_step: Callable[[TrainingStep], None] | None, best: "_Best"
    ) -> list[HistoryEntry]:
        history: list[HistoryEntry] = []
        recent: list[Tensor] = []
        for step, batch in zip(range(1, self.steps + 1), self._batches(), strict=False):
            tau = temperature(
                step - 1, self.steps, self.config.temperature_max, self.config.temperature_min
            )
            recent.append(self._step(batch, tau))
            if on_step is not None:
                on_step(TrainingStep(step, self.steps, float(recent[-1]), tau))
            if step % self.config.history_every == 0 or step == self.steps:
                mean = float(torch.stack(recent).mean())
                recent.clear()
                history.append(HistoryEntry(step, mean, self._held_out_loss(), tau))
                if best.stops(self.network, history[-1].held_out_loss):
                    break
        return history

    def passes(self, steps: int) -> float:
        """How often each item was seen on average in so many steps."""
        return steps * self.config.batch / len(self.trained)

    def _batches(self) -> Iterator[NDArray[np.int64]]:
        """Full batches of items, without end; every item once, in random order, then all again."""
        waiting = np.empty(0, np.int64)
        while True:
            while len(waiting) < self.config.batch:
                waiting = np.concatenate([waiting, self.generator.permutation(self.trained)])
            yield waiting[: self.config.batch]
            waiting = waiting[self.config.batch :]

    def _step(self, batch: NDArray[np.int64], tau: float) -> Tensor:
        which = torch.from_numpy(batch).to(self.device)
        inputs = self._inputs(which)
        logits = self.network.encode_items(inputs, self.noise)
        if self.config.logit_clamp is not None:
            logits = logits.clamp(-self.config.logit_clamp, self.config.logit_clamp)
        latents = losses.concrete_sample(logits, tau, self.noise)
        pixels = self.network.decode_items(latents, self.noise)
        weights = self.weights.index_select(0, which)
        loss = (losses.loss(pixels, inputs, logits, self.config.beta) * weights).mean()
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if self.config.gradient_clip is not None:
            torch.nn.utils.clip_grad_norm_(self.parameters, self.config.gradient_clip)
        self.optimiser.step()
        per_image: Tensor = loss.detach() * self.items.index.shape[1]
        return per_image

    def _inputs(self, which: Tensor) -> Tensor:
        """Grey levels in [0, 1] of some items; the rest stay bytes, a quarter of the memory."""
        return self.inputs.index_select(0, which).float() / 255.0

    def _held_out_loss(self) -> float | None:
        """Mean loss of the held-out images, decoded from probabilities (see `losses.elbo`)."""
        if self.held_out_images == 0:
            return None
        self.network.eval()
        total = 0.0
        present = np.flatnonzero(self.held_out)
        with torch.inference_mode():
            for start in range(0, len(present), self.config.batch):
                part = present[start : start + self.config.batch]
                inputs = self._inputs(torch.from_numpy(part).to(self.device))
                logits = self.network.encode_items(inputs)
                pixels = self.network.decode_items(torch.sigmoid(logits))
                loss = losses.loss(pixels, inputs, logits, self.config.beta)
                total += float(loss.double().cpu().numpy() @ self.held_out[part])
        self.network.train()
        return total / self.held_out_images


def _adam(parameters: list[Parameter], learning_rate: float) -> torch.optim.Adam:
    """Adam in one call for all parameters, where torch has that for their device."""
    try:
        return torch.optim.Adam(parameters, lr=learning_rate, fused=True)
    except RuntimeError:
        return torch.optim.Adam(parameters, lr=learning_rate)


class _Best:
    """Early stopping: the weights of the best held-out loss so far."""

    def __init__(self, patience: int | None) -> None:
        self.patience = patience
        self.loss = float("inf")
        self.waited = 0
        self.weights: dict[str, Tensor] | None = None

    def stops(self, network: Vae, held_out_loss: float | None) -> bool:
        if self.patience is None or held_out_loss is None:
            return False
        if held_out_loss < self.loss:
            self.loss, self.waited = held_out_loss, 0
            self.weights = copy.deepcopy(network.state_dict())
            return False
        self.waited += 1
        return self.waited >= self.patience

    def restore(self, network: Vae) -> None:
        if self.weights is not None:
            network.load_state_dict(self.weights)
