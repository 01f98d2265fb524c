"""The named algorithms, a file a family, and what is done with them: specify, build, load."""

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from olive_iw.agents import Agent, Algorithm, Spec
from olive_iw.agents import format1 as before
from olive_iw.agents.agent import SPEC
from olive_iw.agents.format1 import RemovedOptionError
from olive_iw.agents.spec import FORMAT
from olive_iw.algorithms import (
    breadth_first,
    brute,
    guided,
    memory_bytes,
    olive,
    rollout_iw,
    uct,
    vae_iw,
)
from olive_iw.errors import DamagedFileError, InputError, shown
from olive_iw.features.vae import PROFILES
from olive_iw.reading import read_json, refuse_odd
from olive_iw.registry import Registry
from olive_iw.settings import settings_of, typed

NOTHING: Mapping[str, Any] = MappingProxyType({})
FAMILIES = breadth_first, memory_bytes, brute, uct, rollout_iw, vae_iw, olive, guided
ALGORITHMS: Registry[Algorithm] = Registry(
    "algorithm",
    "olive_iw.algorithms",
    {name: parts for family in FAMILIES for name, parts in family.ALGORITHMS.items()},
)


def shown_name(name: str) -> str:
    """Return an algorithm's name as people are shown it: with its caveat, if it has one."""
    caveat = ALGORITHMS.loaded[name].caveat if name in ALGORITHMS.loaded else ""
    return f"{name} ({caveat})" if caveat else name


def make_spec(
    algorithm: str | Algorithm, profile: str = "laptop", seed: int = 0, **settings: Any
) -> Spec:
    """Specification of an algorithm; given settings change its and its profile's own.

    Settings are those of its parts, for example `make_spec("olive", width=2, steps=300)`; what the
    algorithm does not have is refused. Of `steps` and `epochs` the one that is given takes the
    place of the other, and seconds_per_action alone means as many calls as fit.
    """
    name, parts = _named(algorithm)
    return Spec.usual(name, profile, seed, parts).changed(**settings)


def _named(algorithm: str | Algorithm) -> tuple[str, Algorithm]:
    """Name of an algorithm and what it is; one that was never named goes by its title."""
    if isinstance(algorithm, str):
        return algorithm, ALGORITHMS[algorithm]
    for name, known in ALGORITHMS.loaded.items():
        if known == algorithm:
            return name, algorithm
    name = re.sub(r"[^a-z0-9]+", "-", algorithm.title.lower()).strip("-")
    if not name or name in ALGORITHMS:
        raise InputError(
            f"an algorithm with the title {algorithm.title!r} cannot be told from others; "
            "give it another title, or a name with ALGORITHMS.add"
        )
    return name, algorithm


def read_spec(fields: Mapping[str, Any], replaced: Mapping[str, Any] = NOTHING) -> Spec:
    """Specification of the fields that `Spec.to_dict` gives; the one reader of all files.

    Unknown and missing fields, wrong types and impossible numbers are `InputError`s, and so are
    names of plug-ins that have not been loaded: a file loads no module. Options that are `replaced`
    are not read, but the algorithm's own. What asks for an option that is no more cannot be planned
    with, which is a `RemovedOptionError`.
    """
    spec, asked = read_recorded(fields, replaced)
    if asked:
        raise RemovedOptionError(asked)
    return spec


def read_recorded(
    fields: Mapping[str, Any], replaced: Mapping[str, Any] = NOTHING
) -> tuple[Spec, dict[str, Any]]:
    """Specification as `read_spec` gives it, and options that the file has and that are no more.

    Where there are such options, the specification alone is not what made the decisions. Fields
    say their `format`, as files do; without, they are of this version's.
    """
    written = fields.get("format", FORMAT)
    if written not in (1, FORMAT) or isinstance(written, bool):
        raise InputError(f"format {shown(written)}, but only 1 and {FORMAT} are understood")
    known = settings_of(Spec)
    names = ("algorithm", "profile", "seed")
    if missing := [name for name in names if name not in fields]:
        raise InputError(f"the fields should have {', '.join(missing)}")
    name, profile, seed = (typed(name, fields[name], known[name]) for name in names)
    parts, asked = ALGORITHMS.known(name), dict[str, Any]()
    PROFILES.known(profile)
    tables = {name: it for name, it in fields.items() if name not in (*names, "format")}
    if written == 1:
        tables, asked = before.to_tables(tables, parts, profile, replaced)
    search = tables.get("search")
    named = search.get("planner") if isinstance(search, Mapping) else None
    options = parts.options(profile, parts.planner_of(named, replaced)).read(tables, replaced)
    return Spec(name, profile, seed, options, parts), asked


def make_agent(
    algorithm: str | Algorithm,
    profile: str = "laptop",
    seed: int = 0,
    device: str = "auto",
    **settings: Any,
) -> Agent:
    """Agent of an algorithm, not trained yet; `make_spec` says what settings there are.

    `device` is where its network is trained.
    """
    return build_agent(make_spec(algorithm, profile, seed, **settings), device)


def build_agent(spec: Spec, device: str = "auto") -> Agent:
    """Agent of a specification, not trained yet."""
    return spec.parts.family.build(spec, device)


def load_agent(folder: Path | str, device: str = "auto", **settings: Any) -> Agent:
    """Read back an agent that `agent.save(folder)` wrote; it goes on exactly where it stopped.

    Given settings take the place of those it was saved with, for example `search_workers=2`.
    """
    path = Path(folder) / SPEC
    if not path.exists():
        raise InputError(f"{folder} is not a saved agent: it has no {SPEC}")
    refuse_odd(path.parent.iterdir())
    fields = read_json(path)
    try:
        if "format" not in fields:
            raise InputError("it does not say its format")
        spec = read_spec(fields, settings)
    except RemovedOptionError as error:
        raise DamagedFileError(path, str(error)) from None
    except InputError as error:
        raise DamagedFileError(path, f"is not a saved agent: {error}") from None
    agent = build_agent(spec.changed(**settings), device)
    if agent.learner is not None:
        agent.learner.load(Path(folder))
    return agent
