"""Settings: a field of a dataclass says its type, range, default and meaning; all else reads it.

`calls_per_action: Annotated[int, Range(1, 10_000_000)] = 100` is such a field. From it come the
checks of values given in Python, in files and on the command line.
"""

import ast
import inspect
import itertools
import numbers
import textwrap
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from olive_iw.errors import InputError, unknown_name
from olive_iw.registry import Registry


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
    """What a field's type says: the plain types that are possible, and limits."""

    types: tuple[Any, ...]
    limits: tuple[Range | PartOf, ...] = ()

    @property
    def optional(self) -> bool:
        """Whether none is possible."""
        return NoneType in self.types

    @property
    def part(self) -> PartOf | None:
        """The parts that are possible, if it is one."""
        return next((limit for limit in self.limits if isinstance(limit, PartOf)), None)


def _kind(hint: Any) -> Kind:
    if get_origin(hint) is Annotated:
        inner, *limits = get_args(hint)
        kind = _kind(inner)
        own = tuple(limit for limit in limits if isinstance(limit, Range | PartOf))
        return Kind(kind.types, kind.limits + own)
    if get_origin(hint) in (Union, UnionType):
        kinds = [_kind(inner) for inner in get_args(hint)]
        return Kind(
            tuple(plain for kind in kinds for plain in kind.types),
            tuple(limit for kind in kinds for limit in kind.limits),
        )
    return Kind((hint,))


def settings_of(config: Any) -> Mapping[str, Kind]:
    """Names of a dataclass' fields, in order, and what they may be."""
    if config not in _SETTINGS:
        hints = get_type_hints(config, include_extras=True)
        _SETTINGS[config] = {field.name: _kind(hints[field.name]) for field in fields(config)}
    return _SETTINGS[config]


_SETTINGS: dict[Any, Mapping[str, Kind]] = {}


def meanings(config: Any) -> dict[str, str]:
    """Return what each field of a dataclass means: the text below it, in one line."""
    source = ast.parse(textwrap.dedent(inspect.getsource(config))).body[0]
    found = {}
    for entry, text in itertools.pairwise(cast(ast.ClassDef, source).body):
        match entry, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(words))),
            ):
                found[name] = " ".join(words.split())
    return found


def check(config: Any) -> None:
    """Raise `InputError` unless every field of a dataclass has a value that is possible."""
    for name, kind in settings_of(type(config)).items():
        typed(name, getattr(config, name), kind)


def typed(name: str, value: Any, kind: Kind) -> Any:
    """Return a setting's value in the type it wants (1 becomes 1.0); `InputError` if it cannot be.

    Objects of types that are not plain are taken as they are.
    """
    wanted = None if kind.part is not None else _fitting(name, value, kind.types)
    if value is not None or kind.part is not None:
        for limit in kind.limits:
            limit.check(name, value)
    return value if wanted is None or value is None else wanted(value)


def _fitting(name: str, value: Any, types: tuple[Any, ...]) -> Any:
    """Return which of some plain types a value has or can be turned into; None: leave it."""
    if get_origin(types[0]) is Literal:
        _check_choice(name, value, get_args(types[0]))
        return None
    if any(wanted not in _WORDS for wanted in types):
        return None
    for wanted in types:
        if _fits(value, wanted):
            return wanted
    raise InputError(f"{name} = {value!r} should be {' or '.join(_WORDS[kind] for kind in types)}")


_WORDS: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    NoneType: "none",
}


def _fits(value: Any, wanted: type) -> bool:
    if wanted is int or wanted is float:
        number = numbers.Integral if wanted is int else numbers.Real
        return isinstance(value, number) and not isinstance(value, bool)
    return isinstance(value, wanted)


def _check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    if value in choices:
        return
    if isinstance(value, str) and all(isinstance(choice, str) for choice in choices):
        raise unknown_name(name, value, choices)
    words = " or ".join(map(str, choices))
    raise InputError(f"{name} = {value!r} is not possible; it must be {words}")


def plain(value: Any) -> Any:
    """Return a setting as files and names of folders have it: a part by its name."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return getattr(value, "__name__", type(value).__name__)


def short(value: Any) -> str:
    """Write a setting as briefly as it can be read back: `0.5`, `1e-06`, `true`, `none`."""
    value = plain(value)
    return value if isinstance(value, str) else str(value).lower()
