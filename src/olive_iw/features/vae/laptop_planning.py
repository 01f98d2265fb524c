"""The laptop network's planning encoder: from one grey image to its true bits."""

from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.arithmetic import add_product
from olive_iw.compiled import njit
from olive_iw.features.base import Atoms
from olive_iw.features.patches import PATCH_SIZE, PER_SIDE, POSITIONS, number_of
from olive_iw.features.vae.network import LOGIT_THRESHOLD, Bytes, Floats

KEPT_PATCHES = 1 << 15
"""Patches whose bits are kept at most: 4 MB in all, with the table that finds them."""

Layers: TypeAlias = tuple[Floats, ...]


@final
class LaptopPlanning:
    """The patch encoder, compiled: each distinct patch once, no threads, no library call.

    Every patch is summed in the same order whatever surrounds it, which a matrix product of a
    library does not promise. So the bits of a patch can be kept: most patches of a new screen
    have been met before, somewhere, and most of those in the same place of the last screen.
    """

    def __init__(self, weights: Layers, biases: Layers, slope: np.float32) -> None:
        """Take weights, shape (inputs, outputs), and biases, shape (1, outputs), by layer.

        The first layer takes grey levels in [0, 1].
        """
        self._network = weights, biases, slope
        self._count = np.zeros(1, np.int64)
        self._patches = np.empty((KEPT_PATCHES, PATCH_SIZE), np.uint64)
        self._bits = np.empty((KEPT_PATCHES, biases[-1].shape[1]), np.bool_)
        self._slots = np.zeros(4 * KEPT_PATCHES, np.int32)
        self._last = np.zeros(POSITIONS, np.int32)

    def atoms(self, image: Bytes) -> Atoms:
        """Places of the true bits, of 5,120, of an image, shape (128, 128)."""
        # Before it is full, since an image may bring a new patch in every position.
        if self._count[0] + POSITIONS > KEPT_PATCHES:
            self._count[0] = 0
            self._slots[:] = 0
        kept = self._count, self._patches, self._slots, self._bits, self._last
        atoms: Atoms = _patch_atoms(
            np.ascontiguousarray(image).view(np.uint64), *kept, *self._network
        )
        return atoms


@njit
def _patch_atoms(
    words: NDArray[np.uint64],
    count: NDArray[np.int64],
    patches: NDArray[np.uint64],
    slots: NDArray[np.int32],
    kept: NDArray[np.bool_],
    last: NDArray[np.int32],
    weights: Layers,
    biases: Layers,
    slope: np.float32,
) -> Atoms:
    """Atoms of an image as words of 8 pixels, shape (128, 16); patches not kept yet are added.

    `count`, shape (1,), patches are kept: their words in `patches`, shape (most, 8), with `slots`
    to find them, and their bits in `kept`, shape (most, bits). `last`, shape (256,), are the
    numbers of the last image's patches, or of others: where one looks alike it need not be found.
    """
    bits = kept.shape[1]
    atoms = np.empty(POSITIONS * bits + 1, np.int32)
    row = np.empty(PATCH_SIZE, np.uint64)
    end = np.uint32(0)  # unsigned: no test for negative indexing
    for position in range(POSITIONS):
        top, column = position // PER_SIDE * PATCH_SIZE, position % PER_SIDE
        number = np.uint32(last[position])
        different = np.uint64(0)
        for line in range(PATCH_SIZE):
            row[line] = words[top + line, column]
            different |= row[line] ^ patches[number, line]
        if different or number >= count[0]:  # the latter once all patches were forgotten
            number = np.uint32(number_of(row, patches, slots, count[0]))
            last[position] = number
        if number == count[0]:
            patch = row.view(np.uint8).reshape(1, PATCH_SIZE * PATCH_SIZE)
            _patch_bits(patch, weights, biases, slope, kept[number])
            count[0] += 1
        true = kept[number]
        for bit in range(bits):
            atoms[end] = position * bits + bit  # without a branch: overwritten unless it counts
            end += np.uint32(true[bit])
    return atoms[:end].copy()


@njit
def _patch_bits(
    patch: Bytes, weights: Layers, biases: Layers, slope: np.float32, bits: NDArray[np.bool_]
) -> None:
    """Set the bits, shape (bits,), of a patch, shape (1, 64)."""
    values = np.empty(patch.shape, np.float32)
    for pixel in range(patch.shape[1]):
        values[0, pixel] = np.float32(patch[0, pixel]) / np.float32(255.0)
    for layer in range(len(weights)):
        outputs = biases[layer].copy()
        add_product(values, weights[layer], outputs)
        if layer < len(weights) - 1:
            for column in range(outputs.shape[1]):
                if outputs[0, column] < 0:
                    outputs[0, column] *= slope
        values = outputs
    for bit in range(len(bits)):
        bits[bit] = values[0, bit] > np.float32(LOGIT_THRESHOLD)
