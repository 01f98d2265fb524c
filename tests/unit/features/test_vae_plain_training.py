"""The steps of training, against the same steps written out as the formulas have them."""

import dataclasses

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows it by)
from torch import nn

from olive_iw.features.binary_vae import train as training
from olive_iw.features.binary_vae.config import (
    LAPTOP_TRAINING,
    PAPER_TRAINING,
    LaptopConfig,
    PaperConfig,
)
from olive_iw.features.binary_vae.devices import threads_for
from olive_iw.features.binary_vae.model import PlainBlock, build


class PlainTraining:
    """Training as the formulas have it: nothing in place, nothing fused, no memory format.

    In double precision, from the weights and the generator of a training of the package.
    """

    def __init__(self, state):
        self.config, self.network_config = state.config, state.network.config
        self.layers = [(way, list(getattr(state.network, way))) for way in ("encoder", "decoder")]
        self.values = {
            name: parameter.detach().clone(memory_format=torch.contiguous_format)
            for name, parameter in state.network.named_parameters()
        }
        self.first = {name: torch.zeros_like(value) for name, value in self.values.items()}
        self.second = {name: torch.zeros_like(value) for name, value in self.values.items()}
        self.noise = torch.Generator().set_state(state.noise.get_state())
        self.inputs, self.weights = torch.tensor(state.items.inputs), state.weights
        self.items = state.items.index.shape[1]
        self.steps = 0

    def step(self, batch, tau):
        for value in self.values.values():
            value.requires_grad_()
        inputs = (self.inputs[batch].float() / 255).double()
        paper = isinstance(self.network_config, PaperConfig)
        through = self.convolutions if paper else self.perceptron
        logits = through(0, inputs if paper else 4 * (inputs - 0.5))
        if self.config.logit_clamp is not None:
            logits = logits.clamp(-self.config.logit_clamp, self.config.logit_clamp)
        draws = torch.rand(logits.shape, generator=self.noise, dtype=torch.float64)
        latents = torch.sigmoid((logits + draws.log() - (1 - draws).log()) / tau)
        pixels = through(1, latents if paper else 2 * latents - 1)
        pixels = pixels[..., 1:-1, 1:-1] if paper else pixels
        grey = -inputs * F.logsigmoid(pixels) - (1 - inputs) * F.logsigmoid(-pixels)
        on, off = torch.sigmoid(logits), torch.sigmoid(-logits)
        divergence = on * (2 * on).log() + off * (2 * off).log()
        each = grey.flatten(1).sum(1) + self.config.beta * divergence.flatten(1).sum(1)
        loss = (each * self.weights[batch]).mean()
        self.adam(torch.autograd.grad(loss, list(self.values.values())))
        return float(loss.detach()) * self.items

    def perceptron(self, way, x):
        name, layers = self.layers[way]
        for position, layer in enumerate(layers):
            if isinstance(layer, nn.Linear):
                weight, bias = self.of(name, position)
                x = x @ weight.T + bias
            else:
                x = self.leaky(x)
        return x

    def convolutions(self, way, x):
        name, layers = self.layers[way]
        for position, layer in enumerate(layers):
            if isinstance(layer, PlainBlock):
                x = self.drop(self.convolve(name, position, "first", x))
                x = self.drop(self.convolve(name, position, "second", x))
            else:
                convolve = F.conv_transpose2d if way else F.conv2d
                padding = 0 if way or position < 4 else 1
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
        draws = torch.rand((*x.shape[:2], 1, 1), generator=self.noise, dtype=torch.float64)
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


@pytest.mark.parametrize(
    ("config", "how"),
    [
        (LaptopConfig(), dataclasses.replace(LAPTOP_TRAINING, batch=60, balance=0.5)),
        (LaptopConfig(), dataclasses.replace(LAPTOP_TRAINING, gradient_clip=1.0, logit_clamp=0.5)),
        (PaperConfig(channels=8), dataclasses.replace(PAPER_TRAINING, batch=2)),
    ],
)
def test_steps_are_those_of_the_formulas(config, how, monkeypatch):
    # Double precision: what rounding does to small gradients, Adam would make large.
    model = build(config, torch.Generator().manual_seed(0)).double().train()
    images = np.zeros((4, 128, 128), np.uint8)
    images[:, 60:70, 60:90] = np.random.default_rng(0).integers(256, size=(4, 10, 30))
    state = training._Training(model, images, how, np.random.default_rng(0))
    take = training.on_device
    monkeypatch.setattr(training, "on_device", lambda *what: take(*what).double())
    plain = PlainTraining(state)
    batches = state._batches()
    with threads_for(config):
        for tau in (5.0, 2.0, 0.5):
            batch = next(batches)
            loss = float(state._step(batch, tau))
            assert loss == pytest.approx(plain.step(batch, tau), rel=1e-9)
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(parameter.detach(), plain.values[name], rtol=0, atol=1e-8)
