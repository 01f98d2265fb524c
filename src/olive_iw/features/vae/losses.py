"""Losses of a Binary-Concrete VAE, from logits (paper, appendix on BC-VAEs), in nats.

Each is one float64 per item, summed in the order of the arrays, so that it is the same on every
machine. What is summed is computed before, in a loop of its own: sums in order are no vector code,
exponentials are. All stay finite where logits are saturated.
"""

import numpy as np
from numpy.typing import NDArray

from olive_iw.arithmetic import exp, log
from olive_iw.compiled import njit
from olive_iw.features.vae.network import Bytes, Floats

LN2 = 0.6931471805599453  # written out: a computed logarithm may differ in its last digit
_TOGETHER = 512
"""Factors, each at most 2, whose product is still a float."""


@njit
def reconstruction(pixel_logits: Floats, inputs: Bytes) -> NDArray[np.float64]:
    """Bernoulli reconstruction loss, shape (M,), of grey bytes, all of shape (M, pixels)."""
    losses, pixels = np.zeros(len(inputs)), inputs.shape[1]
    terms, factors = np.empty(pixels), np.empty(pixels)
    for item in range(len(inputs)):
        for pixel in range(pixels):
            # ln(1 + e^x) − x · grey, with ln(1 + e^x) = max(x, 0) + ln(1 + e^−|x|); the logarithms
            # are those of one product.
            x = np.float64(pixel_logits[item, pixel])
            terms[pixel] = max(x, 0.0) - x * (inputs[item, pixel] / 255.0)
            factors[pixel] = 1.0 + exp(-abs(x))
        total, product = 0.0, 1.0
        for pixel in range(pixels):
            total += terms[pixel]
            product *= factors[pixel]
            if pixel % _TOGETHER == _TOGETHER - 1:
                total += log(product)
                product = 1.0
        losses[item] = total + log(product)
    return losses


@njit
def entropy(logits: Floats) -> NDArray[np.float64]:
    """Total entropy, shape (M,), of the latents' Bernoulli distributions, shape (M, latents)."""
    totals, latents = np.zeros(len(logits)), logits.shape[1]
    terms = np.empty(latents)
    for item in range(len(logits)):
        for latent in range(latents):
            # With a = |logit|, H = ln(1 + e^−a) + a · sigmoid(−a): no difference of large numbers.
            size = abs(np.float64(logits[item, latent]))
            tail = exp(-size)
            terms[latent] = log(1.0 + tail) + size * (tail / (1.0 + tail))
        for latent in range(latents):
            totals[item] += terms[latent]
    return totals


def kl(logits: Floats) -> NDArray[np.float64]:
    """KL divergence, shape (M,), from Bernoulli(0.5) of the latents' distributions."""
    of_fair_bits = logits.shape[1] * LN2
    divergence: NDArray[np.float64] = of_fair_bits - entropy(logits)
    return divergence


def loss(pixel_logits: Floats, inputs: Bytes, logits: Floats, beta: float) -> NDArray[np.float64]:
    """Training loss, shape (M,): reconstruction + beta · KL."""
    losses: NDArray[np.float64] = reconstruction(pixel_logits, inputs) + beta * kl(logits)
    return losses


def elbo(pixel_logits: Floats, inputs: Bytes, logits: Floats) -> NDArray[np.float64]:
    """Evidence lower bound, shape (M,): minus the loss with beta = 1.

    To score screens the same way every time, `pixel_logits` should be decoded from the latents'
    probabilities sigmoid(logit), the mean of q. They are what the decoder's relaxed training
    inputs look like, they change smoothly with the logits, and an undecided bit stays undecided;
    rounding to 0 or 1 would let a bit near 0.5 change the score by a jump. The expectation over q
    is thereby replaced by the value at its mean.
    """
    return -loss(pixel_logits, inputs, logits, beta=1.0)
