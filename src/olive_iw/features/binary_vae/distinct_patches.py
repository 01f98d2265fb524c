"""What a network is trained and scored on: distinct items, and which of them make up each image.

The paper network's items are whole images. The laptop network looks at each 8×8 patch by itself,
and most patches of a game are the same (64 screens of Space Invaders have 376 different ones among
16,384), so its items are the distinct patches: all sums over an image's pixels are sums over its
items, and equal patches need computing once.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from olive_iw.errors import InputError
from olive_iw.features.image import IMAGE_SIZE

PATCH = 8
"""Side of a patch in pixels."""


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
    slots = np.full(1 << max(12, int(2 * len(rows)).bit_length()), -1, np.int64)
    count = find_patches(rows, distinct, slots, 0, index)
    patches = distinct[:count].copy().view(np.uint8)
    return Items(patches, index.reshape(len(images), (IMAGE_SIZE // PATCH) ** 2))


def patch_rows(images: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """All patches of images, shape (N, 128, 128), row by row: uint64, shape (N · 256, 8)."""
    rows: NDArray[np.uint64] = _cut(np.ascontiguousarray(images).view(np.uint64))
    return rows


@njit(cache=True)
def _cut(words):  # type: ignore[no-untyped-def]
    """Patches, shape (N · 256, 8), of images as words of 8 pixels, shape (N, 128, 16)."""
    count, height, side = words.shape
    rows = np.empty((count * side * side, PATCH), np.uint64)
    for image in range(count):
        for line in range(height):
            first = (image * side + line // PATCH) * side
            for column in range(side):
                rows[first + column, line % PATCH] = words[image, line, column]
    return rows


@njit(cache=True)
def find_patches(rows, distinct, slots, count, places):  # type: ignore[no-untyped-def]
    """Give each row a number by its content, into `places`; return how many contents there are.

    `distinct`, of which the first `count` rows are filled, takes the contents that are new.
    `slots`, a power of two in length and at least twice the contents there can be, holds the
    numbers as a hash table with open addressing; whole rows are compared, so that it is exact.
    """
    mask = len(slots) - 1
    for row in range(len(rows)):
        if row > 0 and _same(rows[row], rows[row - 1]):  # empty space, mostly
            places[row] = places[row - 1]
            continue
        value = np.uint64(0)
        for word in rows[row]:
            value = (value ^ word) * np.uint64(0x9E3779B97F4A7C15)
            value ^= value >> np.uint64(29)
        slot = np.int64(value & np.uint64(mask))
        while slots[slot] >= 0 and not _same(distinct[slots[slot]], rows[row]):
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = count
            distinct[count] = rows[row]
            count += 1
        places[row] = slots[slot]
    return count


@njit(cache=True)
def _same(one, other):  # type: ignore[no-untyped-def]
    for word in range(len(one)):  # noqa: SIM110 (compiled code: a loop)
        if one[word] != other[word]:
            return False
    return True
