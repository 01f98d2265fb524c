"""What every algorithm and every profile must do, whoever named it."""

import json
import pickle

import pytest

from olive_iw.agents import Algorithm
from olive_iw.algorithms import ALGORITHMS, build_agent, make_spec, read_spec
from olive_iw.features.base import GuidingFeatures
from olive_iw.features.vae import PROFILES
from olive_iw.simulators import make_simulator

pytestmark = pytest.mark.parametrize("name", list(ALGORITHMS))


def test_it_says_what_it_is_and_where_it_comes_from(name: str) -> None:
    algorithm = ALGORITHMS[name]
    assert isinstance(algorithm, Algorithm)
    assert algorithm.title
    assert algorithm.source
    assert [other.title for other in ALGORITHMS.values()].count(algorithm.title) == 1


@pytest.mark.parametrize("profile", list(PROFILES))
def test_its_own_settings_are_possible_and_have_no_variant(name: str, profile: str) -> None:
    spec = make_spec(name, profile)
    assert spec.variant == ""
    assert spec.label == f"{name}-{profile}"
    assert make_spec(name, profile, **spec.settings()) == spec
    assert read_spec(json.loads(json.dumps(spec.to_dict()))) == spec


@pytest.mark.parametrize("profile", list(PROFILES))
def test_it_can_be_sent_to_another_process(name: str, profile: str) -> None:
    spec = make_spec(name, profile)
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_it_is_learned_if_and_only_if_it_has_a_learner(name: str) -> None:
    spec = make_spec(name)
    agent = build_agent(spec, "cpu")
    assert (agent.learner is not None) == spec.learns == (ALGORITHMS[name].learning != "none")
    given = "features" in spec.options.kinds
    assert spec.parts.learns_features == (spec.parts.trains_network and not given)
    assert spec.learns or not spec.parts.trains_network
    features = getattr(agent.planner, "features", None)
    assert isinstance(features, GuidingFeatures) == spec.parts.learns_policy


def test_it_says_how_its_episodes_are_planned(name: str) -> None:
    agent, world = build_agent(make_spec(name), "cpu"), make_simulator("grid:corridor")
    evaluation = agent.planning_of("evaluation", 0, world)
    assert (evaluation.planner is None) == bool(evaluation.why_not) == (agent.learner is not None)
    training = agent.planning_of("training", 0, world, 0, 1_000)
    plans = agent.spec.parts.trains_network
    assert (training.planner is None) == bool(training.why_not) == (not plans)
