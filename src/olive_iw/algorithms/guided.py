"""Planners that a policy guides, which is learned while they play: π-IW, N-CPL, π-IW+ and π-HIW.

How each differs from its source is numbered in docs/algorithms.md.
"""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from olive_iw.agents import Agent, Algorithm, Family, Spec
from olive_iw.agents.parts import TrainingEpisodes
from olive_iw.agents.spec import NETWORK
from olive_iw.algorithms.mechanisms import (
    KeptNodes,
    Novelty,
    OverInTable,
    RootInTable,
    ValueEverywhere,
)
from olive_iw.errors import InputError, needing
from olive_iw.features import FEATURES, Features, make_features
from olive_iw.planners import Planner
from olive_iw.planners.mechanisms import Drawn, Tolerance
from olive_iw.planners.rollout_iw import GuidedOptions
from olive_iw.policy import N_CPL, PI_IW, PI_IW_PLUS, DecisionTraining
from olive_iw.randomness import generator
from olive_iw.settings import PartOf

POLICY = "policy"
"""Features of algorithms with a policy: their network's hidden units."""


@dataclass(frozen=True)
class GuidedFeatures:
    """Features of a planner that a policy guides."""

    features: Annotated[str | Features, PartOf(FEATURES, (POLICY,))] = POLICY
    """What novelty is judged on: policy, the hidden units of the policy network, or features that
    are given (see `olive-iw list features`)."""


def check(spec: Spec) -> None:
    """Raise `InputError` if the network cannot be trained so."""
    if spec.network.batch_norm and spec.training.batch < 2:
        raise InputError("batch = 1 is not possible with batch_norm; it must be at least 2")


def build(spec: Spec, device: str) -> Agent:
    """Put an agent together."""
    with needing("torch", f"{spec.algorithm}, which learns a policy,"):
        from olive_iw.agents.guided import PolicyLearner
        from olive_iw.features.vae.devices import torch_generator
        from olive_iw.policy import PolicyGuide
        from olive_iw.policy.schedule import ScheduledTrainer
        from olive_iw.policy.trainer import DecisionTrainer

    training, named = spec.training, spec.options.features

    def make() -> tuple[PolicyGuide, Planner]:
        guide = PolicyGuide(
            spec.network,
            lambda: torch_generator(generator(spec.seed, NETWORK, 0)),
            atoms=None if named == POLICY else make_features(named),
            guides=isinstance(training, DecisionTraining) and not training.uniform_start,
            device=device,
        )
        return guide, spec.make_planner(guide)

    guide, planner = make()
    trains = ScheduledTrainer if spec.parts.learning == "scheduled" else DecisionTrainer
    trainer = trains(training, guide, planner)
    return Agent(spec, planner, PolicyLearner(spec, trainer, lambda: make()[1]))


_family = partial(
    Family,
    build,
    features=GuidedFeatures,
    search=GuidedOptions,
    learner=TrainingEpisodes,
    check=check,
)
GUIDED = _family("policy")
_JUNYENT = "Junyent et al."
_OWN: dict[str, Any] = {"bandit": "policy", "risk_averse": False}
_PLUS = _OWN | {
    "over_in_table": False,
    "value_everywhere": True,
    "action_temperature": 0.01,
    "size_temperature": 1.0,
}
_OF_PLUS = (OverInTable, ValueEverywhere, Drawn)

ALGORITHMS = {
    "pi-iw": Algorithm(
        "π-IW",
        f"{_JUNYENT} 2019",
        GUIDED,
        {**_OWN, "root_in_table": False, "kept_nodes": "known"},
        (KeptNodes, RootInTable),
        profiles=PI_IW,
    ),
    "n-cpl": Algorithm(
        "N-CPL",
        "O'Toole et al. 2021",
        _family("scheduled"),
        {
            **_OWN,
            "features": "pixels",
            "novelty": "classic",
            "kept_nodes": "free",
            "discount": 1.0,
            "tie_tolerance": 1e-7,
        },
        (Novelty, KeptNodes, Tolerance),
        profiles=N_CPL,
    ),
    "pi-iw-plus": Algorithm(
        "π-IW+",
        f"{_JUNYENT} 2021",
        GUIDED,
        {**_PLUS, "kept_nodes": "first"},
        (KeptNodes, *_OF_PLUS),
        profiles=PI_IW_PLUS,
    ),
    "hiw": Algorithm(
        "π-HIW",
        f"{_JUNYENT} 2021",
        _family("policy", search=None),
        {**_PLUS, "planner": "hiw"},
        _OF_PLUS,
        profiles=PI_IW_PLUS,
    ),
}
