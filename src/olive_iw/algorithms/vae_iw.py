"""VAE-IW: screens are collected with features that are given, and a network is trained once.

How it differs from the paper: docs/fidelity.md; from VAE-IW's own code: docs/algorithms.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from olive_iw.agents import Agent, Algorithm, Family, OfflineLearner, Spec
from olive_iw.agents.learning import WHERE_POSSIBLE
from olive_iw.agents.parts import Count, TrainingEpisodes
from olive_iw.agents.spec import NETWORK
from olive_iw.bandits import BANDITS, Bandit
from olive_iw.errors import InputError
from olive_iw.features import FEATURES, Features
from olive_iw.features.base import check_grain
from olive_iw.planners import Planner
from olive_iw.randomness import generator
from olive_iw.settings import PartOf, Range

if TYPE_CHECKING:
    from olive_iw.agents.learner import Learner
    from olive_iw.features.vae import BinaryVae


@dataclass(frozen=True)
class Collecting(TrainingEpisodes):
    """Which screens there are to learn from."""

    screen_limit: Count = 15_000
    """Most screens in the training set. The paper: 15,000."""
    collection_features: Annotated[str | Features, PartOf(FEATURES, (WHERE_POSSIBLE,))] = "auto"
    """Features before any are learned: in VAE-IW's collection and Olive's first episode. auto:
    B-PROST for Atari games (the paper), patches elsewhere."""
    collection_bandit: Annotated[str | Bandit, PartOf(BANDITS)] = "uniform"
    """Bandit before any features are learned. The paper: uniform."""
    collection_width: Annotated[int, Range(1, 2)] = 1
    """Width before any features are learned. The paper: 1."""


def check(spec: Spec) -> None:
    """Raise `InputError` if bits cannot be read so, or the temperature should not change."""
    check_grain(spec.options.get("grain", 1), spec.network.bits)
    hot, cold = spec.training.temperature_max, spec.training.temperature_min
    if not spec.parts.annealed and hot != cold:
        raise InputError(
            f"temperature_max = {hot}: {spec.algorithm} trains at one temperature (here "
            f"{cold}); vae-iw-annealed is the same algorithm with annealing"
        )


def build_learning(
    learner: "Callable[[Spec, BinaryVae, Planner], Learner]", spec: Spec, device: str
) -> Agent:
    """Put an agent together that learns the features it plans with."""
    from olive_iw.features.vae import BinaryVae, new_network

    vae = BinaryVae(new_network(spec.network, generator(spec.seed, NETWORK, 0), device))
    planner = spec.make_planner(vae)
    return Agent(spec, planner, learner(spec, vae, planner))


def build(spec: Spec, device: str) -> Agent:
    """Put an agent together that learns once."""
    return build_learning(lambda spec, vae, _: OfflineLearner(spec, vae), spec, device)


VAE_IW = Family(build, "offline", features=None, learner=Collecting, check=check)
_SOURCE = "Ablation Study"

ALGORITHMS = {
    "vae-iw": Algorithm("VAE-IW", "VAE-IW; Dittadi et al. 2021", VAE_IW, annealed=False),
    "vae-iw-annealed": Algorithm("VAE-IW + annealing", _SOURCE, VAE_IW),
    "vae-iw-max": Algorithm("VAE-IW + annealing + max", _SOURCE, VAE_IW, {"bandit": "max"}),
    "vae-iw-ucb1": Algorithm("VAE-IW + annealing + UCB1", _SOURCE, VAE_IW, {"bandit": "ucb1"}),
    "vae-iw-ttts": Algorithm("VAE-IW + annealing + top-two", _SOURCE, VAE_IW, {"bandit": "ttts"}),
}
