"""B-PROST: which colours are where, and how they lie to each other in space and time.

Liang et al. (2016), with the sizes of Bandres et al. (2018). A screen of 210×160 is cut into
14×16 tiles of 15×10 pixels; a basic feature is a tile that shows a colour. B-PROS features are
the offsets between two basic features of one screen (each with itself too: offset zero), whatever
their place; B-PROT features those between a basic feature now and one in the screen before.
"""

from typing import final

import numpy as np

from olive_iw.features.base import Atoms, FeaturesError, check_screen
from olive_iw.features.bprost_kernels import (
    BASIC_SIZE,
    COLUMNS,
    ROWS,
    SPACE_SIZE,
    TILE_HEIGHT,
    TILE_WIDTH,
    TIME_SIZE,
    atom_bound,
    atoms_of,
    tiles_of,
)
from olive_iw.features.cache import AtomCache
from olive_iw.simulators.base import Screen, Simulator, Step, palette

SCREEN_SHAPE = (ROWS * TILE_HEIGHT, COLUMNS * TILE_WIDTH)
CACHE_BYTES = 64 * 2**20

_NO_COLOURS = np.zeros(0, np.uint8)
_NO_BITMAPS = np.zeros((0, 16), np.uint32)


@final
class BProst:
    """B-PROST features of Atari screens: 28,672 basic, 6,856,768 B-PROS, 13,713,408 B-PROT.

    Atoms are numbered in this order. They depend on the tiles' colours alone, so what was computed
    for the same tiles, now and before, is looked up; the arrays returned are read-only.
    """

    size = BASIC_SIZE + SPACE_SIZE + TIME_SIZE

    def __init__(self, *, authors_lookup: bool = False, cache_bytes: int = CACHE_BYTES) -> None:
        """With `authors_lookup` pixels are read where the authors' code reads them.

        That is at row · column instead of row · 160 + column: for comparison only.
        """
        rows, columns = np.indices(SCREEN_SHAPE)
        self._lookup = rows * columns if authors_lookup else None
        self._cache = AtomCache(cache_bytes)
        self._workspace = np.empty(0, np.int32)

    @property
    def cache_hits(self) -> int:
        """Screens whose atoms were looked up."""
        return self._cache.hits

    def prepare(self, simulator: Simulator, first: Step) -> None:
        """Check that the simulator shows Atari screens."""
        shape = first.screen.shape
        if palette(simulator) is None or shape != SCREEN_SHAPE:
            raise FeaturesError(
                f"B-PROST needs the palette screens of an Atari game, shape {SCREEN_SHAPE}; this "
                f"simulator's have shape {shape}: use the features 'patches' instead"
            )

    def of_step(self, step: Step, previous: Step | None) -> Atoms:
        """Atoms of a step's screen; no B-PROT atoms without a previous step."""
        return self.atoms(step.screen, None if previous is None else previous.screen)

    def atoms(self, screen: Screen, previous: Screen | None = None) -> Atoms:
        """Atoms of a palette-index screen, uint8, shape (210, 160), and the one before it."""
        colours, bitmaps = tiles_of(self._seen(screen))
        if previous is None:
            colours_before, bitmaps_before = _NO_COLOURS, _NO_BITMAPS
        else:
            colours_before, bitmaps_before = tiles_of(self._seen(previous))
        tiles = (colours, bitmaps, colours_before, bitmaps_before)
        # A colour count first, then what has so many colours: no two pairs have the same key.
        key = bytes((len(colours),)) + b"".join(array.tobytes() for array in tiles)
        atoms = self._cache.get(key)
        if atoms is None:
            most = atom_bound(len(colours), len(colours_before))
            if len(self._workspace) < most:
                self._workspace = np.empty(most, np.int32)
            atoms = self._workspace[: atoms_of(*tiles, self._workspace)].copy()
            self._cache.put(key, atoms)
        return atoms

    def _seen(self, screen: Screen) -> Screen:
        check_screen(screen)
        if screen.shape != SCREEN_SHAPE:
            raise FeaturesError(
                f"B-PROST needs screens of shape {SCREEN_SHAPE}, not {screen.shape}"
            )
        return screen if self._lookup is None else screen.ravel()[self._lookup]
