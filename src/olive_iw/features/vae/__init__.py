"""Features learned by a Binary-Concrete variational autoencoder."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from olive_iw.features.vae.config import (
    ADDED_TO_NETWORK,
    LAPTOP_TRAINING,
    PAPER_TRAINING,
    PROFILES,
    LaptopConfig,
    PaperConfig,
    Profile,
    TrainingConfig,
    TrainingDivergedError,
    TrainingReport,
    TrainingStep,
    VaeConfig,
)

if TYPE_CHECKING:
    from olive_iw.features.vae.encoder import BinaryVae, make_vae, new_network

__all__ = [
    "ADDED_TO_NETWORK",
    "LAPTOP_TRAINING",
    "PAPER_TRAINING",
    "PROFILES",
    "BinaryVae",
    "LaptopConfig",
    "PaperConfig",
    "Profile",
    "TrainingConfig",
    "TrainingDivergedError",
    "TrainingReport",
    "TrainingStep",
    "VaeConfig",
    "make_vae",
    "new_network",
]

# What is compiled, which takes a while to load, is imported when it is first asked for.
_LATER = dict.fromkeys(("BinaryVae", "make_vae", "new_network"), "encoder")


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
