"""Training of a Binary-Concrete VAE on a set of screens, whichever network it has."""

import math
import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from olive_iw.arithmetic import exp, log
from olive_iw.errors import InputError
from olive_iw.features.vae import losses
from olive_iw.features.vae.config import (
    HistoryEntry,
    TrainingConfig,
    TrainingDivergedError,
    TrainingReport,
    TrainingStep,
)
from olive_iw.features.vae.network import Network, Step, check_images

_LARGEST_LOSS = 1e20
"""A loss above it is no loss: an image of 128×128 black pixels called white costs some 10⁶."""


def train(
    network: Network,
    images: NDArray[np.uint8],
    config: TrainingConfig,
    generator: np.random.Generator,
    *,
    on_step: Callable[[TrainingStep], None] | None = None,
) -> TrainingReport:
    """Train a network in place on images of shape (N, 128, 128).

    Same weights (or not `warm_start`), images, configuration and generator state give the same
    weights, bit for bit: on every machine (laptop), on the same kind with as many threads (paper).
    Leaves the network in evaluation mode. Raises `TrainingDivergedError`, and leaves the weights as
    they were, when the loss gets out of hand.
    """
    check_images(images)
    if len(images) == 0:
        raise InputError("there are no images to train on; at least one is needed")
    started = time.perf_counter()
    before = network.weights()
    if not config.warm_start:
        network.initialise(generator)
    try:
        with network.training(config, generator) as step:
            training = _Training(network, images, config, generator)
            history = training.run(step, on_step)
    except TrainingDivergedError:
        network.set_weights(before)
        raise
    seconds = time.perf_counter() - started
    # Told in images for both networks, whatever their items are.
    passes = training.seen / len(training.trained)
    return TrainingReport(
        history=tuple(history),
        steps=history[-1].step,
        images=training.images,
        seconds=seconds,
        images_per_second=training.images * passes / seconds,
    )


class _Training:
    """What one training trains on, and how far it has come."""

    def __init__(
        self,
        network: Network,
        images: NDArray[np.uint8],
        config: TrainingConfig,
        generator: np.random.Generator,
    ) -> None:
        self.network, self.config, self.generator = network, config, generator
        self.items = network.items(images)
        # Whole images are held out, not items: a patch of a held-out image may be in others too.
        order = generator.permutation(len(images))
        held_out = int(config.held_out_share * len(images))
        self.held_out = self.items.occurrences(order[:held_out])
        self.held_out_images, self.images = held_out, len(images) - held_out
        occurs = self.items.occurrences(order[held_out:])
        self.trained = np.flatnonzero(occurs)
        self.weights = balanced(occurs, config.balance)
        per_epoch = -(-len(self.trained) // config.batch)
        self.steps = config.steps or (config.epochs or 0) * per_epoch
        self.seen = 0  # items, each as often as it was trained on

    def run(self, step: Step, on_step: Callable[[TrainingStep], None] | None) -> list[HistoryEntry]:
        history: list[HistoryEntry] = []
        recent: list[float] = []
        best_loss, best_weights, waited = math.inf, None, 0
        for number, batch in zip(range(1, self.steps + 1), self._batches(), strict=False):
            tau = temperature(self.config, number - 1, self.steps)
            per_item = step(self.items.inputs[batch], self.weights[batch], tau)
            # Told by image, so that losses of both networks can be compared.
            recent.append(per_item * self.items.index.shape[1])
            self.seen += len(batch)
            self._check(recent[-1], number)
            if on_step is not None:
                on_step(TrainingStep(number, self.steps, recent[-1], tau))
            if number % self.config.history_every != 0 and number != self.steps:
                continue
            mean = math.fsum(recent) / len(recent)
            recent.clear()
            held_out_loss = self._held_out_loss()
            self._check(held_out_loss or 0.0, number)
            history.append(HistoryEntry(number, mean, held_out_loss, tau))
            if self.config.patience is None or held_out_loss is None:
                continue
            # From here on: stopping early, which goes back to the best weights in the end.
            waited += 1
            if held_out_loss < best_loss:
                best_loss, waited, best_weights = held_out_loss, 0, self.network.weights()
            if waited == self.config.patience:
                break
        if not all(np.isfinite(tensor).all() for tensor in self.network.weights().values()):
            raise TrainingDivergedError(math.nan, history[-1].step, self.config.learning_rate)
        if best_weights is not None:
            self.network.set_weights(best_weights)
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

    def _held_out_loss(self) -> float | None:
        """Mean loss of the held-out images, decoded from probabilities (see `losses.elbo`)."""
        if self.held_out_images == 0:
            return None
        present = np.flatnonzero(self.held_out)
        inputs = self.items.inputs[present]
        pixels, logits = self.network.evaluate(inputs)
        each = losses.loss(pixels, inputs, logits, self.config.beta) * self.held_out[present]
        return math.fsum(each.tolist()) / self.held_out_images


def temperature(config: TrainingConfig, step: int, steps: int) -> float:
    """Temperature of the relaxation at one of `steps` steps, from 0 on.

    It falls exponentially: the first step has `temperature_max` and the last has
    `temperature_min`, exactly (a single step has `temperature_max`).
    """
    low, high = config.temperature_min, config.temperature_max
    if step == 0:
        return high
    progress = step / (steps - 1)
    between = high * exp(progress * log(low / high))
    return low if progress == 1.0 else min(max(between, low), high)


def balanced(occurs: NDArray[np.int64], balance: float) -> NDArray[np.float32]:
    """Weight of each item, shape (M,), by how often it occurs; 1 on the mean of the present ones.

    An item that does not occur has some weight too, which is never asked for.
    """
    shares = [exp(balance * log(float(max(1, count)))) for count in occurs.tolist()]
    of_present = [share for share, count in zip(shares, occurs.tolist(), strict=True) if count]
    mean = math.fsum(of_present) / len(of_present)
    return np.array([share / mean for share in shares], np.float32)
