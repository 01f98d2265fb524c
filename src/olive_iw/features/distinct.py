"""Distinct contents: rows of words get numbers in the order they are met, equal rows the same one.

What was met is kept in three things. `contents` holds the distinct rows, of which the first `count`
are filled. `slots` is a hash table with open addressing that finds them: number + 1 in each slot,
0 where it is free; a power of two in length, at least twice the rows there can be. Whole rows are
compared, so that nothing rests on a hash being unique.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from olive_iw.features.image import IMAGE_SIZE

PATCH_SIZE = 8
"""Rows, and columns, of pixels of a patch."""

PER_SIDE = IMAGE_SIZE // PATCH_SIZE
"""Rows, and columns, of patches of an image."""


def patch_rows(images: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """All patches of images, uint8, shape (N, 128, 128), row by row: uint64, shape (N · 256, 8).

    A word is eight pixels of one line.
    """
    rows: NDArray[np.uint64] = _cut(np.ascontiguousarray(images).view(np.uint64))
    return rows


@njit(cache=True)
def _cut(words):  # type: ignore[no-untyped-def]
    """Patches, shape (N · 256, 8), of images as words of 8 pixels, shape (N, 128, 16)."""
    count, height, side = words.shape
    rows = np.empty((count * side * side, PATCH_SIZE), np.uint64)
    for image in range(count):
        for line in range(height):
            first = (image * side + line // PATCH_SIZE) * side
            for column in range(side):
                rows[first + column, line % PATCH_SIZE] = words[image, line, column]
    return rows


@njit(cache=True)
def _same(row, content):  # type: ignore[no-untyped-def]
    for word in range(len(row)):  # noqa: SIM110 (compiled code: a loop)
        if row[word] != content[word]:
            return False
    return True


@njit(inline="always")  # a call would cost a third more
def number_of(row, contents, slots, count):  # type: ignore[no-untyped-def]
    """Find the number of a row of words; a new one gets `count`, and is kept if there is room."""
    mask = np.uint64(len(slots) - 1)
    mixed = np.uint64(0)
    for word in row:
        spread = np.uint64(word) * np.uint64(0xD1342543DE82EF95)  # does not wait for the last one
        spread ^= spread >> np.uint64(32)
        mixed = (mixed + spread) * np.uint64(0x9E3779B97F4A7C15)
    slot = (mixed >> np.uint64(32)) & mask
    while slots[slot] != 0 and not _same(row, contents[np.uint32(slots[slot] - 1)]):
        slot = (slot + np.uint64(1)) & mask
    if slots[slot] != 0:
        return np.int64(slots[slot]) - 1
    if count < len(contents):
        contents[count, : len(row)] = row
        slots[slot] = count + 1
    return np.int64(count)


@njit(cache=True)
def number_rows(rows, contents, slots, count, numbers):  # type: ignore[no-untyped-def]
    """Give each of some rows its number, into `numbers`; return how many contents there are now."""
    for row in range(len(rows)):
        if row > 0 and _same(rows[row], rows[row - 1]):  # empty space, mostly
            numbers[row] = numbers[row - 1]
            continue
        number = number_of(rows[row], contents, slots, count)
        count += number == count
        numbers[row] = number
    return count
