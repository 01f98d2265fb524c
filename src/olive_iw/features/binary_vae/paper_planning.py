"""VAE-IW's encoder for planning: batch norms folded away, each neighbourhood computed once."""

import copy
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows it by)
from numpy.typing import NDArray
from torch import Tensor, nn

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
        layers = folded_layers(network)
        convolutions = [_convolution(layer, network.config.slope) for layer in layers[:-1]]
        convolutions.append(_convolution(layers[-1], 1.0))
        self._neighbourhoods = Neighbourhoods(convolutions, IMAGE_SIZE, kept_positions)

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
        self._layers = folded_layers(network)
        self._slope = network.config.slope
        self._device = next(network.parameters()).device

    def logits(self, images: Tensor) -> Tensor:
        """Logits, shape (N, bits, 15, 15), of images, float, shape (N, 1, 128, 128)."""
        x = images
        for layer in self._layers[:-1]:
            x = F.leaky_relu_(layer.convolution(x), self._slope)
            if layer.norm is not None:
                scale, shift = (part.view(1, -1, 1, 1) for part in layer.norm)
                x = F.leaky_relu_(torch.addcmul(shift, x, scale), self._slope)
        logits: Tensor = self._layers[-1].convolution(x)
        return logits

    def bits(self, images: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Bits, shape (N, 4500), of images, shape (N, 128, 128)."""
        # One by one: in larger batches the library may sum in another order, and flip a bit.
        with torch.inference_mode():
            return np.stack([self._bits_of_one(image) for image in images])

    def _bits_of_one(self, image: NDArray[np.uint8]) -> NDArray[np.bool_]:
        pixels = torch.tensor(image[np.newaxis, np.newaxis], device=self._device)
        pixels = (pixels.float() / 255.0).contiguous(memory_format=torch.channels_last)
        true = self.logits(pixels)[0] > LOGIT_THRESHOLD
        bits: NDArray[np.bool_] = true.permute(1, 2, 0).flatten().cpu().numpy()
        return bits


@dataclass(frozen=True, slots=True, eq=False)
class FoldedLayer:
    """A convolution, and the batch norm between the two leaky ReLUs after it, if there is one."""

    convolution: nn.Conv2d
    norm: tuple[Tensor, Tensor] | None = None
    """Scale and shift, shape (channels,) each."""


def folded_layers(network: PaperVae) -> list[FoldedLayer]:
    """Copy the encoder's layers as they are in evaluation mode.

    A block's second batch norm follows a convolution and becomes part of it. Its first follows a
    leaky ReLU, so it stays as what it is: one scale and shift per channel.
    """
    layers: list[FoldedLayer] = []
    for layer in copy.deepcopy(network.encoder).eval():
        if isinstance(layer, PlainBlock):
            layers[-1] = FoldedLayer(layers[-1].convolution, _affine(layer.first_norm))
            first = nn.utils.fusion.fuse_conv_bn_eval(layer.first, layer.second_norm)
            layers += [FoldedLayer(first), FoldedLayer(layer.second)]
        else:
            assert isinstance(layer, nn.Conv2d)
            layers.append(FoldedLayer(layer))
    return layers


def _affine(norm: nn.BatchNorm2d) -> tuple[Tensor, Tensor]:
    """Scale and shift, shape (channels,) each, of a batch norm in evaluation mode."""
    statistics: Any = norm
    scale = norm.weight.detach() / torch.sqrt(statistics.running_var + norm.eps)
    return scale, norm.bias.detach() - statistics.running_mean * scale


def _convolution(layer: FoldedLayer, slope: float) -> Convolution:
    """Arrays of a layer with a leaky ReLU of a slope after it, and after its norm."""
    module: Any = layer.convolution
    outputs = module.out_channels
    scale, shift = layer.norm or (torch.ones(outputs), torch.zeros(outputs))
    return Convolution(
        inputs=module.in_channels,
        kernel=module.kernel_size[0],
        stride=module.stride[0],
        padding=module.padding[0],
        weight=weight_rows(module.weight.detach().numpy()),
        bias=module.bias.detach().numpy(),
        scale=scale.numpy(),
        shift=shift.numpy(),
        slope=np.float32(slope),
        second_slope=np.float32(1.0 if layer.norm is None else slope),
    )
