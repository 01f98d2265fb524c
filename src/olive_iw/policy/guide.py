"""A policy network as planners see it: atoms, a policy and a value for every node."""

import dataclasses
import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator

from olive_iw.errors import DamagedFileError, InputError
from olive_iw.features.base import Atoms, Features, Guidance
from olive_iw.features.image import small_image
from olive_iw.features.vae.devices import choose_device, one_thread
from olive_iw.policy.config import MEMORY, PolicyConfig
from olive_iw.policy.network import PolicyNetwork, build, expected
from olive_iw.policy.tensors import read_tensors, write_tensors
from olive_iw.settings import read
from olive_iw.simulators.base import Simulator, Step, grey_levels

FORMAT = "olive-iw policy network 1"


@final
class PolicyGuide:
    """Features with a policy: hidden units as atoms, or the atoms of other features.

    An atom is 2 · unit + 1 if the unit is above zero, else 2 · unit. The network is made when the
    first simulator says how many actions there are.
    """

    def __init__(
        self,
        config: PolicyConfig,
        weights: Callable[[], Generator],
        *,
        atoms: Features | None = None,
        guides: bool = True,
        device: str = "cpu",
    ) -> None:
        """Draw the first weights from what `weights` makes; `guides` says whether to use them."""
        self.config = config
        self.guides = guides
        """Whether policy and value are the network's; otherwise uniform, and none."""
        self.network: PolicyNetwork | None = None
        self.size = 2 * config.hidden if atoms is None else atoms.size
        self.atoms_of = atoms
        self._weights, self._device = weights, choose_device(device)
        self._levels: NDArray[np.uint8] = np.arange(256, dtype=np.uint8)
        self._even = 2 * np.arange(config.hidden, dtype=np.int32)
        self.image = lru_cache(1024)(self._image)
        """Grey image of a step, uint8, shape (side, side)."""

    def prepare(self, simulator: Simulator, first: Step) -> None:
        """Read screens with the brightness of a simulator's colours; make the network for it."""
        levels, actions = grey_levels(simulator), simulator.action_count
        if levels is not self._levels:
            self.image.cache_clear()
        self._levels = levels
        if self.atoms_of is not None:
            self.atoms_of.prepare(simulator, first)
        if self.network is None:
            self.network = self.build(actions)
        if self.network.actions != actions:
            known = self.network.actions
            raise InputError(f"this policy is for {known} actions; the simulator has {actions}")

    def build(self, actions: int) -> PolicyNetwork:
        """Make a network with the first weights."""
        return build(self.config, actions, self._weights()).to(self._device)

    def of_step(self, step: Step, previous: Step | None) -> Atoms:
        """Atoms of a step after another one."""
        return self.of_path([step] if previous is None else [previous, step]).atoms

    def of_path(self, steps: Sequence[Step]) -> Guidance:
        """Let the network look at the last of some steps that follow each other."""
        assert self.network is not None, "prepare comes first"
        network, others = self.network, self.atoms_of
        prior, value = np.ones(network.actions, np.float32), 0.0
        atoms = None
        if others is not None:
            atoms = others.of_step(steps[-1], steps[-2] if len(steps) > 1 else None)
        if self.guides or atoms is None:
            images = [self.image(step) for step in steps[-MEMORY:]]
            with torch.inference_mode(), one_thread():
                said = network(np.stack(padded(images))[np.newaxis])
                if atoms is None:
                    atoms = self._even + (said.hidden[0] > 0).cpu().numpy()
                if self.guides:
                    prior = said.logits[0].softmax(dim=0).cpu().numpy()
                    value = float(expected(said.value)[0])
        return Guidance(atoms, prior, value)

    def _image(self, step: Step) -> NDArray[np.uint8]:
        return small_image(step.screen, self._levels, self.config.side, self.config.image)

    def save(self, path: Path) -> None:
        """Write weights and configuration, whole or not at all."""
        assert self.network is not None, "there is nothing to save before an episode"
        about = {
            "format": FORMAT,
            "actions": self.network.actions,
            "guides": self.guides,
            "config": dataclasses.asdict(self.config),
        }
        write_tensors(path, self.network.state_dict(), {"olive-iw": json.dumps(about)})

    def load_weights(self, path: Path) -> None:
        """Take over what `save` wrote; `InputError` if it is of another network."""
        tensors, about = read_tensors(path)
        if about.get("format") != FORMAT:
            raise DamagedFileError(path, f"is not a file of weights ({FORMAT})")
        actions, guides = about.get("actions"), about.get("guides")
        try:
            config = read(PolicyConfig, about.get("config"))
        except InputError as error:
            raise DamagedFileError(path, f"holds no configuration of a network: {error}") from None
        if config != self.config:
            raise InputError(f"{path} holds {config}; expected {self.config}")
        if type(actions) is not int or not 1 <= actions <= 10_000 or type(guides) is not bool:
            raise DamagedFileError(path, "does not say for how many actions it is")
        network = self.build(actions)
        load_into(network, tensors, path)
        self.network, self.guides = network, guides


def load_into(network: PolicyNetwork, tensors: dict[str, torch.Tensor], path: Path) -> None:
    """Give a network the weights of a file, if they are its own."""
    expected_shapes = {name: (it.shape, it.dtype) for name, it in network.state_dict().items()}
    if {name: (it.shape, it.dtype) for name, it in tensors.items()} != expected_shapes:
        raise DamagedFileError(path, "does not hold this architecture's weights")
    if not all(bool(it.isfinite().all()) for it in tensors.values()):
        raise DamagedFileError(path, "holds weights that are no finite numbers")
    network.load_state_dict(tensors)


def padded(images: Sequence[NDArray[np.uint8]]) -> list[NDArray[np.uint8]]:
    """Four images, the first as often as it takes."""
    return [images[0]] * (MEMORY - len(images)) + list(images)
