"""The named algorithms: each a thin assembly of parts, with the paper section it comes from."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from olive_iw.agents import Agent, FixedAgent, OfflineAgent, OnlineAgent, Options, Spec
from olive_iw.agents.base import FORMAT, NETWORK, SPEC
from olive_iw.errors import InputError, unknown_name
from olive_iw.features import Features, make_features
from olive_iw.features.binary_vae import (
    PROFILES,
    BinaryVae,
    TrainingConfig,
    VaeConfig,
    build,
    torch_generator,
)
from olive_iw.planners import UCT, BreadthFirst, ParallelRolloutIW, Planner, Risk, RolloutIW
from olive_iw.planners.uct import PLAYOUT_DEPTH
from olive_iw.randomness import generator
from olive_iw.registry import Registry

Learning: TypeAlias = Literal["none", "offline", "online"]
MakePlanner: TypeAlias = Callable[[Options, Features | None], Planner]


@dataclass(frozen=True, slots=True)
class Algorithm:
    """How an algorithm is put together."""

    title: str
    source: str
    """Where it comes from; sections are the Olive paper's (Ayton and Asai 2022)."""
    make_planner: MakePlanner
    features: str | None = None
    """Fixed features; None where there are none, or learned ones."""
    learning: Learning = "none"
    annealed: bool = True
    """Is the network's temperature annealed from 5 to 0.5, or 0.5 throughout?"""
    selection: str = "random"
    """Which screens Olive learns from."""
    defaults: Options = field(default_factory=Options)


def _rollout_iw(bandit: str) -> MakePlanner:
    def make(options: Options, features: Features | None) -> Planner:
        parts: dict[str, Any] = {
            "features": features,
            "bandit": bandit,
            "width": options.width,
            "when_exhausted": options.when_exhausted,
            "extend_share": options.extend_share,
            "discount": options.discount,
            "depth_limit": options.depth_limit,
            "risk": Risk(averse=options.risk_averse),
        }
        if options.search_workers == 1:
            return RolloutIW(**parts)
        return ParallelRolloutIW(**parts, workers=options.search_workers)

    return make


def _refuse_search_workers(options: Options) -> None:
    if options.search_workers > 1:
        raise InputError(
            f"search_workers = {options.search_workers}: only Rollout-IW and what is built on it "
            "can search with several workers; breadth-first search, IW and UCT cannot"
        )


def _breadth_first(options: Options, features: Features | None) -> Planner:
    _refuse_search_workers(options)
    return BreadthFirst(
        features,
        width=None if features is None else options.width,
        discount=options.discount,
        depth_limit=options.depth_limit,
        risk=Risk(averse=options.risk_averse),
    )


def _uct(options: Options, features: Features | None) -> Planner:
    _refuse_search_workers(options)
    return UCT(
        discount=options.discount,
        depth_limit=options.depth_limit,
        risk=Risk(averse=options.risk_averse),
    )


def _vae_iw(title: str, source: str, bandit: str, **parts: Any) -> Algorithm:
    return Algorithm(title, source, _rollout_iw(bandit), learning="offline", **parts)


def _olive(title: str, selection: str) -> Algorithm:
    return Algorithm(
        title,
        "Updating the Screen Dataset; Algorithm 1",
        _rollout_iw("ttts"),
        learning="online",
        selection=selection,
    )


