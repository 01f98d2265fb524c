"""The steps of training, against the same steps written out as the formulas have them, in torch."""

import dataclasses

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows it by)

from olive_iw.features.vae import new_network, paper
from olive_iw.features.vae.config import (
    LAPTOP_TRAINING,
    PAPER_TRAINING,
    LaptopConfig,
    PaperConfig,
)
from olive_iw.features.vae.laptop import _Training


class PlainTraining:
    """Training as the formulas have it: nothing in place, nothing fused, no memory format.

    In double precision, from the weights of a network of the package.
    """

    def __init__(self, network, config, draws):
        """`draws` gives uniform noise of a shape."""
        self.config, self.network_config, self.draws = config, network.config, draws
        self.values = {name: torch.tensor(it).double() for name, it in network.weights().items()}
        self.values = {
            name: it for name, it in self.values.items() if it.ndim and "run" not in name
        }
        self.first = {name: torch.zeros_like(value) for name, value in self.values.items()}
        self.second = {name: torch.zeros_like(value) for name, value in self.values.items()}
        self.gradients = None
        self.steps = 0

    def step(self, items, weights, tau):
        for value in self.values.values():
            value.requires_grad_()
        is_paper = isinstance(self.network_config, PaperConfig)
        inputs = (torch.tensor(items).float() / 255).double()
        inputs = inputs.reshape(-1, 1, 128, 128) if is_paper else inputs
        through = self.convolutions if is_paper else self.perceptron
        logits = through("encoder", inputs if is_paper else 4 * (inputs - 0.5))
        if self.config.logit_clamp is not None:
            logits = logits.clamp(-self.config.logit_clamp, self.config.logit_clamp)
        draws = self.draws(logits.shape)
        latents = torch.sigmoid((logits + draws.log() - (1 - draws).log()) / tau)
        pixels = through("decoder", latents if is_paper else 2 * latents - 1)
        pixels = pixels[..., 1:-1, 1:-1] if is_paper else pixels
        grey = -inputs * F.logsigmoid(pixels) - (1 - inputs) * F.logsigmoid(-pixels)
        on, off = torch.sigmoid(logits), torch.sigmoid(-logits)
        divergence = on * (2 * on).log() + off * (2 * off).log()
        each = grey.flatten(1).sum(1) + self.config.beta * divergence.flatten(1).sum(1)
        loss = (each * torch.tensor(weights).double()).mean()
        self.gradients = torch.autograd.grad(loss, list(self.values.values()))
        self.adam(self.gradients)
        return float(loss.detach())

    def perceptron(self, name, x):
        for position in (0, 2, 4):
            weight, bias = self.of(name, position)
            x = x @ weight.T + bias
            x = x if position == 4 else self.leaky(x)
        return x

    def convolutions(self, name, x):
        up = name == "decoder"
        for position in range(5):
            if position in (1, 3):
                x = self.drop(self.convolve(name, position, "first", x))
                x = self.drop(self.convolve(name, position, "second", x))
            else:
                convolve = F.conv_transpose2d if up else F.conv2d
                padding = 0 if up or position < 4 else 1
                x = convolve(x, *self.of(name, position), stride=2, padding=padding)
            x = x if position == 4 else self.leaky(x)
        return x

    def convolve(self, name, position, which, x):
        scale, shift = self.of(name, position, f".{which}_norm")
        over = {"dim": (0, 2, 3), "keepdim": True}
        spread = torch.sqrt(x.var(correction=0, **over) + 1e-5)
        x = scale.view(-1, 1, 1) * (x - x.mean(**over)) / spread + shift.view(-1, 1, 1)
        return F.conv2d(self.leaky(x), *self.of(name, position, f".{which}"), padding=1)

    def drop(self, x):
        rate = self.network_config.dropout
        draws = self.draws((*x.shape[:2], 1, 1))
        return x * (draws >= rate) / (1 - rate)

    def leaky(self, x):
        return torch.where(x > 0, x, self.network_config.slope * x)

    def of(self, name, position, part=""):
        return [self.values[f"{name}.{position}{part}.{kind}"] for kind in ("weight", "bias")]

    def adam(self, gradients):
        self.steps += 1
        if self.config.gradient_clip is not None:
            norm = torch.cat([gradient.flatten() for gradient in gradients]).norm()
            gradients = [g * min(1.0, self.config.gradient_clip / norm) for g in gradients]
        for (name, value), gradient in zip(self.values.items(), gradients, strict=True):
            self.first[name] = 0.9 * self.first[name] + 0.1 * gradient
            self.second[name] = 0.999 * self.second[name] + 0.001 * gradient**2
            mean = self.first[name] / (1 - 0.9**self.steps)
            square = self.second[name] / (1 - 0.999**self.steps)
            change = self.config.learning_rate * mean / (square.sqrt() + 1e-8)
            self.values[name] = value.detach() - change


