"""Every number of policy networks and of their training, by algorithm and profile.

Without torch, which takes seconds to load.
"""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from olive_iw import settings
from olive_iw.errors import InputError
from olive_iw.features.image import IMAGE_SIZE, ImageKind
from olive_iw.features.vae.config import Amount, Profile
from olive_iw.settings import Range

MEMORY = 4
"""Screens that a network looks at: the newest and the three before it."""


@dataclass(frozen=True, slots=True)
class PolicyConfig:
    """A network that looks at four screens: convolutions, one dense layer, a policy, a value."""

    bits: ClassVar[int] = 1
    """Of a place of its features: they are not read in groups."""
    side: Annotated[int, Range(36, 256)] = 84
    """Rows, and columns, of the grey images that it sees."""
    image: ImageKind = "bilinear"
    """How a screen becomes the grey image: bilinear, or the mean over each pixel's area."""
    scaled: bool = True
    """Whether it sees grey levels from 0 to 1; otherwise from 0 to 255."""
    channels: Annotated[int, Range(1, 4096)] = 16
    """Channels of the first convolution, 8×8 with stride 4; the next has twice as many."""
    third: bool = False
    """Whether there is a third convolution, 3×3, after those of 8×8 and 4×4 (stride 2)."""
    hidden: Annotated[int, Range(1, 4096)] = 256
    """Units of the dense layer."""
    batch_norm: bool = False
    """Whether every layer but the last is normalised before its ReLU."""
    value_bins: Annotated[int, Range(0, 10_001)] = 0
    """Outputs of the value, each for a return 2 apart, 0 in the middle; 1: the return itself; 0: it
    has no value."""
    own_value_network: bool = False
    """Whether the value has a network of its own, of the same shape."""

    def __post_init__(self) -> None:
        settings.check(self)
        if self.value_bins > 1 and self.value_bins % 2 == 0:
            raise InputError(f"value_bins = {self.value_bins} is not possible; it must be odd")
        if self.image == "area" and IMAGE_SIZE % self.side:
            raise InputError(f"side = {self.side} is not possible; of kind area it must divide 128")

    @property
    def weights(self) -> int:
        """How many there are at least: those of the second convolution and of the dense layer."""
        side = (self.side // 4 - 1) // 2 - 1 - 2 * self.third
        return self.channels * (32 * self.channels + 2 * side**2 * self.hidden)


@dataclass(frozen=True, slots=True)
class PolicyTraining:
    """How a policy, and a value, learn from what the planner decided."""

    learning_rate: Annotated[float, Range(0, 100, above=True)] = 0.0005
    """Learning rate of the optimiser: RMSProp (decay 0.99, ε 0.1); in N-CPL, Adam."""
    batch: Amount = 32
    """Decisions per step."""
    replay: Amount = 1_000
    """Decisions that are kept to learn from, the newest."""
    warm_up: Amount = 100
    """Decisions that must be there before the first step."""
    gradient_clip: Annotated[float | None, Range(0, 1e9, above=True)] = 40.0
    """Largest norm of the gradient over all parameters, or None."""
    learning_discount: Annotated[float, Range(0, 1, above=True)] = 0.99
    """Discount of the returns that the value learns."""

    def __post_init__(self) -> None:
        settings.check(self)


@dataclass(frozen=True, slots=True)
class DecisionTraining(PolicyTraining):
    """How π-IW and its kin learn: one step after every decision."""

    uniform_start: bool = False
    """Whether the planner does without policy and value until then."""
    regularisation: Annotated[float, Range(0, 1e9)] = 0.001
    """Weight of half the sum of all squared parameters."""
    target_temperature: Annotated[float, Range(0, 1e9)] = 0.0
    """Temperature of the softmax of the actions' values that the policy learns; 0: equal shares of
    the greatest."""


@dataclass(frozen=True, slots=True)
class ScheduledTraining(PolicyTraining):
    """How N-CPL learns: the value all the time, the policy at updates, which may be taken back."""

    every: Amount = 32
    """Actions between two lessons of the value."""
    steps_each: Amount = 2
    """Steps of such a lesson."""
    target_every: Amount = 10_000
    """Actions after which the network that says the value of what comes next is renewed."""
    update_every: Amount = 10_000
    """Actions after which, at the end of an episode, policy and value are updated."""
    update_epochs: Amount = 8
    """Passes over all decisions since the last update, by which the policy learns."""
    least_scores: Amount = 2
    """Episodes since an update, and before it, without which scores are not compared."""
    significance: Annotated[float, Range(0, 1)] = 0.1
    """An update is taken back if scores are lower since, with less chance of an error than this."""
    terminal_reward: bool = True
    """Whether the last reward of a game counts in what the value learns; the authors' code loses
    it."""


_FIVE_MINUTES = {"training_actions": 1_200}
_PI_IW = PolicyConfig(scaled=False)
_SMALL = PolicyConfig(side=64, image="area")
_PLUS = DecisionTraining(
    learning_rate=0.0007,
    replay=10_000,
    warm_up=32,
    uniform_start=True,
    gradient_clip=50.0,
    target_temperature=0.01,
)
_NATURE = PolicyConfig(channels=32, third=True, hidden=512, value_bins=1, own_value_network=True)
_N_CPL = ScheduledTraining(
    learning_rate=0.00025,
    batch=128,
    replay=20_480,
    warm_up=257,
    gradient_clip=1.0,
)

PI_IW = {
    "laptop": Profile(replace(_SMALL, scaled=False), DecisionTraining()),
    "paper": Profile(_PI_IW, DecisionTraining(), _FIVE_MINUTES),
}
PI_IW_PLUS = {
    "laptop": Profile(replace(_SMALL, batch_norm=True, value_bins=301), _PLUS),
    "paper": Profile(replace(_PI_IW, batch_norm=True, value_bins=301), _PLUS, _FIVE_MINUTES),
}
N_CPL = {
    "laptop": Profile(
        replace(_NATURE, side=64, image="area", channels=16, third=False, hidden=128),
        replace(
            _N_CPL,
            batch=32,
            warm_up=64,
            steps_each=8,
            target_every=200,
            update_every=200,
            update_epochs=32,
            least_scores=3,
        ),
    ),
    "paper": Profile(_NATURE, _N_CPL, _FIVE_MINUTES),
}
