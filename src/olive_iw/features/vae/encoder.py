"""The learned features: a Binary-Concrete VAE as planners, agents and selection rules see it."""

from collections.abc import Callable
from pathlib import Path
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.arithmetic import sigmoid
from olive_iw.compiled import njit
from olive_iw.errors import InputError
from olive_iw.features.base import Atoms, check_screen
from olive_iw.features.cache import AtomCache, screen_key
from olive_iw.features.image import grey_image
from olive_iw.features.vae import losses
from olive_iw.features.vae.config import (
    PROFILES,
    TrainingConfig,
    TrainingReport,
    TrainingStep,
    VaeConfig,
)
from olive_iw.features.vae.files import load_network, make_network, read_weights, save_network
from olive_iw.features.vae.network import Floats, Network, check_images
from olive_iw.features.vae.training import train
from olive_iw.randomness import generator
from olive_iw.simulators.base import Screen, Simulator, Step, grey_levels

CACHE_BYTES = 64 * 2**20
"""Memory for atoms of screens met before: some tens of thousands of screens."""


@final
class BinaryVae:
    """Features that a VAE has learned; the newest weights count from the moment they change.

    An atom is (row · side + column) · bits + bit, for every true bit.
    A screen's atoms are computed in evaluation mode and kept in an exact cache, which is emptied
    when the weights change.
    """

    def __init__(self, network: Network, *, cache_bytes: int = CACHE_BYTES) -> None:
        self.config: VaeConfig = network.config
        """Configuration of the network; its `profile` names it."""
        self.bits_per_place = self.config.bits
        """Bits of each place; places lie row by row."""
        self.size = self.config.side**2 * self.bits_per_place
        """Number of atoms, which is that of the latents: 5,120 (laptop) or 4,500 (paper)."""
        self.network = network
        self._cache = AtomCache(cache_bytes)
        self._levels: NDArray[np.uint8] = np.arange(256, dtype=np.uint8)
        self.weights_changed()

    @property
    def cache_hits(self) -> int:
        """Screens whose atoms were known."""
        return self._cache.hits

    def weights_changed(self) -> None:
        """Read the network's weights anew; to be called after changing them other than here."""
        # A copy of the weights, laid out for one image at a time; what it said before is void.
        self._planning = self.network.planning()
        self._cache.clear()

    def prepare(self, simulator: Simulator, first: Step) -> None:
        """Read screens with the brightness of a simulator's colours."""
        check_screen(first.screen, simulator)
        levels = grey_levels(simulator)
        # A simulator fills in its own array before it shows a new colour, so atoms of screens
        # already met stay right as long as the array is the same or says the same.
        if levels is not self._levels and not np.array_equal(levels, self._levels):
            self._cache.clear()
        self._levels = levels

    def of_step(self, step: Step, previous: Step | None) -> Atoms:
        """Atoms of a step's screen."""
        return self.atoms(step.screen)

    def atoms(self, screen: Screen, previous: Screen | None = None) -> Atoms:
        """Atoms of a screen of any size; read-only. The one before it does not matter."""
        key = screen_key(screen)
        known = self._cache.get(key)
        if known is not None:
            return known
        image = grey_image(screen, self._levels, self.config.image)
        return self._cache.put(key, self._planning.atoms(image))

    def noisy_atoms(self, screen: Screen, generator: np.random.Generator) -> Atoms:
        """Atoms of a screen with the network in training mode: others every time."""
        image = grey_image(screen, self._levels, self.config.image)
        return self.network.noisy_atoms(image, generator)

    def encode(self, images: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Bits, shape (N, latents), of grey images, shape (N, 128, 128)."""
        check_images(images)
        # Image by image, as in planning: so a bit is the same here, whatever is beside it.
        bits = np.zeros((len(images), self.size), np.bool_)
        for row, image in zip(bits, images, strict=True):
            row[self._planning.atoms(image)] = True
        return bits

    def elbo(self, images: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Evidence lower bound of each image in nats, shape (N,); beta = 1, no dropout, no noise.

        Decoded from probabilities: see `losses.elbo`.
        """
        return self._score(images, losses.elbo)

    def reconstruction_error(self, images: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Reconstruction loss of each image in nats, shape (N,), decoded from probabilities."""
        return self._score(images, lambda pixels, inputs, _: losses.reconstruction(pixels, inputs))

    def latent_entropy(self, images: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Total entropy of each image's latents in nats, shape (N,)."""
        return self._score(images, lambda _, __, logits: losses.entropy(logits))

    def reconstruct(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Images decoded from their latents' probabilities: in [0, 1], shape (N, 128, 128)."""
        check_images(images)
        items = self.network.items(images)
        pixel_logits, _ = self.network.evaluate(items.inputs)
        decoded: Floats = items.images(probabilities(pixel_logits))
        return decoded

    def train(
        self,
        images: NDArray[np.uint8],
        config: TrainingConfig,
        generator: np.random.Generator,
        *,
        on_step: Callable[[TrainingStep], None] | None = None,
    ) -> TrainingReport:
        """Train on images, shape (N, 128, 128), and plan with the new weights from now on."""
        try:
            return train(self.network, images, config, generator, on_step=on_step)
        finally:  # after an error or Ctrl-C too: the weights that there are now count
            self.weights_changed()

    def save(self, path: Path) -> None:
        """Write weights and configuration, whole or not at all."""
        save_network(self.network, path)

    @classmethod
    def load(cls, path: Path, *, device: str = "cpu", cache_bytes: int = CACHE_BYTES) -> Self:
        """Read what `save` wrote; `InputError` if the file is anything else."""
        return cls(load_network(path, device), cache_bytes=cache_bytes)

    def load_weights(self, path: Path) -> None:
        """Take over the weights that `save` wrote; `InputError` if they are of another network."""
        config, weights = read_weights(path)
        if config != self.config:
            raise InputError(f"{path} holds {config}; expected {self.config}")
        self.network.set_weights(weights)
        self.weights_changed()

    def _score(
        self, images: NDArray[np.uint8], score: Callable[..., NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Sum over each image of a score of (pixel logits, inputs, logits), one per item."""
        check_images(images)
        items = self.network.items(images)
        pixel_logits, logits = self.network.evaluate(items.inputs)
        return _sums(score(pixel_logits, items.inputs, logits), items.index)


@njit
def _sums(values: NDArray[np.float64], index: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum of the values that each row of an index names, in its order."""
    sums = np.zeros(len(index))
    for row in range(index.shape[0]):
        for column in range(index.shape[1]):
            sums[row] += values[index[row, column]]
    return sums


@njit
def probabilities(logits: Floats) -> Floats:
    """Sigmoid of each of some logits, shape (M, …)."""
    result = np.empty_like(logits)
    for row in range(logits.shape[0]):
        for column in range(logits.shape[1]):
            result[row, column] = sigmoid(np.float64(logits[row, column]))
    return result


def make_vae(
    profile: str, seed: int, *, device: str = "cpu", cache_bytes: int = CACHE_BYTES
) -> BinaryVae:
    """Untrained features of a profile, with weights drawn from the seed."""
    config, *_ = PROFILES[profile]
    return BinaryVae(new_network(config, generator(seed), device), cache_bytes=cache_bytes)


def new_network(config: VaeConfig, random: np.random.Generator, device: str = "cpu") -> Network:
    """Network of a configuration, with weights drawn from a generator."""
    network = make_network(config, device)
    network.initialise(random)
    return network
