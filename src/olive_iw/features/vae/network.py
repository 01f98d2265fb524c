"""What a network of either profile can do: the one interface that features and training use.

Both networks are trained and scored on distinct items. The paper network's are whole images. The
laptop network looks at each 8×8 patch by itself, and most patches of a game are the same (64
screens of Space Invaders have 376 different ones among 16,384), so its items are the distinct
patches: all sums over an image's pixels are sums over its items, and equal ones are computed once.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import isqrt
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from olive_iw.errors import InputError
from olive_iw.features.base import Atoms
from olive_iw.features.image import IMAGE_SIZE
from olive_iw.features.vae.config import TrainingConfig, VaeConfig

Bytes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float32]

LOGIT_THRESHOLD = 2.1972245773362196
"""A latent is true in planning where its logit is above ln(0.9 / 0.1): sigmoid(logit) > 0.9."""


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Images as made of items."""

    inputs: Bytes
    """The distinct items, shape (M, pixels of an item)."""
    index: NDArray[np.int64]
    """Shape (N, items per image): the items of each image, row by row."""

    def occurrences(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """How often each item occurs in some images, shape (M,)."""
        return np.bincount(self.index[rows].ravel(), minlength=len(self.inputs))

    def images(self, values: NDArray[Any]) -> NDArray[Any]:
        """Put images, shape (N, 128, 128), together from values of items, shape (M, pixels)."""
        count = len(self.index)
        side = isqrt(self.index.shape[1])  # items per row of an image: 16 patches, or 1
        size = IMAGE_SIZE // side
        placed = values[self.index].reshape(count, side, side, size, size)
        return placed.transpose(0, 1, 3, 2, 4).reshape(count, IMAGE_SIZE, IMAGE_SIZE)


class PlanningEncoder(Protocol):
    """Atoms of an image, its true bits; made anew whenever the network's weights change.

    Planning asks for one screen at a time, so what counts is the cost of a single image. An
    image's bits never depend on the images encoded beside it.
    """

    def atoms(self, image: Bytes) -> Atoms:
        """Places of the true bits, ascending, int32, of an image, shape (128, 128)."""


Step: TypeAlias = Callable[[Bytes, Floats, float], float]
"""A step of training: of a batch of items, shape (B, pixels), the weight of each, shape (B,), and
the temperature; returns the weighted mean of the items' losses."""


class Network(Protocol):
    """Weights, and what they make of items."""

    @property
    def config(self) -> VaeConfig:
        """Every number that makes the network."""
        ...

    def weights(self) -> dict[str, NDArray[Any]]:
        """Copy all weights, by their names in files."""

    def set_weights(self, weights: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `weights` gave, of a network of the same configuration."""

    def initialise(self, generator: np.random.Generator) -> None:
        """Draw new weights."""

    def items(self, images: Bytes) -> Items:
        """Cut images, shape (N, 128, 128), into distinct items."""
        ...

    def evaluate(self, inputs: Bytes) -> tuple[Floats, Floats]:
        """Pixel logits, shape (M, pixels), and latent logits, shape (M, latents), of items.

        In evaluation mode: without dropout or noise, decoded from the latents' probabilities (see
        `losses.elbo`).
        """

    def noisy_atoms(self, image: Bytes, generator: np.random.Generator) -> Atoms:
        """Atoms of an image, shape (128, 128), in training mode: others every time."""
        ...

    def training(
        self, config: TrainingConfig, generator: np.random.Generator
    ) -> AbstractContextManager[Step]:
        """Make a step of training, to be taken again and again inside of the context."""
        ...

    def planning(self) -> PlanningEncoder:
        """Make the planning encoder of the present weights."""
        ...


def check_images(images: Bytes) -> None:
    """Raise `InputError` unless these are grey images as the networks take them."""
    if images.dtype != np.uint8 or images.shape[1:] != (IMAGE_SIZE, IMAGE_SIZE):
        raise InputError(
            f"images are {images.dtype} of shape {images.shape}; "
            f"they should be uint8 of shape (N, {IMAGE_SIZE}, {IMAGE_SIZE})"
        )
