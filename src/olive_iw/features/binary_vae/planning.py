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
from olive_iw.features.patches import PATCH_SIZE, PER_SIDE, number_rows, patch_rows

KEPT_PATCHES = 1 << 15
"""Patches whose bits are kept at most: 4 MB in all, with the table that finds them."""

_AT_ONCE = 1 << 12
"""Patches looked up at a time, fewer than are kept."""

KEPT_POSITIONS = 3 << 17
"""Positions, of all layers together, that are kept at most: 130 MB."""


class PlanningEncoder(Protocol):
    """Bits of images; made anew whenever the network's weights change."""

    def bits(self, images: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Bits, shape (N, size), in the order of atoms, of images, shape (N, 128, 128)."""


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
        with torch.no_grad():
            weights = [np.ascontiguousarray(layer.weight.T.cpu().numpy()) for layer in layers]
            biases = [layer.bias.cpu().numpy() for layer in layers]
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
            part = slice(start, start + _AT_ONCE)
            # "clip" changes nothing, all places exist, but "raise" would make a copy.
            np.take(self._bits, self._places(rows[part]), axis=0, out=bits[part], mode="clip")
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

    def bits(self, images: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Bits, shape (N, 4500), of images, shape (N, 128, 128)."""
        return np.stack([(self.logits(image) > LOGIT_THRESHOLD).ravel() for image in images])


@final
class WholeImagePlanning:
    """The encoder on any device, one whole image at a time."""

    def __init__(self, network: PaperVae) -> None:
        self._network = network

    def bits(self, images: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Bits, shape (N, 4500), of images, shape (N, 128, 128)."""
        bits = []
        with torch.inference_mode():
            for image in images:  # in larger batches the library may sum in another order
                pixels = on_device(self._network, image[np.newaxis, np.newaxis])
                pixels = pixels.contiguous(memory_format=torch.channels_last)
                true = self._network.encode(pixels)[0] > LOGIT_THRESHOLD
                bits.append(true.permute(1, 2, 0).flatten().cpu().numpy())
        return np.stack(bits)


@final
class TrainingModePlanning:
    """The encoder as it is while it is trained: dropout on, norms by the image's own statistics."""

    def __init__(self, network: PaperVae) -> None:
        self._network = copy.deepcopy(network).train()
        for module in self._network.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.running_mean = module.running_var = None
                module.track_running_stats = False

    def bits(self, image: NDArray[np.uint8], noise: torch.Generator) -> NDArray[np.bool_]:
        """Bits, shape (4500,), of an image, shape (128, 128), with what `noise` drops."""
        with torch.inference_mode():
            pixels = on_device(self._network, image[np.newaxis, np.newaxis])
            true = self._network.encode(pixels, noise)[0] > LOGIT_THRESHOLD
            bits: NDArray[np.bool_] = true.permute(1, 2, 0).flatten().cpu().numpy()
            return bits


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
