"""Sweep files: which runs, in TOML. Lists multiply."""

import itertools
import math
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from olive_iw.agents import Options, Spec
from olive_iw.algorithms import ALGORITHMS, make_spec
from olive_iw.errors import InputError, unknown_name
from olive_iw.features.binary_vae import PROFILES, TrainingConfig
from olive_iw.reading import read_text
from olive_iw.registry import Registry
from olive_iw.runs.config import RunConfig
from olive_iw.runs.replay import check_name
from olive_iw.settings import Kind, settings_of, typed
from olive_iw.simulators import PAPER_GAMES, simulator_names
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
RUNS = Path("runs")
"""Folder of runs where none is given."""
MOST_RUNS = 100_000
"""Of one sweep; the paper's has 2,200."""
LARGEST_FILE = 1_000_000
"""Bytes."""
_NAMES = {"games": "breakout", "algorithms": "olive", "profile": "laptop"}
"""Keys that take names, with an example each."""
_AXES = (*_NAMES, "seeds")
_LENGTHS = {
    name: kind for name, kind in settings_of(RunConfig).items() if name not in ("game", "spec")
}


def read_sweep(path: Path, out: Path = RUNS, device: str = "auto") -> list[Job]:
    """Return the runs that a sweep file asks for, in the file's order, to be done below `out`."""
    text = read_text(path.resolve(), LARGEST_FILE)
    try:
        return parse_sweep(text, out, device)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def parse_sweep(text: str, out: Path = RUNS, device: str = "auto") -> list[Job]:
    """Return the runs that the text of a sweep file asks for; each is checked, and comes once.

    What the text names is never imported: plug-ins must have been loaded before.
    """
    given = _parse(text)
    axes = _axes(given)
    count = math.prod(len(values) for values in axes.values())
    if count > MOST_RUNS:
        raise InputError(f"{count:,} runs are too many for a sweep; at most {MOST_RUNS:,} can be")
    listed = {name for name in _LENGTHS if isinstance(given.get(name), list)}
    jobs: dict[Path, Job] = {}
    for values in itertools.product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        variation = ",".join(f"{name}={chosen[name]}" for name in axes if name in listed)
        job = Job(_config(**chosen), out, variation, device)
        if jobs.setdefault(job.folder, job) != job:
            raise InputError(f"two different runs would be in one folder, {job.folder}")
    return list(jobs.values())


def _parse(text: str) -> dict[str, Any]:
    try:
        given = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"not TOML: {error}") from None
    known = (*_AXES, *_settings())
    for name in given:
        if name not in known:
            raise unknown_name("key", name, known)
    return given


def _settings() -> dict[str, Kind]:
    """Return all settings that a sweep file may have: those of runs, agents and networks."""
    networks = {type(network): None for network, _ in PROFILES.loaded.values()}
    configs = (Options, TrainingConfig, *networks)
    return {
        **_LENGTHS,
        **{name: kind for each in configs for name, kind in settings_of(each).items()},
    }


def _axes(given: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the values of everything that is given or must be, each once; settings first."""
    settings = _settings()
    return {
        **{name: _values(name, given[name], settings[name]) for name in given if name in settings},
        "game": _games(_names(given, "games")),
        "algorithm": _known(ALGORITHMS, _names(given, "algorithms")),
        "profile": _known(PROFILES, _names(given, "profile", "laptop")),
        "seed": _seeds(given.get("seeds", [0])),
    }


def _values(name: str, given: Any, kind: Kind) -> list[Any]:
    """Return a setting's values in the type it wants: one, or a list."""
    values = given if isinstance(given, list) else [given]
    if not values:
        raise InputError(f"{name} = [] lists no value")
    for value in values:
        if kind.part is not None:
            kind.part.check_known(value)
    return list(dict.fromkeys(typed(name, value, kind) for value in values))


def _names(given: Mapping[str, Any], key: str, default: str | None = None) -> list[str]:
    """Return the names under a key: one, or a list."""
    value = given.get(key, default)
    example = f'["{_NAMES[key]}"]'
    if value is None:
        raise InputError(f"{key} is missing; give a list, such as {key} = {example}")
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"{key} = {value!r} should be names, such as {example}")
    return list(dict.fromkeys(names))


def _known(registry: Registry[Any], names: list[str]) -> list[str]:
    for name in names:
        registry.known(name)
    return names


def _games(names: Sequence[str]) -> list[str]:
    """Replace sets by their games; each game once."""
    games = [game for name in names for game in GAME_SETS.get(name, [name])]
    known = simulator_names()
    for game in games:
        kind, colon, _ = game.partition(":")
        check_name(game)
        # What a kind of simulator other than ours knows only it can say, when the run begins.
        if game not in known and (not colon or kind in ("atari", "grid")):
            raise unknown_name("game", game, (*known, *GAME_SETS))
    return list(dict.fromkeys(games))


def _seeds(value: Any) -> list[int]:
    seeds = value if isinstance(value, list) else []
    if not seeds or any(type(seed) is not int or seed < 0 for seed in seeds):
        raise InputError(
            f"seeds = {value!r} should be a list of numbers from 0 on, such as [0, 1, 2]"
        )
    return list(dict.fromkeys(seeds))


def _config(game: str, algorithm: str, profile: str, seed: int, **settings: Any) -> RunConfig:
    """Configure one run: the algorithm's and the profile's values, then the file's."""
    lengths = {name: settings.pop(name) for name in _LENGTHS if name in settings}
    return RunConfig(game, _spec(algorithm, profile, seed, *settings.items()), **lengths)


@lru_cache(4096)
def _spec(algorithm: str, profile: str, seed: int, *settings: tuple[str, Any]) -> Spec:
    """Make a specification, which the games of a sweep share."""
    return make_spec(algorithm, profile, seed, **dict(settings))
