"""Sweep files: which runs, in TOML. Lists multiply."""

import itertools
import math
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from olive_iw.agents import Spec
from olive_iw.agents.parts import Chosen
from olive_iw.algorithms import ALGORITHMS, make_spec
from olive_iw.errors import AdviceWarning, InputError, shown, unknown_name
from olive_iw.features.vae import PROFILES
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
_OF_A_RUN = {"game", "algorithm", "profile", "seed", *_LENGTHS}
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

    An option that only some of the algorithms have is for those, and the others are named in a
    warning. What the text names is never imported: plug-ins must have been loaded before.
    """
    given = _parse(text)
    axes, kinds = _axes(given)
    count = math.prod(len(values) for values in axes.values())
    if count > MOST_RUNS:
        raise InputError(f"{count:,} runs are too many for a sweep; at most {MOST_RUNS:,} can be")
    listed = [name for name in axes if name in _LENGTHS and isinstance(given[name], list)]
    jobs: dict[Path, Job] = {}
    for values in itertools.product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        known = kinds[chosen["algorithm"], chosen["profile"], chosen.get("planner")]
        own = {name: it for name, it in chosen.items() if name in known or name in _OF_A_RUN}
        variation = ",".join(f"{name}={chosen[name]}" for name in listed)
        job = Job(_config(**own), out, variation, device)
        if jobs.setdefault(job.folder, job) != job:
            raise InputError(f"two different runs would be in one folder, {job.folder}")
    return list(jobs.values())


def _parse(text: str) -> dict[str, Any]:
    given = {**_USUAL, **parse_toml(text, "sweep")}
    if "games" not in given or "algorithms" not in given:
        unknown = next((name for name in given if name not in _every_name()), None)
        if unknown is not None:
            raise unknown_name("key", unknown, _every_name())
        raise InputError('games and algorithms must be there, such as games = ["breakout"]')
    if not isinstance(given["seeds"], list):
        raise InputError(f"seeds = {shown(given['seeds'])} should be a list, such as [0, 1, 2]")
    return given


def _every_name() -> set[str]:
    """Name all that any sweep file may have."""
    options = (
        parts.options(profile).kinds
        for parts in ALGORITHMS.loaded.values()
        for profile in PROFILES.loaded
    )
    return {*_AXES, *_LENGTHS}.union(*options)


Kinds: TypeAlias = Mapping[tuple[str, str, str | None], Mapping[str, tuple[str, Kind]]]
"""What options there are of an algorithm under a profile, with its own planner or another."""


def _axes(given: Mapping[str, Any]) -> tuple[dict[str, list[Any]], Kinds]:
    """Return the values of everything that is given or usual, each once, and who has what option.

    Settings come first.
    """
    values = {name: _values(name, given[name], kind) for name, kind in _AXES.items()}
    planners = [None]
    if "planner" in given:
        planners = _values("planner", given["planner"], settings_of(Chosen)["planner"])
    systems = list(itertools.product(values["algorithms"], values["profile"], planners))
    specs = {it: Spec.usual(it[0], it[1], 0, ALGORITHMS[it[0]], it[2]) for it in systems}
    lengths = {name: ("", kind) for name, kind in _LENGTHS.items()}
    of_one = {name: it for spec in specs.values() for name, it in spec.options.kinds.items()}
    settings: dict[str, list[Any]] = {}
    for name in given:
        if name in _AXES:
            continue
        if name not in lengths | of_one:
            if name in _every_name():
                raise specs[systems[0]].no_option(name)
            raise unknown_name("key", name, {*_AXES, *lengths, *of_one})
        settings[name] = _values(name, given[name], (lengths | of_one)[name][1])
    _say_who_lacks(specs.values(), [name for name in settings if name not in lengths])
    games = _games(values["games"])
    axes = {"algorithm": values["algorithms"], "profile": values["profile"]}
    axes = {**settings, "game": games, **axes, "seed": values["seeds"]}
    return axes, {it: spec.options.kinds for it, spec in specs.items()}


def _say_who_lacks(specs: Iterable[Spec], names: Sequence[str]) -> None:
    """Warn of what is asked for and cannot be told some of the systems."""
    for spec in {spec.who: spec for spec in specs}.values():
        if lacking := [name for name in names if name not in spec.options.kinds]:
            words = f"{spec.who} has no option {', '.join(lacking)}"
            warnings.warn(f"{words}: its runs go without", AdviceWarning, stacklevel=4)


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


def _config(game: str, algorithm: str, profile: str, seed: int, **settings: Any) -> RunConfig:
    """Configure one run: the algorithm's and the profile's values, then the file's."""
    lengths = {name: settings.pop(name) for name in _LENGTHS if name in settings}
    return RunConfig(game, _spec(algorithm, profile, seed, *settings.items()), **lengths)


@lru_cache(4096)  # the games of a sweep share their specifications
def _spec(algorithm: str, profile: str, seed: int, *settings: tuple[str, Any]) -> Spec:
    return make_spec(algorithm, profile, seed, **dict(settings))
