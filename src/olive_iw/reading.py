"""THE strict reader of files that somebody else may have written.

Whatever stands in a file, reading it gives checked values or a `DamagedFileError` of one line:
sizes are bounded, links and devices refused, numbers finite and of a plausible size, types those
of the dataclass that is asked for, texts without control characters. What a file says is never
run and never imported.
"""

import contextlib
import dataclasses
import json
import math
import os
import stat
import tomllib
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar, cast, get_args, get_origin, get_type_hints

from olive_iw.errors import DamagedFileError, InputError, clean_text
from olive_iw.files import NO_FOLLOW

LARGEST_FILE = 64_000_000
"""Bytes: ten times an episode of 18,000 actions with the values of 18 alternatives each."""
LARGEST_TOML = 1_000_000
LARGEST_INTEGER = 2**53
LONGEST_TEXT = 1_000_000

T = TypeVar("T")


def read_bytes(path: Path, limit: int = LARGEST_FILE) -> bytes:
    """Contents of a plain file of at most `limit` bytes."""
    if path.is_symlink():
        raise DamagedFileError(path, "is a symbolic link, which is not followed")
    # Without O_NONBLOCK, opening a pipe would wait for somebody to write into it.
    flags = os.O_RDONLY | NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            plain = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            content = file.read(limit + 1) if plain else b""
    except OSError as error:
        raise DamagedFileError(path, f"cannot be read ({error.strerror})") from None
    if not plain:
        raise DamagedFileError(path, "is not a plain file")
    if len(content) > limit:
        raise DamagedFileError(path, f"is larger than {limit / 1e6:g} MB")
    return content


def read_text(path: Path, limit: int = LARGEST_FILE) -> str:
    """Text of a plain file, with control characters replaced only when its values are read."""
    return _parsed(bytes.decode, read_bytes(path, limit), path)


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; its values are still to be checked, by `fill`."""
    return parse_json(read_text(path), path)


def parse_json(text: str, source: object) -> dict[str, Any]:
    """Parse a JSON object; `source` is what errors name."""
    parse = partial(json.loads, parse_constant=_no_constant, object_pairs_hook=_said_once)
    content = _parsed(parse, text, source)
    if not isinstance(content, dict):
        raise DamagedFileError(source, f"must hold a JSON object, not {type(content).__name__}")
    return content


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; its values are still to be checked, by `fill`."""
    return _parsed(tomllib.loads, read_text(path, LARGEST_TOML), path)


def _parsed(parse: Callable[[Any], T], content: Any, source: object) -> T:
    try:
        return parse(content)
    except RecursionError:
        raise DamagedFileError(source, "cannot be read (nested too deeply)") from None
    except ValueError as error:
        raise DamagedFileError(source, f"cannot be read ({error})") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _said_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("an entry stands there twice")
    return table


def fill(kind: type[T], fields: Mapping[str, Any], source: object, **given: Any) -> T:
    """Make a dataclass of what a file says, every value checked against its declared type.

    What has a default may be missing, and entries that the dataclass does not know are passed
    over: within a format, fields are only added. A dataclass that refuses a value says why.
    `given` are values that do not come from the file.
    """
    hints, made = _hints(cast(Any, kind)), dict(given)
    for field in dataclasses.fields(cast(Any, kind)):
        if field.name in given:
            continue
        if field.name in fields:
            try:
                made[field.name] = _checked(fields[field.name], hints[field.name])
            except (ValueError, OverflowError) as error:
                problem = f"the entry {field.name!r} has the wrong form ({error})"
                raise DamagedFileError(source, problem) from None
        elif field.default is field.default_factory is dataclasses.MISSING:
            raise DamagedFileError(source, f"the entry {field.name!r} is missing")
    try:
        return kind(**made)
    except InputError as error:
        raise DamagedFileError(source, str(error)) from None


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _checked(value: Any, hint: Any) -> Any:
    """Return a file's value as the type that is wanted; `ValueError` if it is another."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is types.UnionType:
        return _one_of(value, parts)
    if origin is Literal and value not in parts:
        raise ValueError(f"{_short(value)} is none of {', '.join(map(str, parts))}")
    if origin in (list, Sequence):
        check = _plain if parts[0] in _WORDS else _checked  # long lists are of plain values
        return [check(part, parts[0]) for part in _plain(value, list)]
    if origin in (dict, Mapping):
        table = _plain(value, dict)
        return {clean_text(key): _checked(part, parts[1]) for key, part in table.items()}
    return value if origin is Literal else _plain(value, hint)


def _one_of(value: Any, hints: Sequence[Any]) -> Any:
    """Return a value as the first of some types that it can be."""
    if value is None and types.NoneType in hints:
        return None
    *others, last = [hint for hint in hints if hint is not types.NoneType]
    for hint in others:
        with contextlib.suppress(ValueError):
            return _checked(value, hint)
    return _checked(value, last)


def _plain(value: Any, hint: Any) -> Any:
    if hint is float and type(value) in (int, float):
        number = float(value)  # OverflowError if it has hundreds of digits
        if not math.isfinite(number):
            raise ValueError(f"{number} is not finite")
        return number
    if type(value) is not hint:
        raise ValueError(f"{_short(value)} is no {(_WORDS | _LARGER)[hint]}")
    if hint is int and abs(value) > LARGEST_INTEGER:
        raise ValueError("a whole number beyond 2**53")
    if hint is str:
        if len(value) > LONGEST_TEXT:
            raise ValueError(f"a text of {len(value)} characters")
        return clean_text(value)
    return value


_WORDS: dict[Any, str] = {int: "whole number", float: "number", str: "text", bool: "true or false"}
_LARGER: dict[Any, str] = {list: "list", dict: "table"}


def _short(value: Any) -> str:
    if type(value) in (list, dict):
        return f"a {_LARGER[type(value)]}"
    return "a huge number" if type(value) is int and abs(value) > 10**20 else repr(value)[:40]
