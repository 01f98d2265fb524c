"""Settings: a field of a dataclass says its type, range, default and meaning; all else reads it.

`calls_per_action: Annotated[int, Range(1, 10_000_000)] = 100` is such a field. From it come the
checks of values given in Python, in files and on the command line, and the command line itself.
"""

import ast
import inspect
import itertools
import math
import numbers
import textwrap
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from olive_iw.errors import InputError, shown, unknown_name
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
        raise InputError(f"{name} = {shown(value)} is not possible; it must be {words}")


AT_LEAST_ONE = Range(1, math.inf)


@dataclass(frozen=True, slots=True)
class PartOf:
    """Parts that are possible: names of a registry, some other names, and objects."""

    registry: Registry[Any]
    others: tuple[str, ...] = ()

    def check(self, name: str, value: Any, in_file: bool) -> None:
        """Raise `InputError` unless a value is a part, or names one; a file's must be loaded."""
        if isinstance(value, str):
            if value in self.others:
                return
            if value not in self.registry:
                raise unknown_name(self.registry.kind, value, (*self.registry, *self.others))
            if in_file:
                self.registry.known(value)
        elif value is None or isinstance(value, numbers.Number | Collection):
            raise InputError(f"{name} = {shown(value)} is neither a name nor such a part")


@dataclass(frozen=True, slots=True)
class Kind:
    """What a setting may be."""

    type: Any
    """Type of its values, without annotations; a part's is that of its name."""
    limit: Range | PartOf | None = None
    optional: bool = False
    """Whether it may be none."""


def settings_of(config: Any) -> Mapping[str, Kind]:
    """Names of a dataclass' fields, in order, and what they may be."""
    if config not in _SETTINGS:
        plain, full = get_type_hints(config), get_type_hints(config, include_extras=True)
        names = [field.name for field in fields(config)]
        _SETTINGS[config] = {name: _kind(plain[name], full[name]) for name in names}
    return _SETTINGS[config]


_SETTINGS: dict[Any, Mapping[str, Kind]] = {}


def _kind(plain: Any, full: Any) -> Kind:
    types = get_args(plain) if get_origin(plain) in (Union, UnionType) else (plain,)
    first, *others = [it for it in types if it is not NoneType]
    limit = _limit(full)
    wanted = plain if others and not isinstance(limit, PartOf) else first
    return Kind(wanted, limit, NoneType in types)


def _limit(hint: Any) -> Range | PartOf | None:
    for found in (*getattr(hint, "__metadata__", ()), *map(_limit, get_args(hint))):
        if isinstance(found, Range | PartOf):
            return found
    return None


def meanings(config: Any) -> dict[str, str]:
    """Return what each field of a dataclass means: the text below it, in one line."""
    inherited = meanings(config.__base__) if is_dataclass(config.__base__) else {}
    source = cast(ast.ClassDef, ast.parse(textwrap.dedent(inspect.getsource(config))).body[0])
    return inherited | {
        entry.target.id: " ".join(str(ast.literal_eval(text.value)).split())
        for entry, text in itertools.pairwise(source.body)
        if isinstance(entry, ast.AnnAssign) and isinstance(entry.target, ast.Name)
        if isinstance(text, ast.Expr)
    }


def check(config: Any) -> None:
    """Raise `InputError` unless every field of a dataclass has a value that is possible."""
    for name, kind in settings_of(type(config)).items():
        typed(name, getattr(config, name), kind)


def typed(name: str, value: Any, kind: Kind, in_file: bool = False) -> Any:
    """Return a setting's value in the type it wants; `InputError` if it cannot be.

    1 becomes 1.0; in a file, 1e5 becomes 100000 where a whole number is wanted. Objects of types
    that are not plain are taken as they are. What a file names loads no module.
    """
    if value is None and kind.optional:
        return None
    if isinstance(kind.limit, PartOf):
        kind.limit.check(name, value, in_file)
        return value
    choices = get_args(kind.type) if get_origin(kind.type) is Literal else None
    if choices is not None and value not in choices:
        raise unknown_name(name, value if isinstance(value, str) else shown(value), choices)
    if kind.type not in _PLAIN:
        return value
    fits, words = _PLAIN[kind.type]
    if in_file and kind.type is int and isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, fits) or (isinstance(value, bool) and kind.type is not bool):
        words += " or none" if kind.optional else ""
        raise InputError(f"{name} = {shown(value)} should be {words}")
    if kind.limit is not None:
        kind.limit.check(name, value)
    return kind.type(value)


_PLAIN: dict[Any, tuple[Any, str]] = {
    bool: (bool, "true or false"),
    int: (numbers.Integral, "a whole number"),
    float: (numbers.Real, "a number"),
    str: (str, "a text"),
}
"""What can be turned into each plain type, and the type in words."""


def read(
    config: type[Config],
    table: Any,
    usual: Mapping[str, Any] | None = None,
    ignored: Collection[str] = (),
) -> Config:
    """Make a dataclass of a file's settings; names of parts in it load no module.

    Settings that the file lacks, or that are ignored, are the `usual` ones, or none where that is
    possible; unknown and missing ones are `InputError`s.
    """
    if not isinstance(table, Mapping):
        raise InputError(f"settings should be a table, not {type(table).__name__}")
    known = settings_of(config)
    values = {name: None for name, kind in known.items() if kind.optional} | dict(usual or {})
    for name, value in table.items():
        if name not in known:
            raise unknown_name("setting", str(name), known)
        if name not in ignored:
            values[name] = typed(name, value, known[name], in_file=True)
    for name in known:
        if name not in values:
            raise InputError(f"the setting {name} is missing")
    return config(**values)


def by_name(value: Any) -> Any:
    """Return a setting as files and names of folders have it: a part by its name."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return getattr(value, "__name__", type(value).__name__)


def short(value: Any) -> str:
    """Write a setting as briefly as it can be read back: `0.5`, `1e-06`, `true`, `none`."""
    value = by_name(value)
    return value if isinstance(value, str) else str(value).lower()
