"""The grey 128×128 image that patches and networks look at.

Of kind "area", a pixel of the image is the mean of the screen over the cell that it covers. Lengths
are counted in small parts, of which cells and screen pixels are whole numbers. So all sums are
whole numbers too, exact in any order. Most lines of a screen equal the last screen's. So do the
rows that are made of them, and only the other rows are computed.

Of kind "bilinear", a pixel is interpolated between the four screen pixels around the cell's centre,
without antialiasing. VAE-IW's code does that; it may lose a thin object.
"""

from functools import lru_cache
from math import gcd
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from olive_iw.compiled import njit
from olive_iw.features.base import FeaturesError, check_screen
from olive_iw.simulators.base import Screen

IMAGE_SIZE = 128

ImageKind: TypeAlias = Literal["area", "bilinear"]
"""How a screen becomes an image: see above."""


def grey_image(
    screen: Screen, grey_levels: NDArray[np.uint8], kind: ImageKind = "area"
) -> NDArray[np.uint8]:
    """Turn a screen of any size into a grey uint8 image of shape (128, 128).

    `grey_levels`, uint8, shape (256,), gives the brightness of every screen value.
    """
    check_screen(screen)
    if grey_levels.dtype != np.uint8 or grey_levels.shape != (256,):
        raise FeaturesError(
            f"grey levels are {grey_levels.dtype} of shape {grey_levels.shape}; "
            "they must be uint8 of shape (256,)"
        )
    if screen.shape == (IMAGE_SIZE, IMAGE_SIZE):  # as grid worlds show: nothing to resize
        return np.take(grey_levels, screen)
    screen = np.ascontiguousarray(screen)
    height, width = screen.shape
    image: NDArray[np.uint8]
    if kind == "bilinear":
        image = _bilinear(screen, grey_levels, _neighbours(height), _neighbours(width))
    else:
        image = _area_resize(screen, *_resizing(height, width, grey_levels.tobytes()))
    return image


def small_image(
    screen: Screen, grey_levels: NDArray[np.uint8], side: int, kind: ImageKind
) -> NDArray[np.uint8]:
    """Turn a screen into a grey uint8 image of shape (side, side), as policy networks see it.

    Of kind "area" a pixel is the mean of pixels of the image of 128×128, which `side` must divide.
    """
    if kind == "area":
        means: NDArray[np.uint8] = _block_means(grey_image(screen, grey_levels), side)
        return means
    check_screen(screen)
    height, width = screen.shape
    image: NDArray[np.uint8] = _bilinear(
        np.ascontiguousarray(screen),
        grey_levels,
        _neighbours(height, side),
        _neighbours(width, side),
    )
    return image


@njit
def _block_means(image: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """Means of side × side equal blocks of an image, rounded."""
    block = image.shape[0] // side
    means = np.empty((side, side), np.uint8)
    for row in range(side):
        for column in range(side):
            total = block * block // 2  # half of the divisor, so that the division rounds
            for down in range(block):
                for across in range(block):
                    total += image[row * block + down, column * block + across]
            means[row, column] = total // (block * block)
    return means


def grey_tiles(
    screen: Screen, grey_levels: NDArray[np.uint8], rows: int, columns: int, values: int
) -> NDArray[np.uint8]:
    """Mean grey of rows × columns tiles of a screen, in `values` steps: uint8, in whole numbers."""
    check_screen(screen)
    (down, height), (across, width) = (
        _tiling(screen.shape[0], rows),
        _tiling(screen.shape[1], columns),
    )
    # Whole numbers far below 2^53: exact, and as fast as matrices of float64 are.
    sums = (down @ (grey_levels[screen].astype(np.float64) @ across.T)).astype(np.int64)
    return (sums * values // (256 * height * width)).astype(np.uint8)


@lru_cache(maxsize=16)
def _tiling(size: int, tiles: int) -> tuple[NDArray[np.float64], int]:
    """Parts of each of `size` pixels in each tile, shape (tiles, size); and parts of a tile."""
    edges = np.arange(tiles + 1) * size  # a pixel is `tiles` long
    begins = np.arange(size) * tiles
    within = np.minimum(edges[1:, np.newaxis], begins + tiles) - np.maximum(
        edges[:-1, np.newaxis], begins
    )
    return np.maximum(within, 0).astype(np.float64), size


_Neighbours: TypeAlias = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]]


