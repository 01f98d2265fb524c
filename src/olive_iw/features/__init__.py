"""Features: which atoms are true in a state.

To add some, write a class with the methods of `Features` and name it in `FEATURES`.
"""

from collections.abc import Callable

from olive_iw.errors import InputError
from olive_iw.features.base import Atoms, CachedFeatures, Features, FeaturesError
from olive_iw.features.bprost import BProst
from olive_iw.features.check import check_features
from olive_iw.features.patches import Patches
from olive_iw.features.pixels import Pixels
from olive_iw.features.ram import Ram
from olive_iw.features.values import Values
from olive_iw.registry import Registry


def bprost_authors() -> Features:
    """B-PROST with the pixels that the authors' code reads, at row · column: for comparison."""
    return BProst(authors_lookup=True)


FEATURES: Registry[Callable[[], Features]] = Registry(
    "features",
    "olive_iw.features",
    {
        "bprost": BProst,
        "bprost-authors": bprost_authors,
        "ram": Ram,
        "patches": Patches,
        "pixels": Pixels,
        "values": Values,
    },
)


def make_features(features: str | Features) -> Features:
    """Return new features of that name, or the features themselves."""
    if isinstance(features, str):
        return FEATURES[features]()
    if not isinstance(features, Features):
        name = type(features).__name__
        raise InputError(f"{name} is no features: it lacks size, prepare or of_step")
    return features


__all__ = [
    "FEATURES",
    "Atoms",
    "BProst",
    "CachedFeatures",
    "Features",
    "FeaturesError",
    "Patches",
    "Pixels",
    "Ram",
    "Values",
    "check_features",
    "make_features",
]
