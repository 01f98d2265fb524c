"""Features learned by a Binary-Concrete variational autoencoder."""

from olive_iw.features.binary_vae.config import (
    ADDED_TO_NETWORK,
    LAPTOP_TRAINING,
    PAPER_TRAINING,
    PROFILES,
    LaptopConfig,
    PaperConfig,
    TrainingConfig,
    VaeConfig,
)
from olive_iw.features.binary_vae.devices import choose_device, torch_generator
from olive_iw.features.binary_vae.encoder import BinaryVae, make_vae
from olive_iw.features.binary_vae.model import LaptopVae, PaperVae, build
from olive_iw.features.binary_vae.train import (
    TrainingDivergedError,
    TrainingReport,
    TrainingStep,
)

__all__ = [
    "ADDED_TO_NETWORK",
    "LAPTOP_TRAINING",
    "PAPER_TRAINING",
    "PROFILES",
    "BinaryVae",
    "LaptopConfig",
    "LaptopVae",
    "PaperConfig",
    "PaperVae",
    "TrainingConfig",
    "TrainingDivergedError",
    "TrainingReport",
    "TrainingStep",
    "VaeConfig",
    "build",
    "choose_device",
    "make_vae",
    "torch_generator",
]
