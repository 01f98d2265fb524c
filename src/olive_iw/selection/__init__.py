"""Which screens to learn from."""

from olive_iw.registry import Registry
from olive_iw.selection import elbo, entropy, random, reconstruction
from olive_iw.selection.base import Scorer, Selection

SELECTIONS: Registry[Selection] = Registry(
    "selection",
    "olive_iw.selections",
    {
        "random": random.select,
        "elbo": elbo.select,
        "entropy": entropy.select,
        "reconstruction": reconstruction.select,
    },
)

__all__ = ["SELECTIONS", "Scorer", "Selection"]
