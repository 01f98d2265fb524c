"""Sweep files: which runs, in TOML. Lists multiply."""

import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from olive_iw.agents import Options
from olive_iw.algorithms import ALGORITHMS, make_spec
from olive_iw.errors import InputError, unknown_name
from olive_iw.features.binary_vae import PROFILES, TrainingConfig
from olive_iw.runs.config import RunConfig
from olive_iw.settings import Kind, settings_of, short, typed
from olive_iw.simulators import PAPER_GAMES, SIMULATORS, simulator_names
from olive_iw.sweeps.engines.base import Job

PAPER_VISUAL_GAMES = (
    "amidar",
    "bank_heist",
    "jamesbond",
    "montezuma_revenge",
    "pitfall",
    "wizard_of_wor",
)
"""Games that look different later on: the paper's "Offline Learning vs. Passive Olive vs. Active
Olive" names them (new backgrounds, enemies, colours or rooms)."""
GAME_SETS: Mapping[str, Sequence[str]] = {
    "paper": PAPER_GAMES,
    "paper-visual": PAPER_VISUAL_GAMES,
}

_LENGTHS = {
    name: kind for name, kind in settings_of(RunConfig).items() if name not in ("game", "spec")
}
_SETTINGS: dict[str, Kind] = {**_LENGTHS, **settings_of(Options), **settings_of(TrainingConfig)}
for _network, _ in PROFILES.loaded.values():
    _SETTINGS |= settings_of(type(_network))
_AXES = ("games", "algorithms", "seeds", "profile")


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run of a sweep file, and the folder below the sweep's in which it belongs."""

    config: RunConfig
    variation: str = ""
    """For example `extend_share=0.1`, where the file lists several values; otherwise empty."""

    def job(self, out: Path, device: str = "auto") -> Job:
        """Make the job of doing this run."""
        return Job(self.config, out, self.variation, device)


def read_sweep(path: Path) -> list[PlannedRun]:
    """Return the runs that a sweep file asks for, in the file's order."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not a sweep file that can be read: {error}") from None
    try:
        return parse_sweep(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def parse_sweep(text: str) -> list[PlannedRun]:
    """Return the runs that the text of a sweep file asks for, in its order."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML: {error}") from None
    for name in tables:
        if name not in (*_AXES, *_SETTINGS):
            raise unknown_name("key", name, (*_AXES, *_SETTINGS))
    games = _games(_names(tables, "games"))
    algorithms = _names(tables, "algorithms")
    profiles = _names(tables, "profile", "laptop")
    for kind, names, known in (
        ("algorithm", algorithms, ALGORITHMS),
        ("profile", profiles, PROFILES),
    ):
        for name in names:
            if name not in known:
                raise unknown_name(kind, name, known)
    axes = (games, algorithms, profiles, _seeds(tables.get("seeds", [0])))
    given = {name: value for name, value in tables.items() if name in _SETTINGS}
    return [
        PlannedRun(_config(*names, settings), variation)
        for variation, settings in _variations(given)
        for names in itertools.product(*axes)
    ]


def _names(tables: Mapping[str, Any], key: str, default: str | None = None) -> list[str]:
    """Names under a key: one, or a list."""
    value = tables.get(key, default)
    if value is None:
        raise InputError(f'{key} is missing; give a list, such as {key} = ["{_EXAMPLES[key]}"]')
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f'{key} = {value!r} should be names, such as ["{_EXAMPLES[key]}"]')
    return list(dict.fromkeys(names))


_EXAMPLES = {"games": "breakout", "algorithms": "olive", "profile": "laptop"}


def _games(names: Sequence[str]) -> list[str]:
    """Replace sets by their games; each game once."""
    games = [game for name in names for game in GAME_SETS.get(name, [name])]
    known = simulator_names()
    for game in games:
        kind, colon, _ = game.partition(":")
        # What a kind of simulator other than ours knows only it can say, when the run begins.
        if game not in known and (not colon or kind in ("atari", "grid")):
            raise unknown_name("game", game, (*known, *GAME_SETS))
        if colon and kind not in SIMULATORS:
            raise unknown_name("kind of simulator", kind, SIMULATORS)
    return list(dict.fromkeys(games))


def _seeds(value: Any) -> list[int]:
    seeds = value if isinstance(value, list) else []
    if not seeds or any(type(seed) is not int or seed < 0 for seed in seeds):
        raise InputError(f"seeds = {value!r} should be a list of numbers, such as [0, 1, 2]")
    return list(dict.fromkeys(seeds))


def _variations(given: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every combination of the listed settings, with the name of its folder.

    A list has a folder per value even if it has only one, so that a list can grow later.
    """
    fixed = {name: value for name, value in given.items() if not isinstance(value, list)}
    listed = {name: value for name, value in given.items() if isinstance(value, list)}
    for name, values in listed.items():
        if not values:
            raise InputError(f"{name} = [] lists no value")
    for combination in itertools.product(*listed.values()):
        chosen = dict(zip(listed, combination, strict=True))
        settings = {**fixed, **chosen}
        checked = {name: typed(name, value, _SETTINGS[name]) for name, value in settings.items()}
        yield ",".join(f"{name}={short(checked[name])}" for name in chosen), checked


def _config(
    game: str, algorithm: str, profile: str, seed: int, settings: Mapping[str, Any]
) -> RunConfig:
    """Configure one run: the algorithm's and the profile's values, then the file's."""
    lengths = {name: value for name, value in settings.items() if name in _LENGTHS}
    others = {name: value for name, value in settings.items() if name not in _LENGTHS}
    return RunConfig(game, make_spec(algorithm, profile, seed, **others), **lengths)
