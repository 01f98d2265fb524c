"""Features learned by a Binary-Concrete variational autoencoder."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from olive_iw.features.binary_vae.config import (
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
    from olive_iw.features.binary_vae.devices import torch_generator
    from olive_iw.features.binary_vae.encoder import BinaryVae, make_vae
    from olive_iw.features.binary_vae.model import build

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
    "build",
    "make_vae",
    "torch_generator",
]

# What needs torch, which takes seconds to load, is imported when it is first asked for.
_LATER = {
    "BinaryVae": "encoder",
    "build": "model",
    "make_vae": "encoder",
    "torch_generator": "devices",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
