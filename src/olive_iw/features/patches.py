"""Patches: what each small square of the grey image has looked like, numbered as it is met."""

from typing import final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from olive_iw.errors import InputError
from olive_iw.features.base import Atoms
from olive_iw.features.cache import AtomCache, screen_key
from olive_iw.features.distinct import PATCH_SIZE, PER_SIDE, number_of, patch_rows
from olive_iw.features.image import grey_image
from olive_iw.simulators.base import Screen, Simulator, Step, grey_levels

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
        self._limit = limit_per_position
        self._contents = np.zeros((POSITIONS, limit_per_position - 1, PATCH_SIZE), np.uint64)
        self._slots = np.zeros((POSITIONS, 2 * limit_per_position), np.int32)
        self._met = np.zeros(POSITIONS, np.int32)
        self._levels = np.arange(256, dtype=np.uint8)
        self._cache = AtomCache(cache_bytes)

    @property
    def size(self) -> int:
        """Number of atoms: 256 positions times the limit of contents."""
        return POSITIONS * self._limit

    @property
    def cache_hits(self) -> int:
        """Screens whose atoms were looked up."""
        return self._cache.hits

    def prepare(self, simulator: Simulator, first: Step) -> None:
        """Take the simulator's grey levels and forget all contents."""
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


@njit(cache=True)
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
        met[position] += number == known and known < limit - 1
        atoms[position] = position * limit + number
    return atoms
