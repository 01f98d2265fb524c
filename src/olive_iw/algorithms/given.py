"""Algorithms that learn nothing: an agent is a planner on features that are given."""

from typing import Any

from olive_iw.agents import Agent, Algorithm, Family, Spec
from olive_iw.agents.parts import NONE
from olive_iw.features import make_features


def build(spec: Spec, device: str) -> Agent:
    """Put an agent together."""
    features = spec.options.get("features", NONE)
    return Agent(spec, spec.make_planner(None if features == NONE else make_features(features)))


GIVEN = Family(build)


def given(title: str, source: str, mechanisms: tuple[type, ...] = (), **own: Any) -> Algorithm:
    """Describe such an algorithm by what it has of its own."""
    return Algorithm(title, source, GIVEN, own, mechanisms)


LIPOVETZKY = "Lipovetzky et al. 2015"
BANDRES = "Bandres et al. 2018"
