"""The strict reader: what fits a dataclass is taken, and everything else is named in a line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from olive_iw.errors import DamagedFileError, InputError
from olive_iw.reading import fill, parse_json, read_json, read_toml


@dataclass
class Thing:
    count: int
    size: float = 1.0
    kind: Literal["small", "large"] = "small"
    note: str | None = None
    option: bool | int | float | str = 0
    sizes: Sequence[float] = ()
    parts: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.count < 0:
            raise InputError("count must be 0 or greater")


def test_what_fits_is_taken_and_what_is_unknown_passed_over() -> None:
    fields = {"count": 2, "size": 3, "sizes": [1, 2.5], "parts": {"a": 1}, "later": [[[]]]}
    thing = fill(Thing, fields, "file", note="given")
    assert thing == Thing(2, 3.0, note="given", sizes=[1.0, 2.5], parts={"a": 1})
    assert isinstance(thing.size, float)
    options = [fill(Thing, {"count": 0, "option": value}, "file").option for value in (True, 4)]
    assert options == [True, 4]
    assert [type(option) for option in options] == [bool, int]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({}, "the entry 'count' is missing"),
        ({"count": True}, r"'count' has the wrong form \(True is no whole number\)"),
        ({"count": 1.0}, "1.0 is no whole number"),
        ({"count": 2**60}, "beyond 2"),
        ({"count": -1}, "count must be 0 or greater"),
        ({"count": 1, "size": "x"}, "'x' is no number"),
        ({"count": 1, "size": 1e999}, "inf is not finite"),
        ({"count": 1, "size": 10**400}, "too large"),
        ({"count": 1, "kind": "middle"}, "'middle' is none of small, large"),
        ({"count": 1, "note": 3}, "3 is no text"),
        ({"count": 1, "note": "x" * 2_000_000}, "a text of 2000000 characters"),
        ({"count": 1, "option": None}, "None is no text"),
        ({"count": 1, "sizes": {"a": 1}}, "a table is no list"),
        ({"count": 1, "sizes": [[1]]}, "a list is no number"),
        ({"count": 1, "parts": []}, "a list is no table"),
        ({"count": 1, "parts": {"a": 10**400}}, "beyond 2"),
    ],
)
def test_what_does_not_fit_is_named(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(DamagedFileError, match=says) as error:
        fill(Thing, fields, "file")
    assert str(error.value).startswith("file: ")


def test_texts_have_no_control_characters() -> None:
    thing = fill(Thing, {"count": 0, "note": "a\x1b[31m\nb", "parts": {"\x07": 1}}, "file")
    assert thing.note == "a�[31m\nb"
    assert list(thing.parts) == ["�"]


def test_errors_are_one_clean_line() -> None:
    with pytest.raises(DamagedFileError) as error:
        parse_json("[", "a file\x1b[31m\nof two lines")
    assert str(error.value).startswith("a file�[31m of two lines: cannot be read (")


def test_missing_files_and_folders(tmp_path: Any) -> None:
    for read in (read_json, read_toml):
        with pytest.raises(DamagedFileError, match="No such file"):
            read(tmp_path / "none")
        with pytest.raises(DamagedFileError, match=r"not a plain file|Is a directory"):
            read(tmp_path)
