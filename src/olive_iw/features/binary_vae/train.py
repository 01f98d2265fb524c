"""Training of a Binary-Concrete VAE on a set of screens."""

import copy
import math
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import Parameter

from olive_iw.errors import InputError
from olive_iw.features.binary_vae import loss as losses
from olive_iw.features.binary_vae.config import (
    HistoryEntry,
    TrainingConfig,
    TrainingDivergedError,
    TrainingReport,
    TrainingStep,
)
from olive_iw.features.binary_vae.devices import memory_for, threads_for, torch_generator
from olive_iw.features.binary_vae.model import Vae, check_images, evaluate, initialise, on_device

_LARGEST_LOSS = 1e20
"""A loss above it is no loss: an image of 128×128 black pixels called white costs some 10⁶."""


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
    the network in evaluation mode. Raises `TrainingDivergedError`, and leaves the weights as they
    were, when the loss gets out of hand.
    """
    check_images(images)
    if len(images) == 0:
        raise InputError("there are no images to train on; at least one is needed")
    started = time.perf_counter()
    before = copy.deepcopy(network.state_dict())
    if not config.warm_start:
        initialise(network, torch_generator(generator))
    training = _Training(network, images, config, generator)
    network.train()
    try:
        with threads_for(network.config), memory_for(network.config):
            history = training.run(on_step)
    except TrainingDivergedError:
        network.load_state_dict(before)
        raise
    finally:
        network.eval()
    seconds = time.perf_counter() - started
    passes = training.seen / len(training.trained)
    return TrainingReport(
        history=tuple(history),
        steps=history[-1].step,
        images=training.images,
        seconds=seconds,
        images_per_second=training.images * passes / seconds,
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
        self.items = network.items(images)
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
        self.seen = 0  # items, each as often as it was trained on
        self.parameters = list(network.parameters())
        self.optimiser = _adam(self.parameters, config.learning_rate)

    def run(self, on_step: Callable[[TrainingStep], None] | None) -> list[HistoryEntry]:
        history: list[HistoryEntry] = []
        recent: list[Tensor] = []
        best_loss, best_weights, waited = math.inf, None, 0
        for step, batch in zip(range(1, self.steps + 1), self._batches(), strict=False):
            tau = self.config.temperature(step - 1, self.steps)
            recent.append(self._step(batch, tau))
            self.seen += len(batch)
            loss = float(recent[-1])
            self._check(loss, step)
            if on_step is not None:
                on_step(TrainingStep(step, self.steps, loss, tau))
            if step % self.config.history_every != 0 and step != self.steps:
                continue
            mean = float(torch.stack(recent).mean())
            recent.clear()
            held_out_loss = self._held_out_loss()
            self._check(held_out_loss or 0.0, step)
            history.append(HistoryEntry(step, mean, held_out_loss, tau))
            if self.config.patience is None or held_out_loss is None:
                continue
            waited += 1
            if held_out_loss < best_loss:
                best_loss, waited = held_out_loss, 0
                best_weights = copy.deepcopy(self.network.state_dict())
            if waited == self.config.patience:
                break
        if not all(bool(tensor.isfinite().all()) for tensor in self.network.state_dict().values()):
            raise TrainingDivergedError(math.nan, history[-1].step, self.config.learning_rate)
        if best_weights is not None:
            self.network.load_state_dict(best_weights)
        return history

    def _check(self, loss: float, step: int) -> None:
        if not abs(loss) <= _LARGEST_LOSS:
            raise TrainingDivergedError(loss, step, self.config.learning_rate)

    def _batches(self) -> Iterator[NDArray[np.int64]]:
        """Batches of items, without end; every item once, in random order, then all again.

        Counted in steps all are full; counted in epochs the last of each pass may be smaller.
        """
        waiting = np.empty(0, np.int64)
        while True:
            least = 1 if self.config.epochs is not None else self.config.batch
            while len(waiting) < least:
                waiting = np.concatenate([waiting, self.generator.permutation(self.trained)])
            yield waiting[: self.config.batch]
            waiting = waiting[self.config.batch :]

    def _step(self, batch: NDArray[np.int64], tau: float) -> Tensor:
        which = torch.from_numpy(batch).to(self.device)
        inputs = on_device(self.network, self.items.inputs[batch])
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
                loss = losses.loss(
                    *evaluate(self.network, self.items.inputs[part]), self.config.beta
                )
                total += float(loss.double().cpu().numpy() @ self.held_out[part])
        self.network.train()
        return total / self.held_out_images


def _adam(parameters: list[Parameter], learning_rate: float) -> torch.optim.Adam:
    """Adam in one call for all parameters, where torch has that for their device."""
    try:
        return torch.optim.Adam(parameters, lr=learning_rate, fused=True)
    except RuntimeError:
        return torch.optim.Adam(parameters, lr=learning_rate)
