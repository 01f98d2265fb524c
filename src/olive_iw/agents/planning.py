"""From options to a planner: each planner is given those options that it knows."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np

from olive_iw.agents.house_rules import OF_EXPANSION, OF_ROLLOUTS, HouseRules
from olive_iw.agents.options import LEARNED, NONE, WHERE_POSSIBLE, Options
from olive_iw.errors import InputError
from olive_iw.features import BProst, Features, FeaturesError, Patches, make_features
from olive_iw.features.base import BitFeatures
from olive_iw.novelty import Judging
from olive_iw.planners import PLANNERS, Planner, Risk
from olive_iw.planners.dasa import Dominated
from olive_iw.planners.mechanisms import Drawn, HighestZero, Repeats, Tolerance
from olive_iw.rules import (
    Dropout,
    Explore,
    Further,
    Grain,
    Noise,
    Outlook,
    Persistence,
    Recall,
    Safety,
    Ties,
    Twins,
    Usual,
)
from olive_iw.search.rule import Rule
from olive_iw.settings import by_name, short
from olive_iw.simulators.base import Simulator

_SAME = (
    *("bandit", "width", "discount", "depth_limit"),
    *("order", "queues"),
    *("tile_rows", "tile_columns", "tile_values", "high_width", "visit_temperature"),
)
_ARGUMENTS: Mapping[str, str] = {
    **{name: name for name in ("features", *_SAME)},
    **{each.name: "common" for each in fields(HouseRules)},
    "search_workers": "workers",
    "risk_averse": "common",
    "life_replaces": "common",
}
"""Option -> the argument of a planner that it goes into."""
_COMMON = ("discount", "depth_limit")


def make_planner(options: Options, features: Features | None) -> Planner:
    """Make the planner that options name, on some features (None: it prunes nothing)."""
    if isinstance(options.planner, Planner):
        return options.planner
    values: dict[str, Any] = {name: getattr(options, name) for name in _SAME}
    values |= {"features": features, "workers": options.search_workers}
    values["untried"] = 0.0 if options.untried_value == "zero" else -np.inf
    values["value_everywhere"] = options.value_everywhere
    risk = Risk(averse=options.risk_averse, life_replaces=options.life_replaces)
    make, known = _maker(options.planner)
    values |= {"risk": risk, "rules": _rules(options, features), "judging": _judging(options)}
    planner = make(**{name: value for name, value in values.items() if name in known})
    planner.reseed_search = options.reseed_search
    return planner


def _judging(options: Options) -> Judging:
    return Judging(
        options.novelty,
        options.kept_nodes,
        options.root_in_table,
        options.over_in_table,
        options.reward_strata,
    )


def _rules(options: Options, features: Features | None) -> list[Rule]:
    """Rules of the planner; on features that are no bits, without those for bits."""
    ties = options.ties
    bits = isinstance(features, BitFeatures)
    grain, noise = (options.grain, options.noise) if bits else (1, 0.0)
    fit, depth = options.fit, options.wanted_depth
    rules: list[Rule] = [
        Explore(options.explore),
        Outlook(options.outlook),
        Ties("longest" if ties == "longest" else "random"),
        HighestZero(ties == "highest-zero"),
        Twins(options.avoid_twins),
        Safety(options.safe_steps),
        Recall(options.recall),
        Persistence(options.persistence),
        Further(options.look_further),
        Grain(grain, fit, depth),
        Noise(noise, fit, depth),
        Dropout(options.training_mode),
        Usual(options.beyond_usual),
        Repeats(options.max_repeats),
        Tolerance(options.tie_tolerance),
        Drawn(options.action_temperature, options.size_temperature),
        Dominated(options.prune_actions, options.prune_after),
    ]
    return [rule for rule in rules if rule.acts]


def _maker(planner: Any) -> tuple[Callable[..., Planner], set[str]]:
    """Return what makes a planner, and the names of what it can be given."""
    make = PLANNERS[planner] if isinstance(planner, str) else planner
    known = set() if isinstance(make, Planner) else {*inspect.signature(make).parameters}
    return make, known | ({*_COMMON, "risk", "rules", "judging"} if "common" in known else set())


def unknown_options(planner: Any) -> frozenset[str]:
    """Names of options that a planner, or the planner of this name, does not know."""
    if planner == NONE:
        return frozenset(_ARGUMENTS)
    make, known = _maker(planner)
    unknown = frozenset(option for option, argument in _ARGUMENTS.items() if argument not in known)
    if getattr(make, "rolls_out", False):
        return unknown | OF_EXPANSION
    return unknown | OF_ROLLOUTS


def check_planner(options: Options, usual: Options) -> None:
    """Raise `InputError` if an option is asked for that the planner does not know.

    `usual` are the algorithm's own options, which another planner may leave unused.
    """
    unknown = unknown_options(options.planner)
    if options.features == LEARNED and "features" in unknown:
        raise InputError(f"the planner {by_name(options.planner)} takes no features to be learned")
    for option in _ARGUMENTS:
        asked = getattr(options, option)
        if option in unknown and asked != getattr(usual, option):
            said = f"{option} = {short(asked)}: the planner {by_name(options.planner)}"
            raise InputError(f"{said} has no such option")


def collection_planner(simulator: Simulator, options: Options) -> Planner:
    """Rollout-IW that collects screens before any features are learned, with a run's options.

    Its features, bandit and width are options of their own. What it collects does not depend on
    our own options of Rollout-IW.
    """
    search = replace(
        options,
        planner="rollout-iw",
        bandit=options.collection_bandit,
        width=options.collection_width,
        **asdict(HouseRules()),
    )
    if options.collection_features != WHERE_POSSIBLE:
        return make_planner(search, make_features(options.collection_features))
    features = BProst()
    try:
        features.prepare(simulator, simulator.reset())
    except FeaturesError:
        return make_planner(search, Patches())
    return make_planner(search, features)
