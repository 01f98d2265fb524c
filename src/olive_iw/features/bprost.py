"""B-PROST: which colours are where, and how they lie to each other in space and time.

Liang et al. (2016), with the sizes of Bandres et al. (2018). A screen of 210×160 is cut into
14×16 tiles of 15×10 pixels; a basic feature is a tile that shows a colour. B-PROS features are
the offsets between two basic features of one screen (each with itself too: offset zero), whatever
their place; B-PROT features those between a basic feature now and one in the screen before.

Tiles. Which tiles of a screen show a colour is a bitmap: one word for each of the 14 rows of
tiles, bit x of it for column x. Two more rows, always empty, make 16, which suits the processor's
vectors. A screen is the list of the colours it shows and their bitmaps.

Offsets. All the offsets from the tiles of one colour to those of another are found 16 columns and
16 rows at a time: for each tile (x, y) of the first, the other's bitmap is shifted so that (x, y)
comes to the middle, and joined to what is there. The result is a bitmap of 27 rows (dy = -13 …
13) and 31 columns (dx = -15 … 15).

Atoms come out in the order of their numbers, so nothing has to be sorted.
"""

from typing import final

import numpy as np
from numpy.typing import NDArray

from olive_iw.compiled import njit
from olive_iw.features.base import Atoms, FeaturesError, check_screen
from olive_iw.features.cache import AtomCache
from olive_iw.simulators.base import Screen, Simulator, Step, palette

COLUMNS, ROWS = 16, 14
TILE_WIDTH, TILE_HEIGHT = 10, 15
COLOURS = 128
OFFSET_COLUMNS, OFFSET_ROWS = 2 * COLUMNS - 1, 2 * ROWS - 1

BASIC_SIZE = COLUMNS * ROWS * COLOURS
"""Basic: (row, column, colour), numbered in this order."""

OFFSETS = OFFSET_COLUMNS * OFFSET_ROWS
"""Offsets (dy, dx) between two tiles, numbered in this order."""

SAME_COLOUR_OFFSETS = (OFFSETS + 1) // 2
"""Between tiles of one colour an offset and its negative are the same; zero is its own."""

SPACE_SIZE = COLOURS * (COLOURS - 1) // 2 * OFFSETS + COLOURS * SAME_COLOUR_OFFSETS
"""B-PROS: (colour, itself or a larger one, offset), numbered in this order."""

TIME_SIZE = COLOURS * COLOURS * OFFSETS
"""B-PROT: (colour now, colour before, offset), numbered in this order."""

_PADDED_ROWS = 16
_SLACK = 8  # numbers that `_emit_row` may write beyond the last that counts

SCREEN_SHAPE = (ROWS * TILE_HEIGHT, COLUMNS * TILE_WIDTH)
CACHE_BYTES = 64 * 2**20
_NO_COLOURS = np.zeros(0, np.uint8)
_NO_BITMAPS = np.zeros((0, _PADDED_ROWS), np.uint32)


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
        check_screen(first.screen, simulator)
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
            if len(self._workspace) < most:  # it stays as large as the most colourful screen needs
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


_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1, bitorder="little")
_COUNTS = _BITS.sum(1, dtype=np.int32)
"""How many bits of every byte are set."""
_POSITIONS = np.argsort(1 - _BITS, axis=1, kind="stable").astype(np.int32)
"""Where those are, shape (256, 8); the others follow."""


