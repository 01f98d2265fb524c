"""Fast, deterministic encoders for planning: from grey images to bits, in evaluation mode.

Planning asks for one screen at a time, so what counts is the cost of a single image. A bit is true
where sigmoid(logit) > 0.9. An image's bits never depend on the images encoded beside it.
"""

import copy
from typing import Any, Protocol, final

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import nn

from olive_iw.features.base import Atoms
from olive_iw.features.binary_vae.model import (
    CONTRAST,
    LOGIT_THRESHOLD,
    LaptopVae,
    PaperVae,
    PlainBlock,
    Vae,
    on_device,
)
from olive_iw.features.binary_vae.neighbourhoods import Convolution, Neighbourhoods, weight_rows
from olive_iw.features.image import IMAGE_SIZE
from olive_iw.features.patches import PATCH_SIZE, PER_SIDE, POSITIONS, number_of

KEPT_PATCHES = 1 << 15
"""Patches whose bits are kept at most: 4 MB in all, with the table that finds them."""

KEPT_POSITIONS = 3 << 17
"""Positions, of all layers together, that are kept at most: 130 MB."""


class PlanningEncoder(Protocol):
    """Atoms of an image, its true bits; made anew whenever the network's weights change."""

    def atoms(self, image: NDArray[np.uint8]) -> Atoms:
        """Places of the true bits, ascending, int32, of an image, shape (128, 128)."""


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
    have been met before, somewhere, and most of those in the same place of the last screen.
    """

    def __init__(self, network: LaptopVae) -> None:
        layers = [layer for layer in network.encoder if isinstance(layer, nn.Linear)]
        with torch.no_grad():
            weights = [np.ascontiguousarray(layer.weight.T.cpu().numpy()) for layer in layers]
            biases = [layer.bias.cpu().numpy() for layer in layers]
        # (x - 0.5) · CONTRAST, done once to the first layer instead of to every patch.
        biases[0] = biases[0] - np.float32(0.5 * CONTRAST) * weights[0].sum(0)
        weights[0] = weights[0] * np.float32(CONTRAST)
        self._weights, self._biases = tuple(weights), tuple(biases)
        self._slope = np.float32(network.config.slope)
        self._count = np.zeros(1, np.int64)
        self._patches = np.empty((KEPT_PATCHES, PATCH_SIZE), np.uint64)
        self._bits = np.empty((KEPT_PATCHES, len(biases[-1])), np.bool_)
        self._slots = np.zeros(4 * KEPT_PATCHES, np.int32)
        self._last = np.zeros(POSITIONS, np.int32)

    def atoms(self, image: NDArray[np.uint8]) -> Atoms:
        """Places of the true bits, of 5,120, of an image, shape (128, 128)."""
        if self._count[0] + POSITIONS > KEPT_PATCHES:
            self._count[0] = 0
            self._slots[:] = 0
        kept = self._count, self._patches, self._slots, self._bits, self._last
        network = self._weights, self._biases, self._slope
        atoms: Atoms = _patch_atoms(np.ascontiguousarray(image).view(np.uint64), *kept, *network)
        return atoms


@njit(cache=True)
def _patch_atoms(words, count, patches, slots, kept, last, weights, biases, slope):  # type: ignore[no-untyped-def]
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
        if different or number >= count[0]:
            number = np.uint32(number_of(row, patches, slots, count[0]))
            last[position] = number
        if number == count[0]:
            patch = row.view(np.uint8).reshape(1, PATCH_SIZE * PATCH_SIZE)
            kept[number] = _patch_bits(patch, weights, biases, slope)[0]
            count[0] += 1
        true = kept[number]
        for bit in range(bits):
            atoms[end] = position * bits + bit  # without a branch: overwritten unless it counts
            end += np.uint32(true[bit])
    return atoms[:end].copy()


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


@final
class PaperPlanning:
    """The encoder on the processor: only neighbourhoods not met before are computed.

    Screens of one search differ in few places, and most of those look like others met elsewhere:
    of the 424 million multiplications of a whole image some 5% are left in Ms. Pac-Man, 1% in
    Breakout. A position's values are the same whether they were kept or not, so the bits are a
    function of the image alone. On noise nothing repeats: that takes two to three times as long as
    `WholeImagePlanning`.
    """

    def __init__(self, network: PaperVae, *, kept_positions: int = KEPT_POSITIONS) -> None:
        self._neighbourhoods = Neighbourhoods(_convolutions(network), IMAGE_SIZE, kept_positions)

    def logits(self, image: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Logits, shape (15, 15, bits), of an image, shape (128, 128)."""
        return self._neighbourhoods.outputs(image)

    def atoms(self, image: NDArray[np.uint8]) -> Atoms:
        """Places of the true bits, of 4,500, of an image, shape (128, 128)."""
        return _places(self.logits(image) > LOGIT_THRESHOLD)