@lru_cache(maxsize=16)
def _neighbours(size: int, side: int = IMAGE_SIZE) -> _Neighbours:
    """Pixels before and after each of `side` centres along `size`, and the latter's share."""
    centres = (np.arange(side) + 0.5) * size / side - 0.5
    centres = np.clip(centres, 0.0, size - 1.0)
    before = centres.astype(np.uint32)
    after = np.minimum(before + 1, size - 1).astype(np.uint32)
    return before, after, centres - before


@njit
def _bilinear(
    screen: NDArray[np.uint8], levels: NDArray[np.uint8], rows: _Neighbours, columns: _Neighbours
) -> NDArray[np.uint8]:
    image = np.empty((len(rows[0]), len(columns[0])), np.uint8)
    for row in range(len(rows[0])):
        top, bottom, down = screen[rows[0][row]], screen[rows[1][row]], rows[2][row]
        for column in range(len(columns[0])):
            left, right, across = columns[0][column], columns[1][column], columns[2][column]
            upper = levels[top[left]] * (1.0 - across) + levels[top[right]] * across
            lower = levels[bottom[left]] * (1.0 - across) + levels[bottom[right]] * across
            image[row, column] = np.uint8(upper * (1.0 - down) + lower * down + 0.5)
    return image


class _Resizing(NamedTuple):
    """How to resize screens of one size and brightness. A pair of cells is summed as one uint64."""

    pair_table: NDArray[np.uint64]
    """Shape (patterns, taps, 256): what each value of each pixel adds to a pair, by the pair's
    pattern; the pairs have the patterns in turn."""
    pair_first: NDArray[np.uint32]
    """Shape (64,): the first pixel that counts in each pair."""
    row_weights: NDArray[np.floating]
    """Shape (128, taps): parts of each line in a row of cells; 0 where it does not count."""
    row_first: NDArray[np.uint32]
    """Shape (128,): the first line that counts in each row of cells."""
    half: np.floating
    """Half the parts of a cell, to round; a quarter more keeps whole numbers off the edge."""
    scale: np.floating
    """1 / parts of a cell."""
    last: NDArray[np.uint8]
    """The last screen that was resized."""
    image: NDArray[np.uint8]
    """Its image."""


@lru_cache(maxsize=16)
def _resizing(height: int, width: int, levels: bytes) -> _Resizing:
    row_first, row_weights, row_parts = _overlaps(height, 1)
    pair_first, pair_weights, column_parts = _overlaps(width, 2)
    # The pairs' weights repeat, since widths and 128 have common divisors: few tables are enough.
    patterns = next(
        count
        for count in (1, 2, 4, 8, 16, 32, 64)
        if np.array_equal(pair_weights, np.resize(pair_weights[:count], pair_weights.shape))
    )
    grey = np.frombuffer(levels, np.uint8)[:, np.newaxis]
    pair_values = pair_weights[:patterns, :, np.newaxis, :] * grey
    parts = row_parts * column_parts  # of a cell, both ways
    # float32 is exact for sums below 2^24, and leaves room for rounding them up to 2^20.
    kind = np.float32 if 255 * parts < 2**20 else np.float64
    return _Resizing(
        # Two sums of 32 bits in one word of 64: a single addition serves both cells of a pair.
        pair_table=pair_values.astype(np.uint32).view(np.uint64)[..., 0],
        pair_first=pair_first,
        row_weights=row_weights[:, :, 0].astype(kind),
        row_first=row_first,
        half=kind(parts / 2 + 0.25),
        scale=kind(1 / parts),
        last=np.zeros((height, width), np.uint8),
        image=np.full((IMAGE_SIZE, IMAGE_SIZE), levels[0], np.uint8),
    )


