"""Features learned by a Binary-Concrete variational autoencoder."""

from olive_iw.features.binary_vae.devices import choose_device, torch_generator
from olive_iw.features.binary_vae.encoder import PROFILES, BinaryVae, make_vae
from olive_iw.features.binary_vae.model import (
    LaptopConfig,
    LaptopVae,
    PaperConfig,
    PaperVae,
    VaeConfig,
    build,
)
from olive_iw.features.binary_vae.train import (
    LAPTOP_TRAINING,
    PAPER_TRAINING,
    TrainingConfig,
    TrainingReport,
    TrainingStep,
)

__all__ = [
    "LAPTOP_TRAINING",
    "PAPER_TRAINING",
    "PROFILES",
    "BinaryVae",
    "LaptopConfig",
    "LaptopVae",
    "PaperConfig",
    "PaperVae",
    "TrainingConfig",
    "TrainingReport",
    "TrainingStep",
    "VaeConfig",
    "build",
    "choose_device",
    "make_vae",
    "torch_generator",
]
