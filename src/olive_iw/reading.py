"""THE strict reader of files that somebody else may have written.

Whatever stands in a file, reading it gives checked values, or a `DamagedFileError` of one line.
Its size is bounded, and so are the signs in it that cost memory to parse. Links and devices are
refused. Numbers are finite and of a plausible size, types as the dataclass says, and texts without
control characters. Nothing in a file is ever run or imported.
"""

import contextlib
import dataclasses
import json
import math
import os
import stat
import tomllib
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import (
    Any,
    BinaryIO,
    Literal,
    NoReturn,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from olive_iw.errors import DamagedFileError, InputError, clean_text, shown
from olive_iw.files import NO_FOLLOW, NO_WAIT

LARGEST_FILE = 64_000_000
"""Bytes: ten times an episode of 18,000 actions with the values of 18 alternatives each."""
LARGEST_TOML = 250_000
LARGEST_INTEGER = 2**53
LONGEST_TEXT = 1_000_000
MOST_IN_JSON = {"{": 10_000, ":": 100_000, "[": 1_500_000, '"': 4_000_000, ",": 6_000_000}
"""How often each stands in a file at most: a parsed one then takes less than ten times its size."""
MOST_IN_LINE = {".": 100, "[": 100, "{": 100}
"""The same in a line of TOML: a name of n parts costs n² to parse, also in memory."""

T = TypeVar("T")


def open_plain(path: Path) -> BinaryIO:
    """Open a plain file to read; anything else, which could lead elsewhere or wait, is refused."""
    refuse_odd([path])
    flags = os.O_RDONLY | NO_FOLLOW | NO_WAIT | getattr(os, "O_BINARY", 0)
    try:
        file = os.fdopen(os.open(path, flags), "rb")
    except OSError as error:
        raise DamagedFileError(path, f"cannot be read ({error.strerror})") from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise DamagedFileError(path, "is not a plain file")
    return file


def refuse_odd(paths: Iterable[Path]) -> None:
    """Refuse links, which could lead elsewhere, and pipes and devices, which could wait for ever.

    Missing files are passed over.
    """
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                raise DamagedFileError(path, "is a symbolic link, which is not followed")
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise DamagedFileError(path, "is not a plain file")


def read_bytes(path: Path, limit: int = LARGEST_FILE) -> bytes:
    """Contents of a plain file of at most `limit` bytes."""
    with open_plain(path) as file:
        try:
            content = file.read(limit + 1)
        except OSError as error:
            raise DamagedFileError(path, f"cannot be read ({error.strerror})") from None
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
    _refuse_too_many(text, MOST_IN_JSON, source)
    parse = partial(json.loads, parse_constant=_no_constant, object_pairs_hook=_said_once)
    content = _parsed(parse, text, source)
    if not isinstance(content, dict):
        raise DamagedFileError(source, f"must hold a JSON object, not {type(content).__name__}")
    return content


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; its values are still to be checked, by `fill`."""
    return parse_toml(read_text(path, LARGEST_TOML), path)


def parse_toml(text: str, source: object) -> dict[str, Any]:
    """Parse TOML, as far as it says what JSON can say; `source` is what errors name."""
    if len(text) > LARGEST_TOML:
        raise DamagedFileError(source, f"is larger than {LARGEST_TOML / 1e6:g} MB")
    for line in text.split("\n"):  # TOML knows no other end of a line, str.splitlines ten
        _refuse_too_many(line, MOST_IN_LINE, source)
    content = _parsed(tomllib.loads, text, source)
    _parsed(_refuse_unlike_json, content, source)
    return content


def _refuse_too_many(text: str, most: Mapping[str, int], source: object) -> None:
    for mark, limit in most.items():
        if text.count(mark) > limit:
            where = "" if most is MOST_IN_JSON else " in a line"
            raise DamagedFileError(source, f"has more than {limit:,} times {mark!r}{where}")


def _refuse_unlike_json(value: Any) -> None:
    """Refuse what only TOML can say: dates, and numbers of thousands of digits."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            _refuse_unlike_json(part)
    elif type(value) is int and abs(value) >= 2**63:
        raise ValueError("a whole number has more than 64 bits")
    elif type(value) not in (str, bool, int, float):
        raise ValueError(f"{value} is a date or a time, which nothing here is")


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
        raise ValueError(f"{shown(value)} is none of {', '.join(map(str, parts))}")
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
        raise ValueError(f"{shown(value)} is no {(_WORDS | _LARGER)[hint]}")
    if hint is int and abs(value) > LARGEST_INTEGER:
        raise ValueError("a whole number beyond 2**53")
    if hint is str:
        if len(value) > LONGEST_TEXT:
            raise ValueError(f"a text of {len(value)} characters")
        return clean_text(value)
    return value


_WORDS: dict[Any, str] = {int: "whole number", float: "number", str: "text", bool: "true or false"}
_LARGER: dict[Any, str] = {list: "list", dict: "table"}