def _overlaps(source: int, together: int) -> tuple[NDArray[np.uint32], NDArray[np.int64], int]:
    """Lay 128 cells, in groups of `together` cells, along `source` pixels.

    Returns each group's first pixel, shape (groups,); the parts that its pixels share with its
    cells, shape (groups, taps, together); and the parts of a cell.
    """
    unit = gcd(source, IMAGE_SIZE)
    cell, pixel = source // unit, IMAGE_SIZE // unit
    starts = np.arange(IMAGE_SIZE).reshape(-1, together) * cell
    first = starts[:, 0] // pixel
    taps = int(((starts[:, -1] + cell - 1) // pixel - first).max()) + 1
    first = np.minimum(first, source - taps)
    pixels = (first[:, np.newaxis] + np.arange(taps))[:, :, np.newaxis] * pixel
    starts = starts[:, np.newaxis, :]
    shared = np.minimum(starts + cell, pixels + pixel) - np.maximum(starts, pixels)
    return first.astype(np.uint32), np.maximum(shared, 0), cell


@njit
def _area_resize(
    screen: NDArray[np.uint8],
    pair_table: NDArray[np.uint64],
    pair_first: NDArray[np.uint32],
    row_weights: NDArray[np.floating],
    row_first: NDArray[np.uint32],
    half: np.floating,
    scale: np.floating,
    last: NDArray[np.uint8],
    image: NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """Make `last` the screen and `image` its image; return a copy of that."""
    pairs = np.empty(IMAGE_SIZE // 2, np.uint64)
    cells = np.empty(IMAGE_SIZE, row_weights.dtype)
    total = np.empty(IMAGE_SIZE, row_weights.dtype)
    changed = _take_over(screen, last)
    summed = np.int64(-1)  # the line that `cells` is of
    for row in range(IMAGE_SIZE):
        first = np.int64(row_first[row])
        differs = False
        for tap in range(row_weights.shape[1]):
            differs |= changed[first + tap] and row_weights[row, tap] > 0
        if not differs:  # the row of the last image stands
            continue
        total[:] = half
        for tap in range(row_weights.shape[1]):
            weight = row_weights[row, tap]
            if weight == 0:
                continue
            # Neighbouring rows of cells share a line: its sums are made once.
            if summed != first + tap:
                summed = first + tap
                _sum_pairs(screen[summed], pair_table, pair_first, pairs)
                sums = pairs.view(np.int32)
                for cell in range(IMAGE_SIZE):  # by itself: slices take a second to compile
                    cells[cell] = sums[cell]
            for cell in range(IMAGE_SIZE):
                total[cell] += weight * cells[cell]
        for cell in range(IMAGE_SIZE):
            image[row, cell] = np.uint8(np.int32(total[cell] * scale))
    return image.copy()


@njit
def _take_over(screen: NDArray[np.uint8], last: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Make `last` the screen; return which of its lines changed, shape (height,)."""
    changed = np.empty(screen.shape[0], np.bool_)
    for number in range(screen.shape[0]):
        line, before = screen[number], last[number]
        differs = False
        for column in range(screen.shape[1]):  # to the end: faster than stopping early
            differs |= line[column] != before[column]
        changed[number] = differs
        if differs:
            for column in range(screen.shape[1]):
                before[column] = line[column]
    return changed


@njit
def _sum_pairs(
    line: NDArray[np.uint8],
    pair_table: NDArray[np.uint64],
    pair_first: NDArray[np.uint32],
    pairs: NDArray[np.uint64],
) -> None:
    """Add up a line's pixels, shape (width,), in each pair of cells, shape (64,)."""
    pairs[:] = 0
    patterns = pair_table.shape[0]
    for pattern in range(patterns):
        for tap in range(pair_table.shape[1]):
            table = pair_table[pattern, tap]
            for pair in range(pattern, pairs.shape[0], patterns):
                number = np.uint32(pair)  # unsigned: no test for negative indexing
                pairs[number] += table[line[pair_first[number] + np.uint32(tap)]]
