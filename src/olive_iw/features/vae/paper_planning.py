"""Planning encoders of the paper network: from one grey image to its true bits."""

import copy
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from olive_iw.features.base import Atoms
from olive_iw.features.image import IMAGE_SIZE
from olive_iw.features.vae.neighbourhoods import Convolution, Neighbourhoods, weight_rows
from olive_iw.features.vae.network import LOGIT_THRESHOLD, PlanningEncoder
from olive_iw.features.vae.paper_modules import PaperVae, PlainBlock, on_device

KEPT_POSITIONS = 3 << 17
"""Positions, of all layers together, that are kept at most: 130 MB."""


def planning_encoder(network: PaperVae) -> PlanningEncoder:
    """Return the planning encoder of a network's present weights."""
    on_processor = next(network.parameters()).device.type == "cpu"
    return PaperPlanning(network) if on_processor else WholeImagePlanning(network)


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
            if isinstance(module, nn.BatchNorm2d):  # else every screen would change the network
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
    layers[-1] = layers[-1]._replace(slope=np.float32(1.0))  # logits come out as they are
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
