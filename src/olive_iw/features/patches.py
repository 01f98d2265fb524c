"""Patches: what each small square of the grey image has looked like, numbered as it is met.

Distinct contents, rows of words here and in vae/, get numbers in the order they are met,
equal rows the same one. What was met is kept in two arrays. `contents` holds the distinct rows, of
which the first `count` are filled. `slots` is a hash table with open addressing that finds them:
number + 1 in each slot, 0 where it is free; a power of two in length, at least twice the rows there
can be. Whole rows are compared, so that nothing rests on a hash being unique.
"""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.compiled import njit
from olive_iw.errors import InputError
from olive_iw.features.base import Atoms, check_screen
from olive_iw.features.cache import AtomCache, screen_key
from olive_iw.features.image import IMAGE_SIZE, grey_image
from olive_iw.simulators.base import Screen, Simulator, Step, grey_levels

PATCH_SIZE = 8
"""Rows, and columns, of pixels of a patch."""
PER_SIDE = IMAGE_SIZE // PATCH_SIZE
"""Rows, and columns, of patches of an image."""
POSITIONS = PER_SIDE * PER_SIDE
CACHE_BYTES = 16 * 2**20


@final
class Patches:
    """One atom for each of 16×16 positions: the position and the content of its 8×8 patch.

    The distinct contents met at a position are numbered 0, 1, … in the order they are met; equal
    number means equal content, byte for byte. The last number, `limit_per_position` − 1, is shared
    by all contents that come when the others are given away. An atom is
    position · limit_per_position + number. Works for the screens of any simulator.

    `prepare`, which comes before each episode, forgets all numbers: so an episode's atoms do not
    depend on the episodes before it, and a resumed run finds the same ones.
    """

    def __init__(self, limit_per_position: int = 1024, *, cache_bytes: int = CACHE_BYTES) -> None:
        """Numbers for at most so many contents a position; 72 bytes each, when they are met."""
        if limit_per_position < 2 or limit_per_position & (limit_per_position - 1):
            raise InputError(
                f"limit_per_position must be a power of two, at least 2, not {limit_per_position}"
            )
        self.size = POSITIONS * limit_per_position
        self._contents = np.zeros((POSITIONS, limit_per_position - 1, PATCH_SIZE), np.uint64)
        self._slots = np.zeros((POSITIONS, 2 * limit_per_position), np.int32)
        self._met = np.zeros(POSITIONS, np.int32)
        self._levels = np.arange(256, dtype=np.uint8)
        self._cache = AtomCache(cache_bytes)

    @property
    def cache_hits(self) -> int:
        """Screens whose atoms were looked up."""
        return self._cache.hits

    def prepare(self, simulator: Simulator, first: Step) -> None:
        """Take the simulator's grey levels and forget all contents."""
        check_screen(first.screen, simulator)
        self._levels = grey_levels(simulator)
        self.reset()

    def reset(self) -> None:
        """Forget all contents: the next one met at any position is number 0."""
        self._slots[:] = 0
        self._met[:] = 0
        self._cache.clear()

    def of_step(self, step: Step, previous: Step | None) -> Atoms:
        """Atoms of a step's screen, shape (256,)."""
        return self.atoms(step.screen)

    def atoms(self, screen: Screen, previous: Screen | None = None) -> Atoms:
        """Atoms of a screen, shape (256,), read-only; the previous screen does not matter."""
        key = screen_key(screen)
        atoms = self._cache.get(key)
        if atoms is None:
            rows = patch_rows(grey_image(screen, self._levels)[np.newaxis])
            atoms = _number(rows, self._contents, self._slots, self._met)
            self._cache.put(key, atoms)
        return atoms


def patch_rows(images: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """All patches of images, uint8, shape (N, 128, 128), row by row: uint64, shape (N · 256, 8).

    A word is eight pixels of one line.
    """
    rows: NDArray[np.uint64] = _cut(np.ascontiguousarray(images).view(np.uint64))
    return rows


@njit
def _cut(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Patches, shape (N · 256, 8), of images as words of 8 pixels, shape (N, 128, 16)."""
    count, height, side = words.shape
    rows = np.empty((count * side * side, PATCH_SIZE), np.uint64)
    for image in range(count):
        for line in range(height):
            first = (image * side + line // PATCH_SIZE) * side
            for column in range(side):
                rows[first + column, line % PATCH_SIZE] = words[image, line, column]
    return rows


@njit
def _same(row: NDArray[Any], content: NDArray[Any]) -> bool:
    for word in range(len(row)):  # noqa: SIM110 (compiled code: a loop)
        if row[word] != content[word]:
            return False
    return True


@njit(inline="always")  # a call would cost a third more
def number_of(
    row: NDArray[Any], contents: NDArray[Any], slots: NDArray[np.int32], count: int
) -> np.int64:
    """Find the number of a row of words; a new one gets `count`, and is kept if there is room."""
    # Multipliers with well mixed bits: Steele and Vigna's (2021), and 2^64 by the golden ratio.
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
        for word in range(len(row)):
            contents[count, word] = row[word]
        slots[slot] = count + 1
    return np.int64(count)


@njit
def number_rows(
    rows: NDArray[Any],
    contents: NDArray[Any],
    slots: NDArray[np.int32],
    count: int,
    numbers: NDArray[np.int64],
) -> int:
    """Give each of some rows its number, into `numbers`; return how many contents there are now."""
    for row in range(len(rows)):
        if row > 0 and _same(rows[row], rows[row - 1]):  # empty space, mostly
            numbers[row] = numbers[row - 1]
            continue
        number = number_of(rows[row], contents, slots, count)
        count += number == count
        numbers[row] = number
    return count


@njit
def _number(
    rows: NDArray[np.uint64],
    contents: NDArray[np.uint64],
    slots: NDArray[np.int32],
    met: NDArray[np.int32],
) -> Atoms:
    """Atoms of an image's patches, shape (256, 8); contents new to their position are added."""
    limit = contents.shape[1] + 1
    atoms = np.empty(POSITIONS, np.int32)
    for position in range(POSITIONS):
        known = met[position]
        number = number_of(rows[position], contents[position], slots[position], known)
        # The last number is for all contents beyond the limit, and is never given away itself.
        met[position] += number == known and known < limit - 1
        atoms[position] = position * limit + number
    return atoms