@njit
def tiles_of(screen: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Colours of a (210, 160) screen, shape (colours,), and their bitmaps, shape (colours, 16)."""
    # Of all colours, so that a pixel finds its bitmap by its value; what is not shown is left out.
    bitmaps = np.zeros((COLOURS, _PADDED_ROWS), np.uint32)
    shown = np.zeros(COLOURS, np.bool_)
    for y in range(ROWS * TILE_HEIGHT):
        row = y // TILE_HEIGHT
        line = screen[y]
        if y % TILE_HEIGHT and _equal(line, screen[y - 1]):  # nothing that is not there yet
            continue
        for column in range(COLUMNS):
            bit = np.uint32(1) << np.uint32(column)
            last = -1
            for x in range(column * TILE_WIDTH, (column + 1) * TILE_WIDTH):
                value = line[np.uint32(x)]
                # Palette indices are even: halved they are the 128 colours.
                if value != last:  # most neighbours are equal
                    bitmaps[value >> np.uint8(1), row] |= bit
                    shown[value >> np.uint8(1)] = True
                    last = value
    colours = np.flatnonzero(shown)
    return colours.astype(np.uint8), bitmaps[colours]


@njit
def _equal(line: NDArray[np.uint8], other: NDArray[np.uint8]) -> bool:
    different = False
    for x in range(COLUMNS * TILE_WIDTH):  # to the end: faster than stopping early
        different |= line[x] != other[x]
    return not different


def atom_bound(now: int, before: int) -> int:
    """Length that the output of `atoms_of` needs, by the number of colours now and before."""
    pairs = now * (now + 1) // 2 + now * before
    return COLUMNS * ROWS * now + OFFSETS * pairs + _SLACK


@njit
def atoms_of(
    colours: NDArray[np.uint8],
    bitmaps: NDArray[np.uint32],
    colours_before: NDArray[np.uint8],
    bitmaps_before: NDArray[np.uint32],
    output: NDArray[np.int32],
) -> int:
    """Write the atoms of a screen to `output`, sorted; return how many there are."""
    end = _basic(colours, bitmaps, output)
    offsets = np.empty(2 * _PADDED_ROWS, np.uint32)
    for i in range(colours.shape[0]):
        colour = int(colours[i])
        base = BASIC_SIZE + _space_base(colour)
        _join_offsets(bitmaps[i], bitmaps[i], offsets)
        end = _emit_half(offsets, base, output, end)
        # Pairs with larger colours follow. From this base, the other colour times OFFSETS can be
        # added as it is.
        base += SAME_COLOUR_OFFSETS - (colour + 1) * OFFSETS
        for j in range(i + 1, colours.shape[0]):
            _join_offsets(bitmaps[i], bitmaps[j], offsets)
            end = _emit(offsets, base + int(colours[j]) * OFFSETS, output, end)
    for i in range(colours.shape[0]):
        base = BASIC_SIZE + SPACE_SIZE + int(colours[i]) * COLOURS * OFFSETS
        for j in range(colours_before.shape[0]):
            _join_offsets(bitmaps[i], bitmaps_before[j], offsets)
            end = _emit(offsets, base + int(colours_before[j]) * OFFSETS, output, end)
    return end


@njit
def _basic(
    colours: NDArray[np.uint8], bitmaps: NDArray[np.uint32], output: NDArray[np.int32]
) -> int:
    end = 0
    for row in range(ROWS):
        for column in range(COLUMNS):
            for i in range(colours.shape[0]):  # the colour last: so atoms come out sorted
                if bitmaps[i, row] >> np.uint32(column) & np.uint32(1):
                    output[end] = (row * COLUMNS + column) * COLOURS + colours[i]
                    end += 1
    return end


@njit
def _space_base(colour: int) -> int:
    """Count the B-PROS atoms whose smaller colour is less than this one."""
    pairs = colour * (COLOURS - 1) - colour * (colour - 1) // 2
    return pairs * OFFSETS + colour * SAME_COLOUR_OFFSETS


@njit
def _join_offsets(
    first: NDArray[np.uint32], second: NDArray[np.uint32], offsets: NDArray[np.uint32]
) -> None:
    """Set bit dx + 15 of row dy + 13 for every offset from a tile of `first` to one of `second`."""
    offsets[:] = 0
    for y in range(ROWS):
        window = offsets[ROWS - 1 - y : ROWS - 1 - y + _PADDED_ROWS]
        for x in range(COLUMNS):
            if first[y] >> np.uint32(x) & np.uint32(1):
                shift = np.uint32(COLUMNS - 1 - x)
                for row in range(_PADDED_ROWS):
                    window[row] |= second[row] << shift


@njit
def _emit(offsets: NDArray[np.uint32], base: int, output: NDArray[np.int32], end: int) -> int:
    """Append base + number of every offset that is set."""
    for row in range(OFFSET_ROWS):
        end = _emit_row(offsets[row], base + row * OFFSET_COLUMNS, output, end)
    return end


@njit
def _emit_half(offsets: NDArray[np.uint32], base: int, output: NDArray[np.int32], end: int) -> int:
    """Append base + number of every offset that is set, zero being 0, and none before it."""
    # An offset and its negative are the same here: the middle row from zero on, then those below.
    middle = offsets[ROWS - 1] >> np.uint32(COLUMNS - 1)
    end = _emit_row(middle, base, output, end)
    for row in range(ROWS, OFFSET_ROWS):
        number = base + (row - ROWS) * OFFSET_COLUMNS + COLUMNS
        end = _emit_row(offsets[row], number, output, end)
    return end


@njit
def _emit_row(bits: np.uint32, base: int, output: NDArray[np.int32], end: int) -> int:
    """Append base + the position of every bit, a byte at a time.

    Eight numbers are written whatever the byte holds, and the end moves by how many count.
    """
    while bits != 0:
        byte = bits & np.uint32(255)
        for place in range(8):
            output[end + place] = base + _POSITIONS[byte, place]
        end += _COUNTS[byte]
        bits >>= np.uint32(8)
        base += 8
    return end