@final
class WholeImagePlanning:
    """The encoder on any device, one whole image at a time."""

    def __init__(self, network: PaperVae) -> None:
        self._network = network

    def atoms(self, image: NDArray[np.uint8]) -> Atoms:
        """Places of the true bits, of 4,500, of an image, shape (128, 128)."""
        with torch.inference_mode():
            pixels = on_device(self._network, image[np.newaxis, np.newaxis])
            pixels = pixels.contiguous(memory_format=torch.channels_last)
            true = self._network.encode(pixels)[0] > LOGIT_THRESHOLD
            return _places(true.permute(1, 2, 0).cpu().numpy())


@final
class TrainingModePlanning:
    """The encoder as it is while it is trained: dropout on, norms by the image's own statistics."""

    def __init__(self, network: PaperVae) -> None:
        self._network = copy.deepcopy(network).train()
        for module in self._network.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.running_mean = module.running_var = None
                module.track_running_stats = False

    def atoms(self, image: NDArray[np.uint8], noise: torch.Generator) -> Atoms:
        """Places of the true bits of an image, shape (128, 128), with what `noise` drops."""
        with torch.inference_mode():
            pixels = on_device(self._network, image[np.newaxis, np.newaxis])
            true = self._network.encode(pixels, noise)[0] > LOGIT_THRESHOLD
            return _places(true.permute(1, 2, 0).cpu().numpy())


def _places(bits: NDArray[np.bool_]) -> Atoms:
    """Places of the true among bits of any shape."""
    return np.flatnonzero(bits).astype(np.int32)


def _convolutions(network: PaperVae) -> list[Convolution]:
    """Copy the encoder's layers as they are in evaluation mode.

    A block's second batch norm follows a convolution and becomes part of it. Its first follows a
    leaky ReLU, so it stays as what it is: one scale and shift per channel.
    """
    slope = np.float32(network.config.slope)
    layers: list[Convolution] = []
    for layer in copy.deepcopy(network.encoder).eval():
        if isinstance(layer, PlainBlock):
            scale, shift = _affine(layer.first_norm)
            layers[-1] = layers[-1]._replace(scale=scale, shift=shift, second_slope=slope)
            first = nn.utils.fusion.fuse_conv_bn_eval(layer.first, layer.second_norm)
            layers += [_convolution(first, slope), _convolution(layer.second, slope)]
        else:
            layers.append(_convolution(layer, slope))
    layers[-1] = layers[-1]._replace(slope=np.float32(1.0))
    return layers


def _affine(norm: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Scale and shift, shape (channels,) each, of a batch norm in evaluation mode."""
    scale = norm.weight.detach() / torch.sqrt(norm.running_var + norm.eps)
    return scale.numpy(), (norm.bias.detach() - norm.running_mean * scale).numpy()


def _convolution(module: Any, slope: np.float32) -> Convolution:
    """Arrays of a convolution with a leaky ReLU of a slope after it."""
    return Convolution(
        inputs=module.in_channels,
        kernel=module.kernel_size[0],
        stride=module.stride[0],
        padding=module.padding[0],
        weight=weight_rows(module.weight.detach().numpy()),
        bias=module.bias.detach().numpy(),
        slope=slope,
        scale=np.ones(module.out_channels, np.float32),
        shift=np.zeros(module.out_channels, np.float32),
        second_slope=np.float32(1.0),
    )
