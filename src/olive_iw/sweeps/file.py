"""Sweep files: which runs, in TOML. Lists multiply."""

import itertools
import math
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from olive_iw.agents import Options, Spec
from olive_iw.agents.planning import unknown_options
from olive_iw.algorithms import ALGORITHMS, make_spec
from olive_iw.errors import InputError, shown, unknown_name
from olive_iw.features.vae import PROFILES, TrainingConfig
from olive_iw.reading import LARGEST_TOML, parse_toml, read_text
from olive_iw.runs.config import RunConfig
from olive_iw.settings import Kind, PartOf, settings_of, typed
from olive_iw.simulators import PAPER_GAMES, check_name, game_name, simulator_names
from olive_iw.sweeps.engines.base import Job

PAPER_VISUAL_GAMES = (
    *("amidar", "bank_heist", "jamesbond", "montezuma_revenge", "pitfall", "wizard_of_wor"),
)
"""Games that look different later on: the paper's "Offline Learning vs. Passive Olive vs. Active
Olive" names them (new backgrounds, enemies, colours or rooms)."""
GAME_SETS: Mapping[str, Sequence[str]] = {"paper": PAPER_GAMES, "paper-visual": PAPER_VISUAL_GAMES}
RUNS = Path("runs")
"""Folder of runs where none is given."""
MOST_RUNS = 100_000
"""Of one sweep; the paper's has 2,200."""
_LENGTHS = {
    name: kind for name, kind in settings_of(RunConfig).items() if name not in ("game", "spec")
}
_AXES = {
    "games": Kind(str),
    "algorithms": Kind(str, PartOf(ALGORITHMS)),
    "profile": Kind(str, PartOf(PROFILES)),
    "seeds": settings_of(Spec)["seed"],
}
_USUAL: Mapping[str, Any] = {"profile": "laptop", "seeds": [0]}


def read_sweep(path: Path, out: Path = RUNS, device: str = "auto") -> list[Job]:
    """Return the runs that a sweep file asks for, in the file's order, to be done below `out`."""
    # Links of a user's own are followed; one that leads to itself stays one, and is refused.
    text = read_text(Path(os.path.realpath(path)), LARGEST_TOML)
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
    listed = [name for name in axes if name in _LENGTHS and isinstance(given[name], list)]
    # What only some of its runs can use is for those; what none can is left in, to be refused.
    pairs = itertools.product(axes["algorithm"], axes.get("planner", [None]))
    unused = {pair: _unused(*pair) for pair in pairs}
    nobodys = frozenset.intersection(*unused.values())
    jobs: dict[Path, Job] = {}
    for values in itertools.product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        for name in unused[chosen["algorithm"], chosen.get("planner")] - nobodys:
            chosen.pop(name, None)
        variation = ",".join(f"{name}={chosen[name]}" for name in listed)
        job = Job(_config(tuple(axes["algorithm"]), **chosen), out, variation, device)
        if jobs.setdefault(job.folder, job) != job:
            raise InputError(f"two different runs would be in one folder, {job.folder}")
    return list(jobs.values())


def _parse(text: str) -> dict[str, Any]:
    given = {**_USUAL, **parse_toml(text, "sweep")}
    known = _kinds()
    for name in given:
        if name not in known:
            raise unknown_name("key", name, known)
    if "games" not in given or "algorithms" not in given:
        raise InputError('games and algorithms must be there, such as games = ["breakout"]')
    if not isinstance(given["seeds"], list):
        raise InputError(f"seeds = {shown(given['seeds'])} should be a list, such as [0, 1, 2]")
    return given


def _kinds() -> dict[str, Kind]:
    """Return what a sweep file may have: its axes, and the settings of runs, agents, networks."""
    own = [profile for each in ALGORITHMS.loaded.values() for profile in each.profiles.values()]
    parts = [it for profile in (*own, *PROFILES.loaded.values()) for it in profile[:2]]
    configs = [settings_of(each) for each in (*map(type, parts), TrainingConfig, Options)]
    return {**_AXES, **_LENGTHS, **{name: each[name] for each in configs for name in each}}


def _axes(given: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the values of everything that is given or usual, each once; settings first."""
    kinds = _kinds()
    values = {name: _values(name, given[name], kinds[name]) for name in given}
    return {
        **{name: values[name] for name in values if name not in _AXES},
        "game": _games(values["games"]),
        "algorithm": values["algorithms"],
        "profile": values["profile"],
        "seed": values["seeds"],
    }


def _unused(algorithm: str, planner: str | None) -> frozenset[str]:
    """Name settings that such a run makes nothing of: options, or those of a network it lacks."""
    parts = ALGORITHMS.known(algorithm)
    unknown = unknown_options(planner or parts.defaults.planner)
    if parts.learning != "none":
        return unknown
    networks = (type(network) for network, *_ in PROFILES.loaded.values())
    return unknown.union(*map(settings_of, (TrainingConfig, *networks)))


def _values(name: str, given: Any, kind: Kind) -> list[Any]:
    """Return what is given, one value or a list, in the type that is wanted."""
    values = given if isinstance(given, list) else [given]
    if not values:
        raise InputError(f"{name} = [] lists no value")
    return list(dict.fromkeys(typed(name, value, kind, in_file=True) for value in values))


def _games(names: Sequence[str]) -> list[str]:
    """Replace sets by their games; each game once."""
    games = [game for name in names for game in GAME_SETS.get(name, [game_name(name)])]
    known = simulator_names()
    for game in games:
        kind, colon, _ = game.partition(":")
        check_name(game)
        # What a kind of simulator other than ours knows only it can say, when the run begins.
        if game not in known and (not colon or kind in ("atari", "grid")):
            raise unknown_name("game", game, (*known, *GAME_SETS))
    return list(dict.fromkeys(games))


def _config(
    algorithms: tuple[str, ...], game: str, algorithm: str, profile: str, seed: int, **settings: Any
) -> RunConfig:
    """Configure one run: the algorithm's and the profile's values, then the file's.

    `algorithms` are all of the sweep: what some of them know, others may leave alone.
    """
    lengths = {name: settings.pop(name) for name in _LENGTHS if name in settings}
    spec = _spec(algorithms, algorithm, profile, seed, *settings.items())
    return RunConfig(game, spec, **lengths)


@lru_cache(4096)  # the games of a sweep share their specifications
def _spec(
    algorithms: tuple[str, ...], algorithm: str, profile: str, seed: int, *settings: tuple[str, Any]
) -> Spec:
    own = make_spec(algorithm, profile).settings()
    others = {name for each in algorithms for name in make_spec(each, profile).settings()}
    left = {name: it for name, it in settings if name in own or name not in others}
    return make_spec(algorithm, profile, seed, **left)