def some_images():
    images = np.zeros((4, 128, 128), np.uint8)
    images[:, 60:70, 60:90] = np.random.default_rng(0).integers(256, size=(4, 10, 30))
    return images


def test_steps_of_the_paper_network_are_those_of_the_formulas(monkeypatch):
    # Double precision: what rounding does to small gradients, Adam would make large.
    config = dataclasses.replace(PAPER_TRAINING, batch=2)
    network = new_network(PaperConfig(channels=8), np.random.default_rng(0))
    network.module.double()
    take = paper.on_device
    monkeypatch.setattr(paper, "on_device", lambda *what: take(*what).double())
    noise = torch.Generator().manual_seed(int(np.random.default_rng(0).integers(2**63)))
    plain = PlainTraining(
        network, config, lambda shape: torch.rand(shape, generator=noise, dtype=torch.float64)
    )
    images, weights = some_images().reshape(4, -1), np.array([0.5, 1.5], np.float32)
    with network.training(config, np.random.default_rng(0)) as step:
        for tau in (5.0, 2.0, 0.5):
            loss = step(images[:2], weights, tau)
            assert loss == pytest.approx(plain.step(images[:2], weights, tau), rel=1e-9)
    for name, parameter in network.module.named_parameters():
        torch.testing.assert_close(parameter.detach(), plain.values[name], rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"beta": 1.0},
        {"logit_clamp": 0.5},
        {"gradient_clip": 1.0},
    ],
)
def test_losses_and_gradients_of_the_laptop_network_are_torchs(changes):
    config = dataclasses.replace(LAPTOP_TRAINING, **changes)
    network = new_network(LaptopConfig(), np.random.default_rng(0))
    items = network.items(some_images()).inputs
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.5, 2.0, len(items)).astype(np.float32)
    draws = rng.random((len(items), 20))
    plain = PlainTraining(network, config, lambda shape: torch.from_numpy(draws))
    training = _Training(network, config, rng)
    for tau in (5.0, 0.5):
        loss = training.backward(items, weights, tau, draws)
        assert loss == pytest.approx(plain.step(items, weights, tau), rel=1e-5)
        found = {}
        for number, layer in enumerate(training.by_layer):
            name = f"{'encoder' if number < 3 else 'decoder'}.{2 * (number % 3)}"
            found |= {f"{name}.weight": layer.weight.T.copy(), f"{name}.bias": layer.bias[0].copy()}
        largest = max(float(gradient.abs().max()) for gradient in plain.gradients)
        assert found.keys() == plain.values.keys()
        for name, gradient in zip(plain.values, plain.gradients, strict=True):
            np.testing.assert_allclose(found[name], gradient, rtol=1e-5, atol=1e-5 * largest)
        training.update()
        for name, value in network.weights().items():
            np.testing.assert_allclose(value, plain.values[name].detach(), rtol=0, atol=2e-3)
        network.set_weights({name: it.detach().numpy() for name, it in plain.values.items()})


def test_clipped_gradients_and_adam_are_torchs():
    """From equal gradients, so that what rounding does to small ones is not made large."""
    network = new_network(LaptopConfig(), np.random.default_rng(0))
    config = dataclasses.replace(LAPTOP_TRAINING, gradient_clip=1.0)
    parameter = torch.nn.Parameter(torch.from_numpy(network.parameters.copy()))
    optimiser = torch.optim.Adam([parameter], lr=config.learning_rate)
    training = _Training(network, config, np.random.default_rng(1))
    rng = np.random.default_rng(2)
    for size in (3.0, 0.001, 1.0):
        training.gradient[:] = size * rng.standard_normal(len(network.parameters))
        parameter.grad = torch.from_numpy(training.gradient.copy())
        torch.nn.utils.clip_grad_norm_([parameter], 1.0)
        training.update()
        optimiser.step()
        np.testing.assert_allclose(network.parameters, parameter.detach(), rtol=0, atol=1e-6)
