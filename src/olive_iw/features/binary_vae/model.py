"""The two networks: a patch encoder for laptops, and the convolutions of VAE-IW.

Both map a grey image, float in [0, 1], shape (N, 1, 128, 128), to the logits of Bernoulli latents,
shape (N, bits, side, side), and latents back to pixel logits, shape (N, 1, 128, 128). The atom of a
latent is (row · side + column) · bits + bit.

Both are trained and scored on distinct items. The paper network's are whole images. The laptop
network looks at each 8×8 patch by itself, and most patches of a game are the same (64 screens of
Space Invaders have 376 different ones among 16,384), so its items are the distinct patches: all
sums over an image's pixels are sums over its items, and equal patches need computing once.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows it by)
from numpy.typing import NDArray
from torch import Generator, Tensor, nn

from olive_iw.errors import InputError
from olive_iw.features.binary_vae.config import LaptopConfig, PaperConfig, VaeConfig
from olive_iw.features.binary_vae.devices import one_thread
from olive_iw.features.image import IMAGE_SIZE
from olive_iw.features.patches import PATCH_SIZE, PER_SIDE, number_rows, patch_rows

CONTRAST = 4.0
"""Grey levels enter the patch network as ±CONTRAST/2: most pixels of a game are nearly black, and
without it (and without its initialisation) 300 steps tell 20 patches of Breakout apart, not 160."""

LOGIT_THRESHOLD = math.log(0.9 / 0.1)
"""A latent is true in planning where its logit is above this: sigmoid(logit) > 0.9."""


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Images as made of items."""

    inputs: NDArray[np.uint8]
    """The distinct items, shape (M, ...): (M, 64) patches or (M, 1, 128, 128) images."""
    index: NDArray[np.int64]
    """Shape (N, items per image): the items of each image, row by row."""

    def occurrences(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """How often each item occurs in some images, shape (M,)."""
        return np.bincount(self.index[rows].ravel(), minlength=len(self.inputs))


def check_images(images: NDArray[np.uint8]) -> None:
    """Raise `InputError` unless these are grey images as the networks take them."""
    if images.dtype != np.uint8 or images.shape[1:] != (IMAGE_SIZE, IMAGE_SIZE):
        raise InputError(
            f"images are {images.dtype} of shape {images.shape}; "
            f"they should be uint8 of shape (N, {IMAGE_SIZE}, {IMAGE_SIZE})"
        )


def patch_items(images: NDArray[np.uint8]) -> Items:
    """Distinct 8×8 patches of images, shape (N, 128, 128), in the order of their first place."""
    rows = patch_rows(images)
    distinct = np.empty_like(rows)
    index = np.empty(len(rows), np.int64)
    slots = np.zeros(1 << max(12, (2 * len(rows)).bit_length()), np.int32)
    count = number_rows(rows, distinct, slots, 0, index)
    patches = distinct[:count].copy().view(np.uint8)
    return Items(patches, index.reshape(len(images), PER_SIDE**2))


@final
class LaptopVae(nn.Module):
    """Each 8×8 patch on its own through a small network shared over all positions."""

    def __init__(self, config: LaptopConfig) -> None:
        super().__init__()
        self.config = config
        pixels = PATCH_SIZE**2
        self.encoder = _perceptron(pixels, config.hidden, config.bits, config.slope)
        self.decoder = _perceptron(config.bits, config.hidden, pixels, config.slope)

    items = staticmethod(patch_items)

    def encode_items(self, patches: Tensor, noise: Generator | None = None) -> Tensor:
        """Logits, shape (M, bits), of patches, shape (M, 64); no part of it draws from `noise`."""
        logits: Tensor = self.encoder((patches - 0.5) * CONTRAST)
        return logits

    def decode_items(self, latents: Tensor, noise: Generator | None = None) -> Tensor:
        """Pixel logits, shape (M, 64), of latents, shape (M, bits)."""
        pixels: Tensor = self.decoder(2.0 * latents - 1.0)
        return pixels

    def encode(self, images: Tensor, noise: Generator | None = None) -> Tensor:
        """Logits, shape (N, bits, 16, 16), of images, shape (N, 1, 128, 128)."""
        patches = F.pixel_unshuffle(images, PATCH_SIZE).permute(0, 2, 3, 1)
        return self.encode_items(patches).permute(0, 3, 1, 2)

    def decode(self, latents: Tensor, noise: Generator | None = None) -> Tensor:
        """Pixel logits, shape (N, 1, 128, 128), of latents, shape (N, bits, 16, 16)."""
        pixels = self.decode_items(latents.permute(0, 2, 3, 1))
        return F.pixel_shuffle(pixels.permute(0, 3, 1, 2), PATCH_SIZE)


def _perceptron(inputs: int, hidden: int, outputs: int, slope: float) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, hidden),
        nn.LeakyReLU(slope, inplace=True),
        nn.Linear(hidden, hidden),
        nn.LeakyReLU(slope, inplace=True),
        nn.Linear(hidden, outputs),
    )


