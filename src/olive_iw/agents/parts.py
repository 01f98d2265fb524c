"""The settings of an agent, part by part: every part is a dataclass that says what it can be told.

A setting's name means one thing, so settings can be given by their names alone. In files each part
has a table of its own.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Annotated, Any, TypeAlias

from olive_iw import settings
from olive_iw.errors import InputError, unknown_name
from olive_iw.features import FEATURES, Features
from olive_iw.features import Values as NumberFeatures
from olive_iw.planners import PLANNERS, Planner
from olive_iw.search.rule import Rule
from olive_iw.settings import Kind, PartOf, Range
from olive_iw.simulators.atari import FRAME_SKIP, ActionSet

AS_MANY_AS_FIT = 100_000
"""Calls per action of those who only limit the seconds."""
NONE = "none"
"""Features of planners that prune nothing."""
Count: TypeAlias = Annotated[int, Range(1, 10_000_000)]
Tables: TypeAlias = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Decisions:
    """What a decision may spend."""

    calls_per_action: Count = 100
    """Most simulator calls of a decision. The paper: 100."""
    seconds_per_action: Annotated[float | None, Range(0, 86_400, above=True)] = None
    """Seconds after which a decision makes no more calls; without calls_per_action as many calls
    as fit. How many do depends on the machine, so such a run cannot be repeated exactly; its
    episodes can be verified."""

    def __post_init__(self) -> None:
        settings.check(self)


@dataclass(frozen=True)
class Chosen:
    """Which planner searches."""

    planner: Annotated[str | Planner | Callable[..., Planner], PartOf(PLANNERS)] = "rollout-iw"
    """What searches (see `olive-iw list planners`)."""


@dataclass(frozen=True)
class Given:
    """Features that are not learned."""

    features: Annotated[str | Features, PartOf(FEATURES, (NONE,))] = "bprost"
    """What novelty is judged on (see `olive-iw list features`); none: nothing is pruned."""


@dataclass(frozen=True)
class Simulation:
    """How games are simulated."""

    frame_skip: Annotated[int, Range(1, 1000)] = FRAME_SKIP
    """Frames that an Atari game holds an action for in one call. The paper: 15; before 2018: 5."""
    action_set: ActionSet = "minimal"
    """Actions of an Atari game: the minimal set of those that do something (the paper), or all 18
    (full), as before 2019."""
    action_levels: Annotated[int | None, Range(2, 256)] = None
    """Levels of every dimension of actions that are numbers of a range (a Gymnasium Box), evenly
    between its bounds; 256 actions in all at most."""

    def __post_init__(self) -> None:
        settings.check(self)


@dataclass(frozen=True)
class TrainingEpisodes:
    """Episodes that an agent learns from."""

    training_actions: Count = 200
    """Most actions of a training episode. The paper: 200."""

    def __post_init__(self) -> None:
        settings.check(self)


@dataclass(frozen=True)
class Options:
    """All settings of an agent; `options.width` is one of them, and each is there by its name.

    Two parts of one table may have a setting in common, which then has one value.
    """

    parts: tuple[tuple[str, Any], ...]
    """Each part, and the table that it stands in."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            for _, part in self.parts:
                if name in settings.settings_of(type(part)):
                    return getattr(part, name)
        raise AttributeError(f"these options have no {name}")

    def get(self, name: str, usual: Any = None) -> Any:
        """Return a setting, or something else where it is none of these."""
        return getattr(self, name) if name in self.kinds else usual

    def table(self, name: str) -> list[Any]:
        """All parts of a table."""
        return [part for table, part in self.parts if table == name]

    @property
    def kinds(self) -> Mapping[str, tuple[str, Kind]]:
        """Names of all settings, each with its table and what it may be."""
        return _kinds(tuple((table, type(part)) for table, part in self.parts))

    def values(self) -> dict[str, Any]:
        """All settings, as they are."""
        return {name: getattr(self, name) for name in self.kinds}

    def changed(self, **given: Any) -> "Options":
        """Return the same with some settings changed; `InputError` where a value cannot be."""
        typed = {name: settings.typed(name, it, self.kinds[name][1]) for name, it in given.items()}

        def renewed(part: Any) -> Any:
            own = {name: typed[name] for name in settings.settings_of(type(part)) if name in typed}
            return replace(part, **own) if own else part

        return Options(tuple((table, renewed(part)) for table, part in self.parts))

    def read(self, tables: Mapping[str, Any], replaced: Collection[str] = ()) -> "Options":
        """Return what the tables of a file say; `InputError` where they say anything else.

        Names of parts in them load no module. Settings that are `replaced` are not read. A rule
        that a file does not name was not there when it was written: it is idle.
        """
        given: dict[str, Any] = {}
        for table, values in tables.items():
            if not isinstance(values, Mapping):
                raise InputError(f"{table} should be a table, not {type(values).__name__}")
            known = {name: kind for name, (place, kind) in self.kinds.items() if place == table}
            if not known:
                raise unknown_name("table", table, dict(self.parts))
            for name, value in values.items():
                if name not in replaced:
                    if name not in known:
                        raise unknown_name(f"setting of {table}", str(name), known)
                    given[name] = settings.typed(name, value, known[name], in_file=True)
        for name, (table, kind) in self.kinds.items():
            if name not in given and name not in replaced and table != "rules":
                if not kind.optional:
                    raise InputError(f"the setting {name} is missing")
                given[name] = None
        idle = [(table, it.idle() if isinstance(it, Rule) else it) for table, it in self.parts]
        return Options(tuple(idle)).changed(**given)

    def to_tables(self) -> Tables:
        """Return what files have: tables of settings, parts by name, None left out."""
        tables: Tables = {table: {} for table, _ in self.parts}
        for name, (table, _) in self.kinds.items():
            if (value := settings.by_name(getattr(self, name))) is not None:
                tables[table][name] = value
        return tables

    def of_environments(self) -> dict[str, Any]:
        """Options of `GymnasiumSimulator`: who plans on numbers needs no pictures."""
        levels = {} if self.action_levels is None else {"action_levels": self.action_levels}
        features = self.get("features")
        numbers = features == "values" or isinstance(features, NumberFeatures)
        return levels | ({"screen": "none"} if numbers else {})


@lru_cache(256)
def _kinds(parts: tuple[tuple[str, type], ...]) -> Mapping[str, tuple[str, Kind]]:
    found: dict[str, tuple[str, Kind]] = {}
    for table, part in parts:
        for name, kind in settings.settings_of(part).items():
            if found.setdefault(name, (table, kind))[0] != table:
                raise TypeError(f"{name} is a setting of two tables, {found[name][0]} and {table}")
    return found


def valued(part: type, values: Mapping[str, Any]) -> Any:
    """Make a part, of those values that it has and its own."""
    own = {field.name: values[field.name] for field in fields(part) if field.name in values}
    return part(**own)
