"""What a run is: a game, an agent's specification, and how long it trains and plays."""

import hashlib
import json
import platform
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, Self

from olive_iw import settings
from olive_iw.agents import Spec
from olive_iw.agents.format1 import OF_0_2, RemovedOptionError
from olive_iw.agents.spec import FORMAT as CONFIG_FORMAT
from olive_iw.algorithms import read_recorded
from olive_iw.errors import DamagedFileError, InputError
from olive_iw.reading import fill
from olive_iw.settings import Range
from olive_iw.simulators import check_name

FORMAT = 1
"""Of events.jsonl, episodes and result.json; that of config.toml is `CONFIG_FORMAT`."""
LONGEST_NAME = 60
"""Characters of a game's name in names of folders, which have at most 255 bytes."""
IDENTITY = ("format", "algorithm", "profile", "seed")
PACKAGES = ("olive-iw", "ale-py", "torch", "numba", "numpy")


@dataclass(frozen=True, slots=True)
class RunConfig:
    """One run: training, then evaluation episodes."""

    game: str
    """Name of the simulator."""
    spec: Spec
    training_calls: Annotated[int, Range(1, 10**12)] = 100_000
    """Simulator calls for training, of algorithms that learn."""
    episodes: Annotated[int, Range(1, 100_000)] = 10
    """Evaluation episodes."""
    max_actions: Annotated[int, Range(1, 10**9)] = 18_000
    """Most actions of an evaluation episode."""

    def __post_init__(self) -> None:
        settings.check(self)

    def folder(self, out: Path) -> Path:
        """Where the run lives below `out`."""
        return out / folder_name(self.game) / self.spec.label / f"seed-{self.spec.seed}"

    def to_dict(self) -> dict[str, Any]:
        """Everything needed to repeat the run, as nested dictionaries; None is left out."""
        fields: dict[str, Any] = {
            "format": CONFIG_FORMAT,
            "game": self.game,
            **self.spec.to_dict(),
            "variant": self.spec.variant,
            "training_calls": self.training_calls,
            "episodes": self.episodes,
            "max_actions": self.max_actions,
            "versions": versions().copy(),
        }
        text = json.dumps(fields, sort_keys=True)
        fields["hash"] = hashlib.sha256(text.encode()).hexdigest()[:16]
        return fields

    @classmethod
    def from_dict(cls, fields: dict[str, Any], path: Path) -> Self:
        """Read what `to_dict` made, from the file that errors name.

        A run that asks for options that are no more cannot be gone on with; `recorded` reads it.
        """
        config, asked = cls.recorded(fields, path)
        if asked:
            raise DamagedFileError(path, str(RemovedOptionError(asked)))
        return config

    @classmethod
    def recorded(cls, fields: dict[str, Any], path: Path) -> tuple[Self, dict[str, Any]]:
        """Read the same, and apart from it the options that it asks for and that are no more.

        A game whose name would load code is refused here, so that no reader can forget to.
        """
        config, asked = cls.described(fields, path)
        try:
            check_name(config.game)
        except InputError as error:
            raise DamagedFileError(path, str(error)) from None
        return config, asked

    @classmethod
    def described(cls, fields: dict[str, Any], path: Path) -> tuple[Self, dict[str, Any]]:
        """Read the same for who only says what the run is, and never makes its game."""
        said_once(fields, path)
        of_spec = {name: fields[name] for name in IDENTITY if name in fields} | tables_of(fields)
        try:
            spec, asked = read_recorded(of_spec)
        except InputError as error:
            raise DamagedFileError(path, f"is not a run's configuration: {error}") from None
        return fill(cls, fields, path, spec=spec), asked


def tables_of(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Tables of settings in a configuration."""
    return {name: it for name, it in fields.items() if isinstance(it, dict) and name != "versions"}


def said_once(fields: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """All settings of a configuration by name; one that says two things is refused.

    A setting stands in one table, and only there. So whoever reads it, in whatever order, reads
    the same.
    """
    found: dict[str, Any] = {}
    twice = set(OF_0_2) & fields.keys()
    for table in tables_of(fields).values():
        twice |= (found.keys() | fields.keys()) & table.keys()
        found |= table
    if twice:
        what = f"says two things: {', '.join(sorted(twice))} cannot stand outside of the tables"
        raise DamagedFileError(path, f"{what}, nor in two of them")
    return found


def folder_name(game: str) -> str:
    """Name of a game in the names of folders and files: `grid-corridor` of `grid:corridor`.

    It begins with no dot, so that it neither leads up nor hides; a long one ends in digits that
    stand for the rest.
    """
    name = re.sub(r"^\.+|[^\w.-]", lambda found: "-" * len(found[0]), game) or "-"
    if len(name) <= LONGEST_NAME:
        return name
    digits = hashlib.sha256(game.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{name[: LONGEST_NAME - 9]}-{digits}"


@cache
def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a result depends on."""
    found = {"python": platform.python_version()} | dict.fromkeys(PACKAGES, "not installed")
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def to_toml(fields: Mapping[str, Any]) -> str:
    """TOML of plain values and one level of tables (JSON's strings and numbers are TOML's)."""
    tables = {name: table for name, table in fields.items() if isinstance(table, dict)}
    lines = [
        f"{name} = {json.dumps(value, allow_nan=False)}"
        for name, value in fields.items()
        if name not in tables
    ]
    for name, table in tables.items():
        lines += ["", f"[{name}]", to_toml(table).rstrip()]
    return "\n".join(lines) + "\n"


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Say what differs between two configurations, a line each; not what follows from the rest."""
    flat_before, flat_now = dict(_flat(before)), dict(_flat(now))
    return [
        f"{name}: {flat_before.get(name, 'absent')} → {flat_now.get(name, 'absent')}"
        for name in sorted(flat_before.keys() | flat_now.keys())
        if name not in ("hash", "variant") and flat_before.get(name) != flat_now.get(name)
    ]


def _flat(fields: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value
