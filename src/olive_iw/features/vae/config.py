"""Every number of the two networks and of their training, the profiles, and what a training tells.

Without the networks themselves, which take a while to load.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple, TypeAlias

from olive_iw import settings
from olive_iw.errors import InputError
from olive_iw.features.image import ImageKind
from olive_iw.features.patches import PER_SIDE
from olive_iw.registry import Registry
from olive_iw.settings import Range


@dataclass(frozen=True, slots=True)
class LaptopConfig:
    """The patch network: each 8×8 patch on its own through a small perceptron, on a laptop."""

    profile: ClassVar[str] = "laptop"
    side: ClassVar[int] = PER_SIDE
    """Rows, and columns, of latents: 16 patches of 8 pixels."""
    bits: Annotated[int, Range(1, 1024)] = 20
    """Latents per patch; VAE-IW's number per position."""
    hidden: Annotated[int, Range(1, 4096)] = 64
    """Width of the two hidden layers, each way: as wide as a patch has pixels."""
    slope: Annotated[float, Range(0, 1)] = 0.01
    """Slope of the leaky ReLU below zero."""
    image: ImageKind = "area"
    """How a screen becomes the grey image: the mean over each pixel's area, or bilinear."""

    def __post_init__(self) -> None:
        settings.check(self)

    @property
    def weights(self) -> int:
        """How many there are at least, said before any memory is taken for them."""
        return 2 * self.hidden * (self.hidden + self.bits)


@dataclass(frozen=True, slots=True)
class PaperConfig:
    """The network of VAE-IW: convolutions over the whole image, which want a GPU."""

    profile: ClassVar[str] = "paper"
    side: ClassVar[int] = 15
    """Rows, and columns, of latents: 128 → 63 → 30 → 15."""
    bits: Annotated[int, Range(1, 1024)] = 20
    """Channels of the latent grid."""
    channels: Annotated[int, Range(1, 4096)] = 64
    """Channels of every hidden convolution."""
    slope: Annotated[float, Range(0, 1)] = 0.01
    """Slope of the leaky ReLU below zero."""
    dropout: Annotated[float, Range(0, 1, below=True)] = 0.2
    """Probability that a channel is left out after a block's convolution, in training."""
    image: ImageKind = "bilinear"
    """How a screen becomes the grey image: bilinear as in VAE-IW's code, or the mean over each
    pixel's area."""

    def __post_init__(self) -> None:
        settings.check(self)

    @property
    def weights(self) -> int:
        """How many there are at least: those of the blocks, and of the convolutions beside them."""
        return self.channels * (104 * self.channels + 18 * self.bits)


VaeConfig: TypeAlias = LaptopConfig | PaperConfig

ADDED_TO_NETWORK = {"image": "area"}
"""Settings of a network that files of version 0.1.0 lack, and what they were then."""

Amount: TypeAlias = Annotated[int, Range(1, 100_000_000)]


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """How to train. Exactly one of `epochs` and `steps` is given."""

    learning_rate: Annotated[float, Range(0, 100, above=True)]
    """Learning rate of the optimiser, Adam."""
    warm_start: bool
    """Go on from the weights there are; otherwise draw new ones first."""
    epochs: Amount | None = None
    """Passes over all items; the last batch of a pass holds what is left of them."""
    steps: Amount | None = None
    """Number of batches, all full: the last items of a pass share one with the next pass."""
    batch: Amount = 64
    """Items per step: images (paper) or distinct patches (laptop)."""
    balance: Annotated[float, Range(-10, 10)] = 1.0
    """Weight of an item that occurs c times: c ** balance. 1: as the images have it; 0: a rare
    patch (the ball) counts as much as the background. Images occur once, so it is all the same
    to the paper network."""
    gradient_clip: Annotated[float | None, Range(0, 1e9, above=True)] = None
    """Largest norm of the gradient over all parameters, or None."""
    logit_clamp: Annotated[float | None, Range(0, 1e9, above=True)] = None
    """Latent logits are kept within ± this in training (not in planning), or None."""
    held_out_share: Annotated[float, Range(0, 1, below=True)] = 0.05
    """Share of the images never trained on, for the held-out loss; rounded down."""
    beta: Annotated[float, Range(0, 1e9)] = 1e-4
    """Weight of the KL divergence."""
    temperature_max: Annotated[float, Range(0, 1000, above=True)] = 5.0
    """Temperature at the first step."""
    temperature_min: Annotated[float, Range(0, 1000, above=True)] = 0.5
    """Temperature at the last step; equal to `temperature_max` for no annealing."""
    patience: Amount | None = None
    """Stop after so many measurements without a better held-out loss, and return to the best
    weights; None trains to the end, as the temperature's schedule supposes."""
    history_every: Amount = 50
    """Steps between two entries of the report's history (and measurements of held-out loss)."""

    def __post_init__(self) -> None:
        settings.check(self)
        if (self.epochs is None) == (self.steps is None):
            raise InputError("training needs either epochs or steps, and not both")
        if self.temperature_min > self.temperature_max:
            raise InputError(
                f"temperature_min = {self.temperature_min} is not possible; it must be at most "
                f"temperature_max = {self.temperature_max}"
            )


LAPTOP_TRAINING = TrainingConfig(
    steps=600, batch=512, learning_rate=3e-3, balance=0.0, warm_start=True
)
PAPER_TRAINING = TrainingConfig(
    epochs=100, learning_rate=1e-4, warm_start=False, gradient_clip=1.0, logit_clamp=8.0
)


class Profile(NamedTuple):
    """How heavy the network and its training are, and how its bits are read.

    network, training: a `VaeConfig` and a `TrainingConfig`; with a policy, the policy's own two
    """

    network: Any
    training: Any
    reading: Mapping[str, Any] = {}
    """Options of planners on these features, where an algorithm has none of its own."""


PROFILES: Registry[Profile] = Registry(
    "profile",
    "olive_iw.profiles",
    {
        "laptop": Profile(LaptopConfig(), LAPTOP_TRAINING, {"fit": "noise"}),
        "paper": Profile(PaperConfig(), PAPER_TRAINING),
    },
)


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """One step, as told to a progress callback."""

    step: int
    """Steps done, from 1 on."""
    steps: int
    """Steps there will be, unless training stops early."""
    loss: float
    """Mean training loss of the batch, times the items of an image."""
    temperature: float


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """State of training after some step."""

    step: int
    loss: float
    """Mean of the steps' losses since the entry before."""
    held_out_loss: float | None
    """Mean loss per held-out image in evaluation mode; None where none is held out."""
    temperature: float


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """What a training did."""

    history: tuple[HistoryEntry, ...]
    """The last entry is of the last step."""
    steps: int
    images: int
    """Images trained on, without the held-out ones."""
    seconds: float
    images_per_second: float
    """Images per second: a pass over all items is a pass over all images."""

    @property
    def loss(self) -> float:
        """Training loss at the end: per image where `balance` is 1, else as weighted by it."""
        return self.history[-1].loss

    @property
    def held_out_loss(self) -> float | None:
        """Held-out loss at the end, or None."""
        return self.history[-1].held_out_loss


class TrainingDivergedError(InputError):
    """A training's loss is no longer a number, or so large that nothing is learned."""

    def __init__(self, loss: float, step: int, learning_rate: float) -> None:
        super().__init__(
            f"the training diverged: the loss is {loss:.3g} at step {step}; "
            f"a smaller learning_rate than {learning_rate:g} may help"
        )
