"""Convolutions computed once per neighbourhood: an exact, bounded memory of what they gave.

Every position of every layer's map has a number that stands for its values. A position of the next
layer is determined by the numbers that its kernel covers, its neighbourhood. So a neighbourhood met
before, anywhere in any image, gets the number it was given then, and only new ones are computed.
Whole neighbourhoods are compared: nothing rests on a hash being unique.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.compiled import njit
from olive_iw.features.patches import number_of

OUTSIDE = 0
"""Number of the positions around a map, its padding, whose values are zeros."""

FIRST_PIXEL = 1
"""Number of a black pixel; the brighter ones follow."""

_RESERVED = FIRST_PIXEL + 256

_UNROLLED = 8
"""Terms added at a time; a neighbourhood's terms are filled up to a multiple of it."""

_BLOCK = 32
"""Neighbourhoods computed at a time: they and their sums stay in the processor's caches."""


class Convolution(NamedTuple):
    """A square convolution with a leaky ReLU, then a scale and a shift with another leaky ReLU."""

    inputs: int
    """Values of a position of the layer before."""
    kernel: int
    stride: int
    padding: int
    weight: NDArray[np.float32]
    """Shape (terms, outputs); terms: see `weight_rows`."""
    bias: NDArray[np.float32]
    """Shape (outputs,)."""
    slope: np.float32
    """Slope of the first leaky ReLU below zero; 1 for none."""
    scale: NDArray[np.float32]
    """Shape (outputs,); ones for none."""
    shift: NDArray[np.float32]
    """Shape (outputs,); zeros for none."""
    second_slope: np.float32
    """Slope of the second leaky ReLU below zero; 1 for none."""

    def side(self, inputs: int) -> int:
        """Rows, and columns, of the map that it makes of one with so many."""
        return (inputs + 2 * self.padding - self.kernel) // self.stride + 1


def weight_rows(weight: NDArray[np.float32]) -> NDArray[np.float32]:
    """Turn weights of shape (outputs, inputs, rows, columns) into shape (terms, outputs).

    Terms run over kernel rows, kernel columns, inputs; zeros fill them up to a multiple of 8.
    """
    rows = weight.transpose(2, 3, 1, 0).reshape(-1, weight.shape[0])
    return np.ascontiguousarray(np.pad(rows, ((0, -len(rows) % _UNROLLED), (0, 0))))


