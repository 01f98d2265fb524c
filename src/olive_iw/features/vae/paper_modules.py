"""The paper's network in torch: the convolutions of VAE-IW.

It maps a grey image, float in [0, 1], shape (N, 1, 128, 128), to the logits of Bernoulli latents,
shape (N, bits, 15, 15), and latents back to pixel logits, shape (N, 1, 128, 128). The atom of a
latent is (row · side + column) · bits + bit.
"""

import math
from typing import final

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows it by)
from numpy.typing import NDArray
from torch import Generator, Tensor, nn

from olive_iw.features.image import IMAGE_SIZE
from olive_iw.features.vae.config import PaperConfig


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

    def encode(self, images: Tensor, noise: Generator | None = None) -> Tensor:
        """Logits, shape (N, bits, 15, 15), of images, shape (N, 1, 128, 128)."""
        return self._through(self.encoder, images, noise)

    def decode(self, latents: Tensor, noise: Generator | None = None) -> Tensor:
        """Pixel logits, shape (N, 1, 128, 128), of latents, shape (N, bits, 15, 15)."""
        pixels = self._through(self.decoder, latents, noise)
        # 15 → 31 → 64 → 130: one pixel too many on each side.
        return pixels[:, :, 1 : 1 + IMAGE_SIZE, 1 : 1 + IMAGE_SIZE]

    def _through(self, layers: nn.ModuleList, x: Tensor, noise: Generator | None) -> Tensor:
        for layer in layers[:-1]:
            is_block = isinstance(layer, PlainBlock)
            x = layer(x, noise) if is_block else F.leaky_relu_(layer(x), self.config.slope)
        last: Tensor = layers[-1](x)
        return last


def on_device(network: PaperVae, images: NDArray[np.uint8]) -> Tensor:
    """Copy images to the network's device: grey levels in [0, 1], shape (N, 1, 128, 128)."""
    # A copy: torch has no tensors of read-only memory, which the training set's images are.
    pixels = torch.tensor(images, device=next(network.parameters()).device).float() / 255.0
    return pixels.reshape(-1, 1, IMAGE_SIZE, IMAGE_SIZE)


def build(config: PaperConfig) -> PaperVae:
    """Network of a configuration, on the CPU, in evaluation mode; its weights are not set yet."""
    # On the meta device the layers draw nothing from torch's global generator.
    with torch.device("meta"):
        network = PaperVae(config)
    network.to_empty(device="cpu")
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return network.eval()


def initialise(network: PaperVae, generator: Generator) -> None:
    """Fill all parameters in place, on the CPU, from the given generator.

    By torch's own rule: uniform in ±1/√fan-in, and batch norm the identity.
    """
    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.reset_parameters()
            elif isinstance(module, nn.Conv2d | nn.ConvTranspose2d):
                bound = 1.0 / math.sqrt(module.weight[0].numel())
                for parameter in module.parameters():
                    drawn = torch.empty(parameter.shape)
                    parameter.copy_(drawn.uniform_(-bound, bound, generator=generator))
