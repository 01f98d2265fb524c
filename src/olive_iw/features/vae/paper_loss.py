"""The training loss of a Binary-Concrete VAE in torch (paper, appendix on BC-VAEs).

All sum over everything but the first dimension and return one value per image (or item), in nats.
They stay finite, with finite gradients, where logits are saturated.
"""

import math

import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows it by)
from torch import Generator, Tensor


def concrete_sample(logits: Tensor, temperature: float, generator: Generator) -> Tensor:
    """Draw relaxed bits sigmoid((logit + Logistic(0, 1)) / temperature), in [0, 1]."""
    draws = torch.rand(logits.shape, generator=generator, device=logits.device, dtype=logits.dtype)
    # The logit of a uniform draw is logistic; eps keeps draws of exactly 0 finite.
    return torch.sigmoid((logits + torch.logit(draws, eps=1e-7)) / temperature)


def reconstruction(pixel_logits: Tensor, images: Tensor) -> Tensor:
    """Bernoulli reconstruction loss, shape (N,); `images` hold grey levels in [0, 1]."""
    losses = F.binary_cross_entropy_with_logits(pixel_logits, images, reduction="none")
    return losses.flatten(1).sum(1)


def entropy(logits: Tensor) -> Tensor:
    """Total entropy of the latents' Bernoulli distributions, shape (N,)."""
    # With a = |logit|, H = log(1 + e^-a) + a·sigmoid(-a): no difference of large numbers.
    size = logits.abs()
    return (F.softplus(-size) + size * torch.sigmoid(-size)).flatten(1).sum(1)


def kl(logits: Tensor) -> Tensor:
    """KL divergence from Bernoulli(0.5) of the latents' distributions, shape (N,)."""
    latents = logits[0].numel()
    return latents * math.log(2.0) - entropy(logits)


def loss(pixel_logits: Tensor, images: Tensor, logits: Tensor, beta: float) -> Tensor:
    """Training loss, shape (N,): reconstruction + beta · KL."""
    return reconstruction(pixel_logits, images) + beta * kl(logits)