@final
class PlainBlock(nn.Module):
    """Two 3×3 convolutions, each after batch norm and leaky ReLU; shapes stay (N, C, H, W).

    VAE-IW calls it residual, but the network its authors trained has no skip connection, and
    neither has this one.
    """

    def __init__(self, channels: int, slope: float, dropout: float) -> None:
        super().__init__()
        self.slope = slope
        self.dropout = dropout
        self.first_norm = nn.BatchNorm2d(channels)
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second_norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: Tensor, noise: Generator | None = None) -> Tensor:
        """Transform `x` to the same shape; in training mode `noise` says which channels drop."""
        # In place wherever the gradient does not need the values before: at a batch of 64 a layer
        # has 64 MB, and fresh memory can cost several times what is done with it.
        x = self.first(F.leaky_relu_(self.first_norm(x), self.slope))
        x = self._drop(x, noise)
        x = self.second(F.leaky_relu_(self.second_norm(x), self.slope))
        return F.leaky_relu_(self._drop(x, noise), self.slope)

    def _drop(self, x: Tensor, noise: Generator | None) -> Tensor:
        if not self.training or self.dropout == 0.0:
            return x
        if noise is None:
            raise RuntimeError("dropout in training mode needs the generator it draws from")
        shape = (x.shape[0], x.shape[1], 1, 1)
        draws = torch.rand(shape, generator=noise, device=x.device, dtype=x.dtype)
        return x.mul_((draws >= self.dropout) / (1.0 - self.dropout))


@final
class PaperVae(nn.Module):
    """VAE-IW's network: 7 convolutions each way, 452,885 parameters."""

    def __init__(self, config: PaperConfig) -> None:
        super().__init__()
        self.config = config
        channels, bits = config.channels, config.bits
        self.encoder = nn.ModuleList(
            [
                nn.Conv2d(1, channels, 4, stride=2),
                PlainBlock(channels, config.slope, config.dropout),
                nn.Conv2d(channels, channels, 4, stride=2),
                PlainBlock(channels, config.slope, config.dropout),
                nn.Conv2d(channels, bits, 3, stride=2, padding=1),
            ]
        )
        self.decoder = nn.ModuleList(
            [
                nn.ConvTranspose2d(bits, channels, 3, stride=2),
                PlainBlock(channels, config.slope, config.dropout),
                nn.ConvTranspose2d(channels, channels, 4, stride=2),
                PlainBlock(channels, config.slope, config.dropout),
                nn.ConvTranspose2d(channels, 1, 4, stride=2),
            ]
        )

    def items(self, images: NDArray[np.uint8]) -> Items:
        """Each of the images, uint8, shape (N, 128, 128), an item."""
        return Items(images[:, np.newaxis], np.arange(len(images))[:, np.newaxis])

    def encode(self, images: Tensor, noise: Generator | None = None) -> Tensor:
        """Logits, shape (N, bits, 15, 15), of images, shape (N, 1, 128, 128)."""
        return self._through(self.encoder, images, noise)

    def decode(self, latents: Tensor, noise: Generator | None = None) -> Tensor:
        """Pixel logits, shape (N, 1, 128, 128), of latents, shape (N, bits, 15, 15)."""
        pixels = self._through(self.decoder, latents, noise)
        # 15 → 31 → 64 → 130: one pixel too many on each side.
        return pixels[:, :, 1 : 1 + IMAGE_SIZE, 1 : 1 + IMAGE_SIZE]

    encode_items, decode_items = encode, decode  # an item is an image

    def _through(self, layers: nn.ModuleList, x: Tensor, noise: Generator | None) -> Tensor:
        for layer in layers[:-1]:
            is_block = isinstance(layer, PlainBlock)
            x = layer(x, noise) if is_block else F.leaky_relu_(layer(x), self.config.slope)
        last: Tensor = layers[-1](x)
        return last


Vae: TypeAlias = LaptopVae | PaperVae


def evaluate(network: Vae, inputs: NDArray[np.uint8]) -> tuple[Tensor, Tensor, Tensor]:
    """Pixel logits, grey levels in [0, 1] and latent logits of items, each of shape (M, ...).

    Decoded from the latents' probabilities: see `loss.elbo`.
    """
    pixels = on_device(network, inputs)
    logits = network.encode_items(pixels)
    return network.decode_items(torch.sigmoid(logits)), pixels, logits


def on_device(network: Vae, pixels: NDArray[np.uint8]) -> Tensor:
    """Copy bytes to the network's device, as grey levels in [0, 1]."""
    # A copy: torch has no tensors of read-only memory, which the training set's images are.
    return torch.tensor(pixels, device=next(network.parameters()).device).float() / 255.0


def build(config: VaeConfig, generator: Generator) -> Vae:
    """Network of a configuration, on the CPU, in evaluation mode, initialised from `generator`."""
    # On the meta device the layers draw nothing from torch's global generator.
    with torch.device("meta"):
        network: Vae = LaptopVae(config) if isinstance(config, LaptopConfig) else PaperVae(config)
    network.to_empty(device="cpu")
    initialise(network, generator)
    if isinstance(network, PaperVae):
        network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    network.eval()
    return network


def initialise(network: Vae, generator: Generator) -> None:
    """Fill all parameters in place, on the CPU, from the given generator.

    The patch network starts with orthogonal weights and no biases; VAE-IW's with torch's own
    rule, uniform in ±1/√fan-in, and batch norm the identity.
    """
    # One thread: the orthogonal weights come out differently with several.
    with torch.no_grad(), one_thread():
        for module in network.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.reset_parameters()
            elif isinstance(module, nn.Linear):
                weight = torch.empty(module.weight.shape)
                nn.init.orthogonal_(weight, gain=math.sqrt(2.0), generator=generator)
                module.weight.copy_(weight)
                module.bias.zero_()
            elif isinstance(module, nn.Conv2d | nn.ConvTranspose2d):
                bound = 1.0 / math.sqrt(module.weight[0].numel())
                for parameter in module.parameters():
                    drawn = torch.empty(parameter.shape)
                    parameter.copy_(drawn.uniform_(-bound, bound, generator=generator))
