"""What a network is trained and scored on: distinct items, and which of them make up each image.

The paper network's items are whole images. The laptop network looks at each 8×8 patch by itself,
and most patches of a game are the same (64 screens of Space Invaders have 376 different ones among
16,384), so its items are the distinct patches: all sums over an image's pixels are sums over its
items, and equal patches need computing once.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from olive_iw.errors import InputError
from olive_iw.features.image import IMAGE_SIZE
from olive_iw.features.patches import PER_SIDE, number_rows, patch_rows


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Images as made of items."""

    inputs: NDArray[np.uint8]
    """The distinct items, shape (M, ...): (M, 64) patches or (M, 1, 128, 128) images."""
    index: NDArray[np.int64]
    """Shape (N, items per image): the items of each image, row by row."""

    def occurrences(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """How often each item occurs in some images, shape (M,)."""
        return np.bincount(self.index[rows].ravel(), minlength=len(self.inputs))

    def sum_over_images(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up one value per item, shape (M,), over each image's items: shape (N,)."""
        sums: NDArray[np.float64] = values[self.index].sum(axis=1)
        return sums


def check_images(images: NDArray[np.uint8]) -> None:
    """Raise `InputError` unless these are grey images as the networks take them."""
    if images.dtype != np.uint8 or images.shape[1:] != (IMAGE_SIZE, IMAGE_SIZE):
        raise InputError(
            f"images are {images.dtype} of shape {images.shape}; "
            f"they should be uint8 of shape (N, {IMAGE_SIZE}, {IMAGE_SIZE})"
        )


def whole_image_items(images: NDArray[np.uint8]) -> Items:
    """Each of the images, shape (N, 128, 128), an item."""
    return Items(images[:, np.newaxis], np.arange(len(images))[:, np.newaxis])


def patch_items(images: NDArray[np.uint8]) -> Items:
    """Distinct 8×8 patches of images, shape (N, 128, 128), in the order of their first place."""
    rows = patch_rows(images)
    distinct = np.empty_like(rows)
    index = np.empty(len(rows), np.int64)
    slots = np.zeros(1 << max(12, (2 * len(rows)).bit_length()), np.int32)
    count = number_rows(rows, distinct, slots, 0, index)
    patches = distinct[:count].copy().view(np.uint8)
    return Items(patches, index.reshape(len(images), PER_SIDE**2))