ALGORITHMS: Registry[Algorithm] = Registry(
    "algorithm",
    "olive_iw.algorithms",
    {
        "breadth-first": Algorithm("Breadth-first search", "Bellemare et al. 2013", _breadth_first),
        "iw-1": Algorithm(
            "IW(1) on B-PROST", "Lipovetzky et al. 2015", _breadth_first, features="bprost"
        ),
        "iw-2": Algorithm(
            "IW(2) on RAM bytes",
            "Lipovetzky et al. 2015",
            _breadth_first,
            features="ram",
            defaults=Options(width=2),
        ),
        "uct": Algorithm(
            "UCT",
            "Kocsis and Szepesvári 2006",
            _uct,
            defaults=Options(depth_limit=PLAYOUT_DEPTH),
        ),
        "rollout-iw": Algorithm(
            "Rollout-IW on B-PROST",
            "Rollout-IW (RIW); Bandres et al. 2018",
            _rollout_iw("uniform"),
            features="bprost",
        ),
        "rollout-iw-ram": Algorithm(
            "Rollout-IW on RAM bytes",
            "Bandres et al. 2018",
            _rollout_iw("uniform"),
            features="ram",
        ),
        "patch-iw": Algorithm(
            "Rollout-IW on patches, top-two",
            "ours; no learning",
            _rollout_iw("ttts"),
            features="patches",
        ),
        "vae-iw": _vae_iw("VAE-IW", "VAE-IW; Dittadi et al. 2021", "uniform", annealed=False),
        "vae-iw-annealed": _vae_iw("VAE-IW + annealing", "Ablation Study", "uniform"),
        "vae-iw-max": _vae_iw("VAE-IW + annealing + max", "Ablation Study", "max"),
        "vae-iw-ucb1": _vae_iw("VAE-IW + annealing + UCB1", "Ablation Study", "ucb1"),
        "vae-iw-ttts": _vae_iw("VAE-IW + annealing + top-two", "Ablation Study", "ttts"),
        "olive-passive": _olive("Passive Olive", "random"),
        "olive": _olive("Olive (active)", "elbo"),
    },
)


def make_spec(
    algorithm: str,
    profile: str = "laptop",
    seed: int = 0,
    options: Options | None = None,
    network: VaeConfig | None = None,
    training: TrainingConfig | None = None,
) -> Spec:
    """Specification of a named algorithm; what is not given takes its or its profile's values."""
    parts = ALGORITHMS[algorithm]
    profile_network, profile_training = _profile(profile)
    if seed < 0:
        raise InputError(f"seed {seed} is not possible; it must be 0 or greater")
    if training is None:
        training = profile_training
        if not parts.annealed:
            training = replace(training, temperature_max=training.temperature_min)
    options = options or parts.defaults
    return Spec(algorithm, profile, seed, options, network or profile_network, training)


def _profile(name: str) -> tuple[VaeConfig, TrainingConfig]:
    if name not in PROFILES:
        raise unknown_name("profile", name, PROFILES)
    return PROFILES[name]


def make_agent(
    algorithm: str,
    profile: str = "laptop",
    seed: int = 0,
    options: Options | None = None,
    network: VaeConfig | None = None,
    training: TrainingConfig | None = None,
    device: str = "auto",
) -> Agent:
    """Agent of a named algorithm, not trained yet. `device` is where its network is trained."""
    spec = make_spec(algorithm, profile, seed, options, network, training)
    return build_agent(spec, device)


def build_agent(spec: Spec, device: str = "auto") -> Agent:
    """Agent of a specification, not trained yet."""
    parts, options = ALGORITHMS[spec.algorithm], spec.options
    if parts.learning == "none":
        features = None if parts.features is None else make_features(parts.features)
        return FixedAgent(spec, parts.make_planner(options, features))
    weights = torch_generator(generator(spec.seed, NETWORK, 0))
    vae = BinaryVae(build(spec.network, weights), device=device)

    def make_planner(features: Features) -> Planner:
        return parts.make_planner(options, features)

    if parts.learning == "offline":
        return OfflineAgent(spec, vae, make_planner)
    return OnlineAgent(spec, vae, make_planner, parts.selection)


def load_agent(folder: Path | str, device: str = "auto", **options: Any) -> Agent:
    """Read back an agent that `agent.save(folder)` wrote; it goes on exactly where it stopped.

    `options` take the place of those it was saved with, for example `search_workers=2`.
    """
    folder = Path(folder)
    spec = _read_spec(folder / SPEC)
    agent = build_agent(replace(spec, options=replace(spec.options, **options)), device)
    agent.load_learned(folder)
    return agent


def _read_spec(path: Path) -> Spec:
    try:
        fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not a saved agent: {error}") from None
    if fields.pop("format", None) != FORMAT:
        raise InputError(f"{path} was written in another format than this version's ({FORMAT})")
    try:
        network = type(_profile(fields["profile"])[0])
        return Spec(
            algorithm=fields["algorithm"],
            profile=fields["profile"],
            seed=fields["seed"],
            options=Options(**fields["options"]),
            network=network(**fields["network"]),
            training=TrainingConfig(**fields["training"]),
        )
    except (KeyError, TypeError) as error:
        raise InputError(f"{path} is not a saved agent: {error}") from None
