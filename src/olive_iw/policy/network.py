"""The network: four grey screens become hidden units, a policy, and perhaps a value."""

import math
from typing import NamedTuple, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn

from olive_iw.features.vae.devices import one_thread
from olive_iw.policy.config import MEMORY, PolicyConfig

BIN = 2.0
"""Distance of the returns that two neighbouring outputs of a value stand for."""


class Said(NamedTuple):
    """What a network says of N inputs."""

    hidden: Tensor
    """Units of the dense layer, not negative, shape (N, hidden)."""
    logits: Tensor
    """Of the policy, shape (N, actions)."""
    value: Tensor
    """Outputs of the value, shape (N, bins); bins may be 0."""


@final
class Trunk(nn.Module):
    """Convolutions and a dense layer, each with a ReLU."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        first, second = config.channels, 2 * config.channels
        shapes = [(MEMORY, first, 8, 4), (first, second, 4, 2), (second, second, 3, 1)]
        layers: list[nn.Module] = []
        side = config.side
        for inputs, outputs, kernel, stride in shapes if config.third else shapes[:2]:
            layers.append(nn.Conv2d(inputs, outputs, kernel, stride))
            layers += [nn.BatchNorm2d(outputs)] if config.batch_norm else []
            layers.append(nn.ReLU())
            side = (side - kernel) // stride + 1
        layers += [nn.Flatten(), nn.Linear(second * side * side, config.hidden)]
        layers += [nn.BatchNorm1d(config.hidden)] if config.batch_norm else []
        self.layers = nn.Sequential(*layers, nn.ReLU())

    def forward(self, frames: Tensor) -> Tensor:
        """Units, shape (N, hidden), of inputs, shape (N, 4, side, side)."""
        units: Tensor = self.layers(frames)
        return units


@final
class PolicyNetwork(nn.Module):
    """A policy over some actions, and a value if the configuration has one."""

    def __init__(self, config: PolicyConfig, actions: int) -> None:
        super().__init__()
        self.config, self.actions = config, actions
        self.trunk = Trunk(config)
        self.policy = nn.Linear(config.hidden, actions)
        self.value_trunk = Trunk(config) if config.own_value_network else None
        self.value = nn.Linear(config.hidden, config.value_bins) if config.value_bins else None

    def forward(self, frames: NDArray[np.uint8]) -> Said:
        """Look at frames, shape (N, 4, side, side), the newest last."""
        device = self.policy.weight.device
        inputs = torch.tensor(frames, device=device).float()
        inputs = inputs / 255.0 if self.config.scaled else inputs
        hidden = self.trunk(inputs)
        value = inputs.new_zeros((len(inputs), 0))
        if self.value is not None:
            units = hidden if self.value_trunk is None else self.value_trunk(inputs)
            value = self.value(units)
        return Said(hidden, self.policy(hidden), value)


def build(config: PolicyConfig, actions: int, generator: Generator) -> PolicyNetwork:
    """Network with weights drawn from `generator`, uniform in ±1/√fan-in, in evaluation mode."""
    # On the meta device the layers draw nothing from torch's global generator.
    with torch.device("meta"):
        network = PolicyNetwork(config, actions)
    network.to_empty(device="cpu")
    with torch.no_grad(), one_thread():
        for module in network.modules():
            if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
                module.reset_parameters()
            elif isinstance(module, nn.Linear | nn.Conv2d):
                bound = 1.0 / math.sqrt(module.weight[0].numel())
                for parameter in module.parameters():
                    parameter.uniform_(-bound, bound, generator=generator)
    return network.eval()


def expected(value: Tensor) -> Tensor:
    """Return that outputs of a value stand for, shape (N,); 0 if there are none."""
    bins = value.shape[1]
    if bins <= 1:
        return value.sum(dim=1)
    returns = BIN * (torch.arange(bins, device=value.device) - bins // 2)
    return value.softmax(dim=1) @ returns.to(value.dtype)


def two_hot(returns: Tensor, bins: int) -> Tensor:
    """Shares of the outputs between which returns, shape (N,), lie: shape (N, bins)."""
    places = (returns / BIN + bins // 2).clamp(0, bins - 1)
    below = places.floor()
    share = places - below
    shares = torch.zeros((len(returns), bins), dtype=places.dtype, device=places.device)
    rows = torch.arange(len(returns), device=places.device)
    shares[rows, below.long()] = 1.0 - share
    shares[rows, (below.long() + 1).clamp(max=bins - 1)] += share
    return shares