@final
class Neighbourhoods:
    """Some convolutions, one after the other, and at most `capacity` positions met before.

    A position takes as many floats as the widest layer has outputs, an int32 for each position that
    the largest kernel covers, and 8 to 16 bytes in the table that finds it. When there is no room
    for another image's positions, all are forgotten.

    A number belongs to one layer only, so layers cannot be mistaken for each other.
    """

    def __init__(self, layers: Sequence[Convolution], side: int, capacity: int) -> None:
        """Nothing met yet; `side` is the rows, and columns, of images."""
        self._layers = layers
        sides = list(accumulate(layers, lambda side, layer: layer.side(side), initial=side))
        paddings = [*(layer.padding for layer in layers), 0]
        self._maps = [_empty_map(*shape) for shape in zip(sides, paddings, strict=True)]
        self._needed = sum(side * side for side in sides[1:])
        if capacity < _RESERVED + self._needed:
            raise ValueError(f"{capacity} positions: an image needs {_RESERVED + self._needed}")
        self.capacity = capacity
        self._values = np.empty((capacity, max(len(layer.bias) for layer in layers)), np.float32)
        self._values[:_RESERVED] = 0.0
        # Pixels are the first layer's positions: their numbers, and values, are fixed.
        self._values[FIRST_PIXEL:_RESERVED, 0] = np.arange(256, dtype=np.float32) / 255.0
        self._covered = np.empty((capacity, max(layer.kernel for layer in layers) ** 2), np.int32)
        self._slots = np.zeros(1 << (2 * capacity - 1).bit_length(), np.int32)
        self.count = _RESERVED
        self._settled = True

    def outputs(self, image: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return what the last layer gives, shape (side, side, outputs), for an image."""
        if not self._settled or self.count + self._needed > self.capacity:
            self.count = _RESERVED
            self._slots[:] = 0
            for each in self._maps:
                each.inner[:] = OUTSIDE
        self._settled = False  # and stays so if this is interrupted half-way
        _take(image, *self._maps[0])
        for layer, before, after in zip(self._layers, self._maps, self._maps[1:], strict=False):
            first = self.count
            inputs, changed, _ = before
            maps = inputs, changed, after.numbers, after.changed, after.padding
            how = layer.kernel, layer.stride
            self.count = _find(*maps, *how, self._covered, self._slots, first)
            if self.count > first:  # only what was never met before is multiplied
                _compute(self._values, self._covered, first, self.count, layer)
        self._settled = True
        return self._values[self._maps[-1].inner, : len(self._layers[-1].bias)]


class _Map(NamedTuple):
    """Numbers of a layer's positions for the image at hand, and where the last image's differed.

    What no change touches keeps its number without being looked up. Around the positions are
    `padding` rows and columns of `OUTSIDE`, as the layer that reads them wants it.
    """

    numbers: NDArray[np.int32]
    """Shape (rows, columns), the padding included, like `changed`."""
    changed: NDArray[np.bool_]
    padding: int

    @property
    def inner(self) -> NDArray[np.int32]:
        """Numbers of the positions without what is around them."""
        inner = slice(self.padding, len(self.numbers) - self.padding)
        return self.numbers[inner, inner]


def _empty_map(side: int, padding: int) -> _Map:
    """Map of no image yet; `side` is its rows, and columns, of positions."""
    shape = side + 2 * padding, side + 2 * padding
    return _Map(np.full(shape, OUTSIDE, np.int32), np.zeros(shape, np.bool_), padding)


@njit
def _take(
    image: NDArray[np.uint8], numbers: NDArray[np.int32], changed: NDArray[np.bool_], padding: int
) -> None:
    """Give an image's pixels their numbers."""
    for row in range(image.shape[0]):
        for column in range(image.shape[1]):
            number = np.int32(image[row, column]) + np.int32(FIRST_PIXEL)
            at = padding + row, padding + column
            changed[at] = number != numbers[at]
            numbers[at] = number


@njit
def _find(
    inputs: NDArray[np.int32],
    changed: NDArray[np.bool_],
    numbers: NDArray[np.int32],
    numbers_changed: NDArray[np.bool_],
    padding: int,
    kernel: int,
    stride: int,
    covered: NDArray[np.int32],
    slots: NDArray[np.int32],
    count: int,
) -> int:
    """Give each neighbourhood in `inputs` a number, into `numbers`; return the next free one.

    New ones get numbers from `count` on, and what they cover goes to `covered`: with `slots` these
    are the contents of `number_of`.
    """
    side = numbers.shape[0] - 2 * padding
    # Whether any line of the kernel's rows has changed in a column: found once for a whole row.
    touched = np.empty(inputs.shape[1], np.bool_)
    window = np.empty(kernel * kernel, np.int32)
    for row in range(side):
        top = row * stride
        touched[:] = changed[top]
        for i in range(top + 1, top + kernel):
            touched |= changed[i]
        for column in range(side):
            left = column * stride
            same = True
            for j in range(left, left + kernel):
                same &= not touched[j]
            at = padding + row, padding + column
            numbers_changed[at] = False
            if same:
                continue
            for i in range(kernel):
                for j in range(kernel):
                    window[i * kernel + j] = inputs[top + i, left + j]
            number = number_of(window, covered, slots, count)
            count += number == count
            numbers_changed[at] = numbers[at] != number
            numbers[at] = number
    return count


@njit
def _compute(
    values: NDArray[np.float32],
    covered: NDArray[np.int32],
    first: int,
    end: int,
    layer: Convolution,
) -> None:
    """Fill in the values of a layer's numbers `first` to `end`."""
    inputs, taps, weight = layer.inputs, layer.kernel**2, layer.weight
    slope, scale, shift, second_slope = layer.slope, layer.scale, layer.shift, layer.second_slope
    terms, outputs = weight.shape
    rows = np.zeros((_BLOCK, terms), np.float32)
    sums = np.empty((_BLOCK, outputs), np.float32)
    for start in range(first, end, _BLOCK):
        count = min(_BLOCK, end - start)
        for row in range(count):
            sums[row] = layer.bias
            for tap in range(taps):
                source = values[covered[start + row, tap]]
                for k in range(inputs):
                    rows[row, tap * inputs + k] = source[k]
        _multiply(rows[:count], weight, sums)
        for row in range(count):
            for j in range(outputs):
                value = sums[row, j]
                value = value if value > 0 else value * slope
                value = value * scale[j] + shift[j]
                values[start + row, j] = value if value > 0 else value * second_slope


# Contraction: a product and a sum are one instruction, rounded once. A row is summed in the same
# order whatever rows are beside it, which a library's matrix product does not promise.
@njit(fastmath={"contract"})
def _multiply(
    rows: NDArray[np.float32], weight: NDArray[np.float32], sums: NDArray[np.float32]
) -> None:
    """Add rows @ weight to `sums`; shapes (M, terms), (terms, outputs), (M, outputs)."""
    terms, outputs = weight.shape
    for k in range(0, terms, 8):
        w0, w1, w2, w3 = weight[k], weight[k + 1], weight[k + 2], weight[k + 3]
        w4, w5, w6, w7 = weight[k + 4], weight[k + 5], weight[k + 6], weight[k + 7]
        for row in range(len(rows)):
            x, total = rows[row], sums[row]
            x0, x1, x2, x3 = x[k], x[k + 1], x[k + 2], x[k + 3]
            x4, x5, x6, x7 = x[k + 4], x[k + 5], x[k + 6], x[k + 7]
            for j in range(outputs):
                near = total[j] + x0 * w0[j] + x1 * w1[j] + x2 * w2[j] + x3 * w3[j]
                total[j] = near + x4 * w4[j] + x5 * w5[j] + x6 * w6[j] + x7 * w7[j]
