"""Which screens of an episode are the best to learn from (the sixth stage of the flow)."""

from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from olive_iw.errors import InputError
from olive_iw.registry import Registry

Images: TypeAlias = NDArray[np.uint8]
Scores: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]


@runtime_checkable
class Scorer(Protocol):
    """An encoder that can say how well it knows images, uint8, shape (N, 128, 128).

    Each score is one float64 per image, shape (N,), in nats.
    """

    def elbo(self, images: Images) -> Scores:
        """Evidence lower bound of each image."""

    def reconstruction_error(self, images: Images) -> Scores:
        """Reconstruction loss of each image."""

    def latent_entropy(self, images: Images) -> Scores:
        """Total entropy of each image's latents."""


class Selection(Protocol):
    """A rule that picks screens: a function of its arguments alone."""

    def __call__(self, images: Images, encoder: Scorer, k: int, generator: Generator) -> Indices:
        """Distinct indices of the picked images, int64, shape (min(k, N),).

        The most wanted comes first; which of equally wanted ones comes first (or is picked at
        all) is drawn from `generator`.
        """


def at_random(images: Images, encoder: Scorer, k: int, generator: Generator) -> Indices:
    """Passive learning: k images, uniformly without replacement, in the order drawn."""
    return _first(k, generator.permutation(len(images)))


def lowest_elbo(images: Images, encoder: Scorer, k: int, generator: Generator) -> Indices:
    """Active learning as in the paper: the k images that the network finds least likely."""
    return _highest(-encoder.elbo(images), k, generator)


def highest_entropy(images: Images, encoder: Scorer, k: int, generator: Generator) -> Indices:
    """Active learning by the encoder's doubt: the k images whose bits are least decided."""
    return _highest(encoder.latent_entropy(images), k, generator)


def worst_reconstruction(images: Images, encoder: Scorer, k: int, generator: Generator) -> Indices:
    """Active learning by the decoder's error: the k images that are worst reconstructed."""
    return _highest(encoder.reconstruction_error(images), k, generator)


SELECTIONS: Registry[Selection] = Registry(
    "selection",
    "olive_iw.selections",
    {
        "random": at_random,
        "elbo": lowest_elbo,
        "entropy": highest_entropy,
        "reconstruction": worst_reconstruction,
    },
)


def make_selection(selection: str | Selection) -> Selection:
    """Return the rule of that name, or the rule itself."""
    return SELECTIONS[selection] if isinstance(selection, str) else selection


def _highest(scores: Scores, k: int, generator: Generator) -> Indices:
    """Return the indices of the k highest scores, highest first, ties in random order."""
    # The last key sorts first; scores that are no number come last.
    return _first(k, np.lexsort((generator.permutation(len(scores)), -scores)))


def _first(k: int, order: Indices) -> Indices:
    if k < 0:
        raise InputError(f"the number of screens to select is {k}; it should not be negative")
    return order[:k].astype(np.int64)
