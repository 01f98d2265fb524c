"""Settings: a field of a dataclass says its type, range, default and meaning; all else reads it.

`calls_per_action: Annotated[int, Range(1, 10_000_000)] = 100` is such a field. From it come the
checks of values given in Python, in files and on the command line, and the command line itself.
"""

import ast
import inspect
import itertools
import numbers
import textwrap
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from olive_iw.errors import InputError, unknown_name
from olive_iw.registry import Registry

Config = TypeVar("Config")


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers that are possible: finite ones from `least` to `most`."""

    least: float
    most: float
    above: bool = False
    """Whether `least` itself is too little."""
    below: bool = False
    """Whether `most` itself is too much."""

    def check(self, name: str, value: float) -> None:
        """Raise `InputError` unless a value is possible."""
        enough = value > self.least if self.above else value >= self.least
        if not enough:  # nor is a number that is none (NaN)
            words = f"more than {self.least:,}" if self.above else f"at least {self.least:,}"
        elif value > self.most or (self.below and value == self.most):
            words = f"less than {self.most:,}" if self.below else f"at most {self.most:,}"
        else:
            return
        raise InputError(f"{name} = {value} is not possible; it must be {words}")


@dataclass(frozen=True, slots=True)
class PartOf:
    """Parts that are possible: names of a registry, some other names, and objects."""

    registry: Registry[Any]
    others: tuple[str, ...] = ()

    def check(self, name: str, value: Any) -> None:
        """Raise `InputError` unless a value is a part, or names one."""
        if isinstance(value, str):
            if value not in self.others and value not in self.registry:
                raise unknown_name(self.registry.kind, value, (*self.registry, *self.others))
        elif value is None or isinstance(value, numbers.Number | Collection):
            raise InputError(f"{name} = {value!r} is neither a name nor such a part")

    def check_known(self, value: Any) -> None:
        """Raise `InputError` if a file names a part that is not loaded, see `Registry.known`."""
        if isinstance(value, str) and value not in self.others:
            self.registry.known(value)


@dataclass(frozen=True, slots=True)
class Kind:
    """What a setting may be."""

    types: tuple[Any, ...]
    """Types of its values, without annotations; None's among them if it may be none."""
    limit: Range | PartOf | None = None

    @property
    def optional(self) -> bool:
        """Whether it may be none."""
        return NoneType in self.types

    @property
    def part(self) -> PartOf | None:
        """The parts that are possible, if it is one."""
        return self.limit if isinstance(self.limit, PartOf) else None


def settings_of(config: Any) -> Mapping[str, Kind]:
    """Names of a dataclass' fields, in order, and what they may be."""
    if config not in _SETTINGS:
        plain, full = get_type_hints(config), get_type_hints(config, include_extras=True)
        _SETTINGS[config] = {
            field.name: Kind(_types(plain[field.name]), _limit(full[field.name]))
            for field in fields(config)
        }
    return _SETTINGS[config]


_SETTINGS: dict[Any, Mapping[str, Kind]] = {}


def _types(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _limit(hint: Any) -> Range | PartOf | None:
    for found in (*getattr(hint, "__metadata__", ()), *map(_limit, get_args(hint))):
        if isinstance(found, Range | PartOf):
            return found
    return None


def meanings(config: Any) -> dict[str, str]:
    """Return what each field of a dataclass means: the text below it, in one line."""
    source = cast(ast.ClassDef, ast.parse(textwrap.dedent(inspect.getsource(config))).body[0])
    return {
        entry.target.id: " ".join(str(ast.literal_eval(text.value)).split())
        for entry, text in itertools.pairwise(source.body)
        if isinstance(entry, ast.AnnAssign) and isinstance(entry.target, ast.Name)
        if isinstance(text, ast.Expr)
    }


def check(config: Any) -> None:
    """Raise `InputError` unless every field of a dataclass has a value that is possible."""
    for name, kind in settings_of(type(config)).items():
        typed(name, getattr(config, name), kind)


def typed(name: str, value: Any, kind: Kind) -> Any:
    """Return a setting's value in the type it wants (1 becomes 1.0); `InputError` if it cannot be.

    Objects of types that are not plain are taken as they are.
    """
    wanted = None if kind.part is not None else _fitting(name, value, kind.types)
    if kind.limit is not None and (value is not None or not kind.optional):
        kind.limit.check(name, value)
    return value if wanted is None else wanted(value)


def _fitting(name: str, value: Any, types: tuple[Any, ...]) -> Any:
    """Return which of some plain types a value is to be turned into; None: leave it."""
    if get_origin(types[0]) is Literal:
        if value not in get_args(types[0]):
            raise unknown_name(name, str(value), get_args(types[0]))
        return None
    if any(wanted not in _PLAIN for wanted in types):
        return None
    for wanted in types:
        fits, _ = _PLAIN[wanted]
        if isinstance(value, fits) and (wanted is bool or not isinstance(value, bool)):
            return None if wanted is NoneType else wanted
    words = " or ".join(_PLAIN[wanted][1] for wanted in types)
    raise InputError(f"{name} = {value!r} should be {words}")


_PLAIN: dict[Any, tuple[type, str]] = {
    bool: (bool, "true or false"),
    int: (numbers.Integral, "a whole number"),
    float: (numbers.Real, "a number"),
    str: (str, "a text"),
    NoneType: (NoneType, "none"),
}
"""What can be turned into each plain type, and the type in words."""


def read(
    config: type[Config],
    given: Any,
    usual: Mapping[str, Any] | None = None,
    ignored: Collection[str] = (),
) -> Config:
    """Make a dataclass of a file's settings; names of parts in it load no module.

    Settings that the file lacks, or that are ignored, are the `usual` ones, or none where that is
    possible; unknown and missing ones are `InputError`s.
    """
    if not isinstance(given, Mapping):
        raise InputError(f"settings should be a table, not {type(given).__name__}")
    known, values = settings_of(config), dict(usual or {})
    if unknown := [name for name in given if name not in known]:
        raise unknown_name("setting", str(unknown[0]), known)
    for name, kind in known.items():
        if name in given and name not in ignored:
            if kind.part is not None:
                kind.part.check_known(given[name])
            values[name] = typed(name, given[name], kind)
        elif name not in values:
            if not kind.optional:
                raise InputError(f"the setting {name} is missing")
            values[name] = None
    return config(**values)


def plain(value: Any) -> Any:
    """Return a setting as files and names of folders have it: a part by its name."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return getattr(value, "__name__", type(value).__name__)


def short(value: Any) -> str:
    """Write a setting as briefly as it can be read back: `0.5`, `1e-06`, `true`, `none`."""
    value = plain(value)
    return value if isinstance(value, str) else str(value).lower()
