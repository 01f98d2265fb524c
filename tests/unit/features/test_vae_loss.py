import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch.distributions import Bernoulli, kl_divergence

from olive_iw.features.vae import losses as scores
from olive_iw.features.vae import paper_loss as losses
from olive_iw.features.vae.config import LAPTOP_TRAINING
from olive_iw.features.vae.training import temperature


@pytest.fixture
def draws():
    generator = torch.Generator().manual_seed(0)
    logits = 4 * torch.randn((5, 20, 3, 3), generator=generator, dtype=torch.float64)
    pixels = 3 * torch.randn((5, 1, 8, 8), generator=generator, dtype=torch.float64)
    images = torch.rand((5, 1, 8, 8), generator=generator, dtype=torch.float64)
    return logits, pixels, images


def test_reconstruction_is_minus_bernoulli_log_likelihood(draws):
    _, pixels, images = draws
    grey = Bernoulli(logits=pixels, validate_args=False).log_prob(images)
    torch.testing.assert_close(losses.reconstruction(pixels, images), -grey.sum((1, 2, 3)))


def test_kl_and_entropy_are_those_of_bernoulli(draws):
    logits, _, _ = draws
    latents = Bernoulli(logits=logits)
    fair = Bernoulli(probs=torch.tensor(0.5, dtype=torch.float64))
    torch.testing.assert_close(losses.kl(logits), kl_divergence(latents, fair).sum((1, 2, 3)))
    torch.testing.assert_close(losses.entropy(logits), latents.entropy().sum((1, 2, 3)))


def test_kl_is_zero_for_fair_bits_and_log_two_for_decided_ones():
    assert losses.kl(torch.zeros(1, 20, 2, 2)).item() == pytest.approx(0.0, abs=1e-5)
    assert losses.kl(torch.full((1, 10), 1e4)).item() == pytest.approx(10 * math.log(2))


@pytest.mark.parametrize("size", [0.0, 8.0, 100.0, 1e4])
def test_losses_and_gradients_are_finite_where_logits_saturate(size):
    logits = torch.tensor([[-size, size]], requires_grad=True)
    pixels = torch.tensor([[size, -size]], requires_grad=True)
    images = torch.tensor([[0.25, 1.0]])
    sample = losses.concrete_sample(logits, 0.5, torch.Generator().manual_seed(0))
    total = losses.loss(pixels, images, logits, 1.0).sum() + sample.sum()
    total.backward()
    assert torch.isfinite(total)
    assert torch.isfinite(logits.grad).all()
    assert torch.isfinite(pixels.grad).all()


def test_gradient_of_kl_is_the_derivative():
    logits = torch.linspace(-6, 6, 13, dtype=torch.float64).reshape(1, -1).requires_grad_()
    assert torch.autograd.gradcheck(losses.kl, (logits,))


def test_scores_are_the_training_loss_to_the_last_digits():
    rng = np.random.default_rng(0)
    inputs = rng.integers(256, size=(7, 700), dtype=np.uint8)
    pixels = rng.normal(0, 6, size=(7, 700)).astype(np.float32)
    logits = rng.normal(0, 3, size=(7, 20)).astype(np.float32)
    pixels[0, 0], logits[0, 0] = 1e4, -1e4
    double = [torch.from_numpy(it.astype(np.float64)) for it in (pixels, inputs / 255.0, logits)]
    for beta in (1e-4, 1.0):
        expected = losses.loss(*double, beta).numpy()
        np.testing.assert_allclose(scores.loss(pixels, inputs, logits, beta), expected, rtol=1e-12)
    assert np.array_equal(
        scores.elbo(pixels, inputs, logits), -scores.loss(pixels, inputs, logits, 1.0)
    )
    np.testing.assert_allclose(scores.entropy(logits), losses.entropy(double[2]).numpy())


def test_concrete_sample_has_the_bernoulli_probabilities():
    # Whatever the temperature, a relaxed bit is above 1/2 with probability sigmoid(logit).
    logits = torch.tensor([-2.0, 0.0, 1.0]).expand(20_000, 3)
    for tau in (0.5, 5.0):
        sample = losses.concrete_sample(logits, tau, torch.Generator().manual_seed(0))
        share = (sample > 0.5).float().mean(0)
        torch.testing.assert_close(share, torch.sigmoid(logits[0]), atol=0.015, rtol=0)
        assert sample.min() >= 0
        assert sample.max() <= 1


def test_concrete_sample_sharpens_as_temperature_falls_and_repeats():
    logits = torch.zeros(5000)
    warm, cold = (
        losses.concrete_sample(logits, tau, torch.Generator().manual_seed(3)) for tau in (5.0, 0.1)
    )
    assert (cold - 0.5).abs().mean() > (warm - 0.5).abs().mean() + 0.2
    again = losses.concrete_sample(logits, 5.0, torch.Generator().manual_seed(3))
    assert torch.equal(warm, again)


def test_temperature_goes_exponentially_from_end_to_end():
    config = replace(LAPTOP_TRAINING, temperature_max=5.0, temperature_min=0.5)
    taus = [temperature(config, step, 101) for step in range(101)]
    assert taus[0] == 5.0
    assert taus[-1] == 0.5
    ratios = [later / earlier for earlier, later in pairwise(taus)]
    assert ratios == pytest.approx([0.1 ** (1 / 100)] * 100)
    assert temperature(config, 0, 1) == 5.0
    fixed = replace(config, temperature_max=0.5)
    assert {temperature(fixed, step, 9) for step in range(9)} == {0.5}
