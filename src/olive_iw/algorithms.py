"""The named algorithms: each a thin assembly of parts, with the paper section it comes from."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from olive_iw.agents import Agent, Algorithm, OfflineLearner, OnlineLearner, Options, Spec
from olive_iw.agents.agent import FORMAT, SPEC
from olive_iw.agents.learning import load_learned
from olive_iw.agents.options import ADDED, LEARNED, NONE
from olive_iw.agents.planning import make_planner
from olive_iw.agents.spec import NETWORK, Learning
from olive_iw.errors import DamagedFileError, InputError
from olive_iw.features import make_features
from olive_iw.features.binary_vae import ADDED_TO_NETWORK, PROFILES, TrainingConfig
from olive_iw.planners.uct import PLAYOUT_DEPTH
from olive_iw.randomness import generator
from olive_iw.reading import read_json
from olive_iw.registry import Registry
from olive_iw.settings import read, settings_of, typed


def _algorithm(title: str, source: str, learning: Learning = "none", **parts: Any) -> Algorithm:
    return Algorithm(title, source, learning, defaults=Options(**parts))


_LIPOVETZKY, _BANDRES = "Lipovetzky et al. 2015", "Bandres et al. 2018"
_vae_iw = partial(_algorithm, source="Ablation Study", learning="offline", features=LEARNED)
_olive = partial(
    _algorithm,
    source="Updating the Screen Dataset; Algorithm 1",
    learning="online",
    features=LEARNED,
    bandit="ttts",
)

ALGORITHMS: Registry[Algorithm] = Registry(
    "algorithm",
    "olive_iw.algorithms",
    {
        "breadth-first": _algorithm(
            "Breadth-first search", "Bellemare et al. 2013", planner="breadth-first", features=NONE
        ),
        "iw-1": _algorithm("IW(1) on B-PROST", _LIPOVETZKY, planner="breadth-first"),
        "iw-2": _algorithm(
            "IW(2) on RAM bytes", _LIPOVETZKY, planner="breadth-first", features="ram", width=2
        ),
        "uct": _algorithm(
            "UCT",
            "Kocsis and Szepesvári 2006",
            planner="uct",
            features=NONE,
            bandit="ucb1",
            depth_limit=PLAYOUT_DEPTH,
        ),
        "rollout-iw": _algorithm("Rollout-IW on B-PROST", f"Rollout-IW (RIW); {_BANDRES}"),
        "rollout-iw-ram": _algorithm("Rollout-IW on RAM bytes", _BANDRES, features="ram"),
        "patch-iw": _algorithm(
            "Rollout-IW on patches, top-two", "ours; no learning", features="patches", bandit="ttts"
        ),
        "vae-iw": replace(_vae_iw("VAE-IW", source="VAE-IW; Dittadi et al. 2021"), annealed=False),
        "vae-iw-annealed": _vae_iw("VAE-IW + annealing"),
        "vae-iw-max": _vae_iw("VAE-IW + annealing + max", bandit="max"),
        "vae-iw-ucb1": _vae_iw("VAE-IW + annealing + UCB1", bandit="ucb1"),
        "vae-iw-ttts": _vae_iw("VAE-IW + annealing + top-two", bandit="ttts"),
        "olive-passive": _olive("Passive Olive", selection="random"),
        "olive": _olive("Olive (active)", selection="elbo"),
        "olive-plus": _olive(
            "Olive with our own rules",
            source="ours; docs/better-planning.md",
            selection="elbo",
            ties="longest",
            avoid_twins=True,
            persistence=0.5,
            look_further=0.5,
        ),
    },
)


def make_spec(
    algorithm: str | Algorithm, profile: str = "laptop", seed: int = 0, **settings: Any
) -> Spec:
    """Specification of an algorithm; given settings change its and its profile's own.

    Settings are the fields of `Options`, of `TrainingConfig` and of the profile's network, for
    example `make_spec("olive", width=2, steps=300)`. Of `steps` and `epochs` the one that is given
    takes the place of the other, and seconds_per_action alone means as many calls as fit.
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


def read_spec(fields: Mapping[str, Any], replaced: Collection[str] = ()) -> Spec:
    """Specification of the fields that `Spec.to_dict` gives; the one reader of all files.

    Unknown and missing fields, wrong types and impossible numbers are `InputError`s, and so are
    names of plug-ins that have not been loaded: a file loads no module. Options that are `replaced`
    are not read, but the algorithm's own.
    """
    known = settings_of(Spec)
    names = [name for name in known if name != "parts"]
    if fields.keys() != set(names):
        raise InputError(f"the fields should be {', '.join(names)}, not {', '.join(fields)}")
    name, profile, seed = (typed(name, fields[name], known[name]) for name in names[:3])
    parts, (network, *_) = ALGORITHMS.known(name), PROFILES.known(profile)
    usual = {option: getattr(parts.defaults, option) for option in ADDED.union(replaced)}
    return Spec(
        name,
        profile,
        seed,
        read(Options, fields["options"], usual, replaced),
        read(type(network), fields["network"], ADDED_TO_NETWORK),
        read(TrainingConfig, fields["training"]),
        parts,
    )


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
    options = spec.options
    if not spec.learns:
        features = None if options.features == NONE else make_features(options.features)
        return Agent(spec, make_planner(options, features))
    from olive_iw.features.binary_vae import BinaryVae, build, torch_generator

    weights = torch_generator(generator(spec.seed, NETWORK, 0))
    vae = BinaryVae(build(spec.network, weights), device=device)
    planner = make_planner(options, vae)
    if spec.parts.learning == "offline":
        return Agent(spec, planner, OfflineLearner(spec, vae))
    return Agent(spec, planner, OnlineLearner(spec, vae, planner))


def load_agent(folder: Path | str, device: str = "auto", **settings: Any) -> Agent:
    """Read back an agent that `agent.save(folder)` wrote; it goes on exactly where it stopped.

    Given settings take the place of those it was saved with, for example `search_workers=2`.
    """
    path = Path(folder) / SPEC
    if not path.is_file():
        raise InputError(f"{folder} is not a saved agent: it has no {SPEC}")
    fields = read_json(path)
    if fields.pop("format", None) != FORMAT:
        raise DamagedFileError(path, f"is not a saved agent of this version's format, {FORMAT}")
    given = settings_of(Options).keys() & settings
    try:
        spec = read_spec(fields, given)
    except InputError as error:
        raise DamagedFileError(path, f"is not a saved agent: {error}") from None
    agent = build_agent(spec.changed(**settings), device)
    if agent.learner is not None:
        load_learned(agent.learner, Path(folder))
    return agent
