"""VAE-IW's encoder for planning: batch norms folded away, each neighbourhood computed once."""

import copy
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from olive_iw.features.binary_vae.model import LOGIT_THRESHOLD, PaperVae, PlainBlock
from olive_iw.features.binary_vae.neighbourhoods import (
    Convolution,
    Neighbourhoods,
    weight_rows,
)
from olive_iw.features.image import IMAGE_SIZE

KEPT_POSITIONS = 3 << 17
"""Positions, of all layers together, that are kept at most: 130 MB."""


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
        self._device = next(network.parameters()).device

    def bits(self, images: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Bits, shape (N, 4500), of images, shape (N, 128, 128)."""
        # One by one: in larger batches the library may sum in another order, and flip a bit.
        with torch.inference_mode():
            return np.stack([self._bits_of_one(image) for image in images])

    def _bits_of_one(self, image: NDArray[np.uint8]) -> NDArray[np.bool_]:
        pixels = torch.tensor(image[np.newaxis, np.newaxis], device=self._device)
        pixels = (pixels.float() / 255.0).contiguous(memory_format=torch.channels_last)
        true = self._network.encode(pixels)[0] > LOGIT_THRESHOLD
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
