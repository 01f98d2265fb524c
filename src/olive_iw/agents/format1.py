"""Format 1 of configurations and saved agents: the only module that reads what 0.2.0 wrote.

All settings of all algorithms stood in one table, `options`, beside `network` and `training`. Here
they become the tables of this version, and what cannot be planned with any more is found out: an
option that is no more, or that only other algorithms have. A value with which it did nothing is
passed over. Files with any other are still listed, reported and replayed.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from olive_iw.agents.selection import SELECTIONS
from olive_iw.bandits import BANDITS
from olive_iw.errors import InputError, shown, unknown_name
from olive_iw.features.vae import ADDED_TO_NETWORK
from olive_iw.settings import Kind, Range, by_name, settings_of, short, typed

if TYPE_CHECKING:
    from olive_iw.agents.parts import Options
    from olive_iw.agents.spec import Algorithm

LAST_VERSION = "0.2.0"
"""The last one that wrote it."""
OF_0_2: Mapping[str, Any] = {
    "ties": "random",
    "tie_tolerance": 0.0,
    "action_temperature": 0.0,
    "size_temperature": 0.0,
    "avoid_twins": False,
    "safe_steps": 0,
    "persistence": 0.0,
    "look_further": 0.0,
    "explore": False,
    "beyond_usual": False,
    "outlook": False,
    "recall": False,
    "kept_nodes": "judged",
    "novelty": "depth",
    "root_in_table": True,
    "over_in_table": True,
    "untried_value": "none",
    "max_repeats": 0,
    "prune_actions": "none",
    "prune_after": 60,
    "reward_strata": False,
    "grain": 1,
    "noise": 0.0,
    "training_mode": False,
    "fit": "none",
    "wanted_depth": 10.0,
    "value_everywhere": False,
    "planner": "rollout-iw",
    "features": "bprost",
    "bandit": "uniform",
    "selection": "random",
    "calls_per_action": 100,
    "seconds_per_action": None,
    "search_workers": 1,
    "reseed_search": False,
    "width": 1,
    "discount": 0.99,
    "depth_limit": 100,
    "risk_averse": True,
    "tile_rows": 8,
    "tile_columns": 11,
    "tile_values": 8,
    "high_width": "whole",
    "visit_temperature": 0.005,
    "life_replaces": False,
    "order": "depth-reward",
    "queues": "both",
    "frame_skip": 15,
    "action_set": "minimal",
    "action_levels": None,
    "training_actions": 200,
    "max_training_episodes": 30,
    "first_share": 1 / 30,
    "screens_per_episode": 500,
    "screen_limit": 15_000,
    "collection_features": "auto",
    "collection_bandit": "uniform",
    "collection_width": 1,
}
"""Its options in their order, which names of folders keep, with the values that do nothing."""
IN_0_1 = frozenset(
    {
        *("calls_per_action", "search_workers", "width", "discount", "depth_limit", "risk_averse"),
        *("training_actions", "max_training_episodes", "first_share", "screens_per_episode"),
        "screen_limit",
    }
)
"""Options that every file has; others are the algorithm's own where they are not there."""
MECHANISMS = frozenset(
    {
        *("kept_nodes", "novelty", "root_in_table", "over_in_table", "reward_strata"),
        *("untried_value", "max_repeats", "life_replaces", "value_everywhere", "tie_tolerance"),
        *("action_temperature", "size_temperature", "prune_actions"),
    }
)
"""Options that algorithms kept when they were given another planner."""


@dataclass(frozen=True, slots=True)
class RemovedOptions:
    """Options that no algorithm has any more; the defaults are those that did nothing."""

    backup: Literal["mean", "max", "unpruned"] = "mean"
    when_exhausted: Literal["stop", "widen", "extend", "again", "refine", "rarest"] = "stop"
    extend_share: Annotated[float, Range(0, 1)] = 0.0
    pardon: Annotated[float, Range(0, 1)] = 0.0
    training_start: Literal["reset", "last", "least"] = "reset"
    noise_of: Literal["auto", "node", "state", "turns"] = "auto"


BANDITS_OF_A_PAPER = ("ucb1-normal2", "ucb1-uniform")
"""Of Asai and Wissow; examples/08_bandits_of_a_paper.py adds them again."""
REMOVED_VALUES: Mapping[str, Collection[str]] = {
    "fit": ("band", "pardon"),
    "selection": ("diverse",),
    "bandit": BANDITS_OF_A_PAPER,
    "collection_bandit": BANDITS_OF_A_PAPER,
}
"""Values that are no more, of options that there are; a part may have been added by its name."""


class RemovedOptionError(InputError):
    """Somebody wants to plan with an option that is no more."""

    def __init__(self, asked: Mapping[str, Any]) -> None:
        """Say in one line which options these are, and which version has them."""
        super().__init__(
            f"{in_words(asked)}: this version has no such option; olive-iw {LAST_VERSION} can "
            "play it"
        )


