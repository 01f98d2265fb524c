"""From options to a planner: each planner is given those options that it knows."""

import inspect
from dataclasses import replace
from typing import Any

from olive_iw.agents.options import WHERE_POSSIBLE, Options
from olive_iw.errors import InputError
from olive_iw.features import BProst, Features, FeaturesError, Patches, make_features
from olive_iw.planners import PLANNERS, Planner, Risk
from olive_iw.settings import plain
from olive_iw.simulators.base import Simulator

_PARAMETERS = {
    "features": "features",
    "bandit": "bandit",
    "width": "width",
    "when_exhausted": "when_exhausted",
    "extend_share": "extend_share",
    "discount": "discount",
    "depth_limit": "depth_limit",
    "risk_averse": "risk",
    "search_workers": "workers",
}
"""Options of a search, and what a planner's `__init__` calls them."""


def make_planner(options: Options, features: Features | None) -> Planner:
    """Make the planner that options name, on some features (None: it prunes nothing)."""
    if isinstance(options.planner, Planner):
        return options.planner
    make = PLANNERS[options.planner] if isinstance(options.planner, str) else options.planner
    taken = _taken(options)
    values: dict[str, Any] = {name: getattr(options, name) for name in _PARAMETERS}
    values |= {"features": features, "risk_averse": Risk(averse=options.risk_averse)}
    return make(**{_PARAMETERS[name]: values[name] for name in values if name in taken})


def _taken(options: Options) -> set[str]:
    """Names of the options that the planner knows."""
    if isinstance(options.planner, Planner):
        return set()
    make = PLANNERS[options.planner] if isinstance(options.planner, str) else options.planner
    known = inspect.signature(make).parameters
    return {name for name, parameter in _PARAMETERS.items() if parameter in known}


def check_planner(options: Options, usual: Options) -> None:
    """Raise `InputError` if a part or workers are asked for that the planner cannot have.

    `usual` are the algorithm's own options. Numbers that a planner does not know, such as the
    width of UCT, are left alone: a sweep may give one to all of its algorithms.
    """
    name = plain(options.planner)
    taken = _taken(options)
    for option in ("features", "bandit", "search_workers"):
        if option not in taken and getattr(options, option) != getattr(usual, option):
            value = plain(getattr(options, option))
            if option == "search_workers":
                raise InputError(
                    f"search_workers = {value}: only Rollout-IW and what is built on it can "
                    f"search with several workers; {name} cannot"
                )
            raise InputError(f"{option} = {value}: the planner {name} has no such option")


def collection_planner(simulator: Simulator, options: Options) -> Planner:
    """Rollout-IW that collects screens before any features are learned, with a run's options.

    Its features, bandit and width are options of their own; it stops where nothing is novel.
    """
    search = replace(
        options,
        planner="rollout-iw",
        bandit=options.collection_bandit,
        width=options.collection_width,
        when_exhausted="stop",
        extend_share=0.0,
    )
    return make_planner(search, _collection_features(simulator, options))


def _collection_features(simulator: Simulator, options: Options) -> Features:
    if options.collection_features != WHERE_POSSIBLE:
        return make_features(options.collection_features)
    features = BProst()
    try:
        features.prepare(simulator, simulator.reset())
    except FeaturesError:
        return Patches()
    return features
