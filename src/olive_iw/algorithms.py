"""The named algorithms: each a thin assembly of parts, with the paper section it comes from."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from olive_iw.agents import Agent, Algorithm, OfflineLearner, OnlineLearner, Options, Spec
from olive_iw.agents.agent import FORMAT, SPEC
from olive_iw.agents.base import NETWORK
from olive_iw.agents.learning import load_learned
from olive_iw.agents.options import ADDED, LEARNED, NONE
from olive_iw.agents.planning import check_planner, make_planner
from olive_iw.errors import DamagedFileError, InputError
from olive_iw.features import make_features
from olive_iw.features.binary_vae import ADDED_TO_NETWORK, PROFILES, TrainingConfig
from olive_iw.planners.uct import PLAYOUT_DEPTH
from olive_iw.randomness import generator
from olive_iw.reading import read_json
from olive_iw.registry import Registry
from olive_iw.settings import read, settings_of, typed


def _breadth_first(title: str, source: str, features: str, width: int = 1) -> Algorithm:
    defaults = Options(planner="breadth-first", features=features, width=width)
    return Algorithm(title, source, defaults=defaults)


def _rollout_iw(title: str, source: str, features: str, bandit: str = "uniform") -> Algorithm:
    return Algorithm(title, source, defaults=Options(features=features, bandit=bandit))


def _vae_iw(
    title: str, bandit: str, source: str = "Ablation Study", annealed: bool = True
) -> Algorithm:
    defaults = Options(features=LEARNED, bandit=bandit)
    return Algorithm(title, source, "offline", annealed, defaults)


def _olive(title: str, selection: str) -> Algorithm:
    defaults = Options(features=LEARNED, bandit="ttts", selection=selection)
    source = "Updating the Screen Dataset; Algorithm 1"
    return Algorithm(title, source, "online", defaults=defaults)


_LIPOVETZKY, _BANDRES = "Lipovetzky et al. 2015", "Bandres et al. 2018"

ALGORITHMS: Registry[Algorithm] = Registry(
    "algorithm",
    "olive_iw.algorithms",
    {
        "breadth-first": _breadth_first("Breadth-first search", "Bellemare et al. 2013", NONE),
        "iw-1": _breadth_first("IW(1) on B-PROST", _LIPOVETZKY, "bprost"),
        "iw-2": _breadth_first("IW(2) on RAM bytes", _LIPOVETZKY, "ram", width=2),
        "uct": Algorithm(
            "UCT",
            "Kocsis and Szepesvári 2006",
            defaults=Options(
                planner="uct", features=NONE, bandit="ucb1", depth_limit=PLAYOUT_DEPTH
            ),
        ),
        "rollout-iw": _rollout_iw(
            "Rollout-IW on B-PROST", f"Rollout-IW (RIW); {_BANDRES}", "bprost"
        ),
        "rollout-iw-ram": _rollout_iw("Rollout-IW on RAM bytes", _BANDRES, "ram"),
        "patch-iw": _rollout_iw(
            "Rollout-IW on patches, top-two", "ours; no learning", "patches", "ttts"
        ),
        "vae-iw": _vae_iw("VAE-IW", "uniform", "VAE-IW; Dittadi et al. 2021", annealed=False),
        "vae-iw-annealed": _vae_iw("VAE-IW + annealing", "uniform"),
        "vae-iw-max": _vae_iw("VAE-IW + annealing + max", "max"),
        "vae-iw-ucb1": _vae_iw("VAE-IW + annealing + UCB1", "ucb1"),
        "vae-iw-ttts": _vae_iw("VAE-IW + annealing + top-two", "ttts"),
        "olive-passive": _olive("Passive Olive", "random"),
        "olive": _olive("Olive (active)", "elbo"),
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
    network, training = PROFILES[profile]
    training = parts.training(training)
    usual = Spec(name, profile, seed, parts.defaults, network, training, parts)
    spec = usual.changed(**settings)
    check_planner(spec.options, parts.defaults)
    return spec


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


def read_spec(fields: Mapping[str, Any], **settings: Any) -> Spec:
    """Specification of the fields that `Spec.to_dict` gives; the one reader of all files.

    Unknown and missing fields, wrong types and impossible numbers are `InputError`s, and so are
    names of plug-ins that have not been loaded: a file loads no module. Given settings take the
    place of the file's.
    """
    known = settings_of(Spec)
    names = [name for name in known if name != "parts"]
    if fields.keys() != set(names):
        raise InputError(f"the fields should be {', '.join(names)}, not {', '.join(fields)}")
    name, profile, seed = (typed(name, fields[name], known[name]) for name in names[:3])
    parts, (network, _) = ALGORITHMS.known(name), PROFILES.known(profile)
    given = settings_of(Options).keys() & settings
    usual = {option: getattr(parts.defaults, option) for option in ADDED | given}
    spec = Spec(
        name,
        profile,
        seed,
        read(Options, fields["options"], usual, given),
        read(type(network), fields["network"], ADDED_TO_NETWORK),
        read(TrainingConfig, fields["training"]),
        parts,
    )
    return spec.changed(**settings)


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
    vae = BinaryVae(build(spec.network, weights), device=device, grain=options.grain)
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
    try:
        spec = read_spec(fields, **settings)
    except InputError as error:
        raise DamagedFileError(path, f"is not a saved agent: {error}") from None
    agent = build_agent(spec, device)
    if agent.learner is not None:
        load_learned(agent.learner, Path(folder))
    return agent