def in_words(asked: Mapping[str, Any]) -> str:
    """Options and their values as variants have them: `backup=max,pardon=0.5`."""
    return ",".join(f"{name}={short(value)}" for name, value in asked.items())


def to_tables(
    fields: Mapping[str, Any], parts: "Algorithm", profile: str, replaced: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Turn the tables of a file into those of this version, and say what cannot be planned with.

    Options that are `replaced` are asked for by nobody.
    """
    for name in ("options", "network", "training"):
        if not isinstance(fields.get(name), Mapping):
            raise InputError(f"{name} should be a table")
    given = dict(fields["options"])
    asked = {name: value for name, value in _removed(given, replaced) if name not in replaced}
    for name in (*settings_of(RemovedOptions), *asked):
        given.pop(name, None)
    planner = parts.planner_of(given.get("planner"), replaced) if parts.family.plans else None
    usual = parts.options(profile, planner)
    values = {name: usual.values()[name] for name in asked if name in usual.kinds}
    values |= {name: it for name, it in parts.own.items() if name not in given}
    tables: dict[str, Any] = {table: {} for table, _ in usual.parts}
    for name, (table, _) in usual.kinds.items():
        if table in ("network", "training"):
            continue
        known = name in IN_0_1 or table == "rules"
        value = given.get(name, values.get(name, None if known else getattr(usual, name)))
        if name in given or value is not None:
            tables[table][name] = value if name in given else by_name(value)
    asked |= dict(_of_others(given, usual, parts, profile, replaced))
    for table, config in zip(("network", "training"), parts.profile(profile), strict=False):
        if usual.table(table):
            added = {} if parts.profiles or table == "training" else ADDED_TO_NETWORK
            tables[table] = {**added, **fields[table]}
        else:
            asked |= _differing(fields[table], config)
    return tables, asked


def _of_others(
    given: Mapping[str, Any],
    usual: "Options",
    parts: "Algorithm",
    profile: str,
    replaced: Mapping[str, Any],
) -> Iterator[tuple[str, Any]]:
    """Options that only other algorithms have, as far as they did something."""
    for name, value in given.items():
        if name not in OF_0_2:
            raise unknown_name("setting", str(name), OF_0_2)
        here = name in usual.kinds or name in replaced
        if not here and not _did_nothing(name, value, parts, profile):
            yield name, value


def _did_nothing(name: str, value: Any, parts: "Algorithm", profile: str) -> bool:
    """Whether an option that the algorithm has not was as it is where nobody asks for it."""
    neutral, own = OF_0_2[name], parts.options(profile)
    value = typed(name, value, Kind(type(neutral)), in_file=True)
    if isinstance(value, str) and not re.fullmatch(r"[\w.-]{1,60}", value):
        raise InputError(f"{name} = {shown(value)} is not possible")
    if name in ("planner", "features") and name not in own.kinds:
        return bool(value == ("vae" if parts.learns_features else "none"))
    return value == neutral or (name not in MECHANISMS and value == own.get(name, neutral))


def _differing(table: Mapping[str, Any], usual: Any) -> dict[str, Any]:
    """Return settings of a network that the algorithm has not, but for the profile's own."""
    known = settings_of(type(usual))
    for name in table:
        if name not in known:
            raise unknown_name("setting", str(name), known)
    values = {name: typed(name, it, known[name], in_file=True) for name, it in table.items()}
    return {name: value for name, value in values.items() if value != getattr(usual, name)}


def _removed(options: Mapping[str, Any], replaced: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Options, and values of options, that are no more and did something in the file."""
    kinds, neutral = settings_of(RemovedOptions), RemovedOptions()
    given = _before_noise_of(options) | {name: options[name] for name in kinds if name in options}
    for name, given_value in given.items():
        value = typed(name, given_value, kinds[name], in_file=True)
        same = _as_noise_is(options, replaced) if name == "noise_of" else {getattr(neutral, name)}
        if value not in same:
            yield name, value
    added = {*SELECTIONS, *BANDITS}
    for name, values in REMOVED_VALUES.items():
        value = options.get(name)
        if isinstance(value, str) and value in values and value not in added:
            yield name, value


def _before_noise_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Say whose noise it was in files that are older than `noise_of`; they have `pardon`."""
    older = "pardon" in options and options.get("fit") == "noise"
    return {"noise_of": "node"} if older else {}


def _as_noise_is(options: Mapping[str, Any], replaced: Collection[str]) -> set[str]:
    """Values of `noise_of` that mean what this version does: by turns where noise is fitted."""
    if "fit" in replaced:  # whatever takes its place
        return {"auto", "node", "turns"}
    return {"auto", "turns" if options.get("fit") == "noise" else "node"}
