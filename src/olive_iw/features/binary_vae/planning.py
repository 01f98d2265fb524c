"""Fast, deterministic encoders for planning: from grey images to bits, in evaluation mode.

Planning asks for one screen at a time, so what counts is the cost of a single image. A bit is true
where sigmoid(logit) > 0.9. An image's bits never depend on the images encoded beside it.
"""

import copy
import math
from typing import Any, Protocol, final

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows it by)
from numba import njit
from numpy.typing import NDArray
from torch import Tensor, nn

from olive_iw.features.binary_vae.items import PATCH, find_patches, patch_rows
from olive_iw.features.binary_vae.model import CONTRAST, LaptopVae, PaperVae, PlainBlock, Vae
from olive_iw.features.image import IMAGE_SIZE

LOGIT_THRESHOLD = math.log(0.9 / 0.1)
"""sigmoid(logit) > 0.9 is logit > this."""

KEPT_PATCHES = 1 << 15
"""Patches whose bits are kept at most: 4 MB in all, with the table that finds them."""

_AT_ONCE = 1 << 12
"""Patches looked up at a time, fewer than are kept."""


class PlanningEncoder(Protocol):
    """Bits of images under weights as they were when it was made."""

    def bits(self, images: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Bits, shape (N, size), in the order of atoms, of images, shape (N, 128, 128)."""
        ...


def planning_encoder(network: Vae) -> PlanningEncoder:
    """Return the planning encoder of a network's present weights."""
    if isinstance(network, LaptopVae):
        return LaptopPlanning(network)
    return PaperPlanning(network)


@final
class LaptopPlanning:
    """The patch encoder, compiled: each distinct patch once, no threads, no library call.

    Every patch is summed in the same order whatever surrounds it, which a matrix product of a
    library does not promise. So the bits of a patch can be kept: most patches of a new screen
    have been met before, somewhere.
    """

    def __init__(self, network: LaptopVae) -> None:
        layers = [layer for layer in network.encoder if isinstance(layer, nn.Linear)]
        self._weights = [_array(layer.weight.T) for layer in layers]
        self._biases = [_array(layer.bias) for layer in layers]
        # (x - 0.5) · CONTRAST, done once to the first layer instead of to every patch.
        self._biases[0] = self._biases[0] - np.float32(0.5 * CONTRAST) * self._weights[0].sum(0)
        self._weights[0] = self._weights[0] * np.float32(CONTRAST)
        self._slope = np.float32(network.config.slope)
        self._count = 0
        self._patches = np.empty((KEPT_PATCHES, PATCH * PATCH // 8), np.uint64)
        self._bits = np.empty((KEPT_PATCHES, len(self._biases[-1])), np.bool_)
        self._slots = np.full(4 * KEPT_PATCHES, -1, np.int64)

    def bits(self, images: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Bits, shape (N, 5120), of images, shape (N, 128, 128)."""
        rows = patch_rows(images)
        bits = np.empty((len(rows), self._bits.shape[1]), np.bool_)
        for start in range(0, len(rows), _AT_ONCE):
            part = rows[start : start + _AT_ONCE]
            bits[start : start + _AT_ONCE] = self._bits[self._places(part)]
        return bits.reshape(len(images), (IMAGE_SIZE // PATCH) ** 2 * bits.shape[1])

    def _places(self, rows: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Where the bits of patches, shape (M, 8), are kept, shape (M,)."""
        if self._count + len(rows) > KEPT_PATCHES:
            self._count = 0
            self._slots[:] = -1
        places = np.empty(len(rows), np.int64)
        before = self._count
        self._count = find_patches(rows, self._patches, self._slots, before, places)
        if self._count > before:
            new = self._patches[before : self._count].view(np.uint8)
            self._bits[before : self._count] = self._logits(new) > LOGIT_THRESHOLD
        return places

    def _logits(self, patches: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Logits, shape (M, bits), of patches, shape (M, 64)."""
        values = patches.astype(np.float32) / np.float32(255.0)
        last = len(self._weights) - 1
        for layer, (weight, bias) in enumerate(zip(self._weights, self._biases, strict=True)):
            slope = self._slope if layer < last else np.float32(1.0)
            values = _layer(values, weight, bias, slope)
        return values


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


@final
class PaperPlanning:
    """VAE-IW's encoder with its batch norms folded away, one image at a time.

    A block's second batch norm follows a convolution and becomes part of it. Its first follows a
    leaky ReLU, so it stays as what it is in evaluation mode: one scale and shift per channel.
    """

    def __init__(self, network: PaperVae) -> None:
        layers = copy.deepcopy(network.encoder).eval()
        self._slope = network.config.slope
        self._device = next(network.parameters()).device
        self._layers: list[nn.Module | _FoldedBlock] = [
            _FoldedBlock(layer) if isinstance(layer, PlainBlock) else layer for layer in layers
        ]

    def logits(self, images: Tensor) -> Tensor:
        """Logits, shape (N, bits, 15, 15), of images, float, shape (N, 1, 128, 128)."""
        x = images
        for layer in self._layers[:-1]:
            x = layer(x)
            if not isinstance(layer, _FoldedBlock):
                x = F.leaky_relu_(x, self._slope)
        logits: Tensor = self._layers[-1](x)
        return logits

    def bits(self, images: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Bits, shape (N, 4500), of images, shape (N, 128, 128)."""
        # One by one: in larger batches the library may sum in another order, and flip a bit.
        with torch.inference_mode():
            return np.stack([self._bits_of_one(image) for image in images])

    def _bits_of_one(self, image: NDArray[np.uint8]) -> NDArray[np.bool_]:
        pixels = torch.from_numpy(image[np.newaxis, np.newaxis]).to(self._device)
        pixels = (pixels.float() / 255.0).contiguous(memory_format=torch.channels_last)
        true = self.logits(pixels)[0] > LOGIT_THRESHOLD
        bits: NDArray[np.bool_] = true.permute(1, 2, 0).flatten().cpu().numpy()
        return bits


class _FoldedBlock:
    """A `PlainBlock` in evaluation mode."""

    def __init__(self, block: PlainBlock) -> None:
        self.slope = block.slope
        scale, shift = _affine(block.first_norm)
        self.scale = scale.view(1, -1, 1, 1)
        self.shift = shift.view(1, -1, 1, 1)
        self.first = nn.utils.fusion.fuse_conv_bn_eval(block.first, block.second_norm)
        self.second = block.second

    def __call__(self, x: Tensor) -> Tensor:
        x = F.leaky_relu_(torch.addcmul(self.shift, x, self.scale), self.slope)
        x = F.leaky_relu_(self.first(x), self.slope)
        return F.leaky_relu_(self.second(x), self.slope)


def _affine(norm: nn.BatchNorm2d) -> tuple[Tensor, Tensor]:
    """Scale and shift, shape (channels,) each, of a batch norm in evaluation mode."""
    statistics: Any = norm
    scale = norm.weight.detach() / torch.sqrt(statistics.running_var + norm.eps)
    return scale, norm.bias.detach() - statistics.running_mean * scale
