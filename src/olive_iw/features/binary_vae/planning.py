"""Fast, deterministic encoders for planning: from grey images to bits, in evaluation mode.

Planning asks for one screen at a time, so what counts is the cost of a single image. A bit is true
where sigmoid(logit) > 0.9. An image's bits never depend on the images encoded beside it.
"""

from typing import Protocol, final

import numpy as np
from numba import njit
from numpy.typing import NDArray
from torch import Tensor, nn

from olive_iw.features.binary_vae.model import CONTRAST, LOGIT_THRESHOLD, LaptopVae, Vae
from olive_iw.features.binary_vae.paper_planning import PaperPlanning, WholeImagePlanning
from olive_iw.features.patches import PATCH_SIZE, PER_SIDE, number_rows, patch_rows

KEPT_PATCHES = 1 << 15
"""Patches whose bits are kept at most: 4 MB in all, with the table that finds them."""

_AT_ONCE = 1 << 12
"""Patches looked up at a time, fewer than are kept."""


class PlanningEncoder(Protocol):
    """Bits of images; made anew whenever the network's weights change."""

    def bits(self, images: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Bits, shape (N, size), in the order of atoms, of images, shape (N, 128, 128)."""
        ...


def planning_encoder(network: Vae) -> PlanningEncoder:
    """Return the planning encoder of a network's present weights."""
    if isinstance(network, LaptopVae):
        return LaptopPlanning(network)
    if next(network.parameters()).device.type == "cpu":
        return PaperPlanning(network)
    return WholeImagePlanning(network)


@final
class LaptopPlanning:
    """The patch encoder, compiled: each distinct patch once, no threads, no library call.

    Every patch is summed in the same order whatever surrounds it, which a matrix product of a
    library does not promise. So the bits of a patch can be kept: most patches of a new screen
    have been met before, somewhere.
    """

    def __init__(self, network: LaptopVae) -> None:
        layers = [layer for layer in network.encoder if isinstance(layer, nn.Linear)]
        weights = [_array(layer.weight.T) for layer in layers]
        biases = [_array(layer.bias) for layer in layers]
        # (x - 0.5) · CONTRAST, done once to the first layer instead of to every patch.
        biases[0] = biases[0] - np.float32(0.5 * CONTRAST) * weights[0].sum(0)
        weights[0] = weights[0] * np.float32(CONTRAST)
        self._weights, self._biases = tuple(weights), tuple(biases)
        self._slope = np.float32(network.config.slope)
        self._count = 0
        self._patches = np.empty((KEPT_PATCHES, PATCH_SIZE), np.uint64)
        self._bits = np.empty((KEPT_PATCHES, len(biases[-1])), np.bool_)
        self._slots = np.zeros(4 * KEPT_PATCHES, np.int32)

    def bits(self, images: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Bits, shape (N, 5120), of images, shape (N, 128, 128)."""
        rows = patch_rows(images)
        bits = np.empty((len(rows), self._bits.shape[1]), np.bool_)
        for start in range(0, len(rows), _AT_ONCE):
            part = rows[start : start + _AT_ONCE]
            # "clip" changes nothing, all places exist, but "raise" would make a copy.
            places = self._places(part)
            np.take(self._bits, places, axis=0, out=bits[start : start + _AT_ONCE], mode="clip")
        return bits.reshape(len(images), PER_SIDE**2 * bits.shape[1])

    def _places(self, rows: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Where the bits of patches, shape (M, 8), are kept, shape (M,)."""
        if self._count + len(rows) > KEPT_PATCHES:
            self._count = 0
            self._slots[:] = 0
        places = np.empty(len(rows), np.int64)
        before = self._count
        self._count = number_rows(rows, self._patches, self._slots, before, places)
        if self._count > before:
            new = self._patches[before : self._count].view(np.uint8)
            self._bits[before : self._count] = _patch_bits(
                new, self._weights, self._biases, self._slope
            )
        return places


@njit(cache=True)
def _patch_bits(patches, weights, biases, slope):  # type: ignore[no-untyped-def]
    """Bits, shape (M, bits), of patches, uint8, shape (M, 64); weights and biases by layer."""
    values = patches.astype(np.float32) / np.float32(255.0)
    for layer in range(len(weights)):
        last = layer == len(weights) - 1
        values = _layer(values, weights[layer], biases[layer], np.float32(1.0) if last else slope)
    return values > np.float32(LOGIT_THRESHOLD)


@njit(cache=True)
def _layer(inputs, weight, bias, slope):  # type: ignore[no-untyped-def]
    """leaky_relu(inputs @ weight + bias), float32; shapes (M, K), (K, L), (L,) give (M, L)."""
    outputs = np.empty((inputs.shape[0], weight.shape[1]), np.float32)
    for row in range(inputs.shape[0]):
        output = outputs[row]
        output[:] = bias
        for k in range(weight.shape[0]):
            value = inputs[row, k]
            for column in range(weight.shape[1]):
                output[column] += value * weight[k, column]
        for column in range(weight.shape[1]):
            if output[column] < 0:
                output[column] *= slope
    return outputs


def _array(tensor: Tensor) -> NDArray[np.float32]:
    return np.ascontiguousarray(tensor.detach().cpu().numpy())
