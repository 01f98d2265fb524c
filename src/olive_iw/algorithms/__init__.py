"""The named algorithms: each a thin assembly of parts, with the paper section it comes from."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from olive_iw.agents import (
    Agent,
    Algorithm,
    BrutePlayer,
    OfflineLearner,
    OnlineLearner,
    Options,
    SequenceLearner,
    Spec,
)
from olive_iw.agents.agent import FORMAT, SPEC
from olive_iw.agents.options import ADDED, LEARNED, NONE, POLICY
from olive_iw.agents.planning import make_planner
from olive_iw.agents.removed import RemovedOptionError, split
from olive_iw.agents.spec import NETWORK, Learning
from olive_iw.errors import DamagedFileError, InputError, needing
from olive_iw.features import make_features
from olive_iw.features.vae import ADDED_TO_NETWORK, PROFILES
from olive_iw.planners import Planner
from olive_iw.planners.uct import PLAYOUT_DEPTH
from olive_iw.policy import (
    N_CPL,
    PI_IW,
    PI_IW_PLUS,
    DecisionTraining,
    PolicyConfig,
    PolicyTraining,
)
from olive_iw.randomness import generator
from olive_iw.reading import read_json, refuse_odd
from olive_iw.registry import Registry
from olive_iw.settings import read, settings_of, typed


def _algorithm(title: str, source: str, learning: Learning = "none", **parts: Any) -> Algorithm:
    return Algorithm(title, source, learning, defaults=Options(**parts))


_LIPOVETZKY, _BANDRES = "Lipovetzky et al. 2015", "Bandres et al. 2018"
_SHLEYFMAN, _JINNAI = "Shleyfman et al. 2016", "Jinnai and Fukunaga 2017"
_ATARI_2015 = partial(
    _algorithm,
    features="ram",
    discount=0.995,
    depth_limit=300,
    risk_averse=False,
    frame_skip=5,
    action_set="full",
)
"""What IW(1), 2BFS, p-IW and DASA share: RAM, all actions of 5 frames, no risk aversion."""
_vae_iw = partial(_algorithm, source="Ablation Study", learning="offline", features=LEARNED)
_JUNYENT = "Junyent et al."
_pi_iw = partial(
    _algorithm,
    learning="policy",
    features=POLICY,
    bandit="policy",
    risk_averse=False,
)
_plus = partial(
    _pi_iw,
    over_in_table=False,
    value_everywhere=True,
    action_temperature=0.01,
    size_temperature=1.0,
)
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
        "iw-1-ram": _ATARI_2015(
            "IW(1) on RAM bytes", _LIPOVETZKY, planner="breadth-first", kept_nodes="retested"
        ),
        "2bfs": _ATARI_2015("2BFS on RAM bytes", _LIPOVETZKY, planner="2bfs"),
        "p-iw": _ATARI_2015(
            "p-IW(1) on RAM bytes", _SHLEYFMAN, planner="p-iw", kept_nodes="retested"
        ),
        "racing-p-iw": replace(
            _ATARI_2015(
                "Racing p-IW, a reconstruction",
                f"ours, after {_SHLEYFMAN}",
                planner="racing-p-iw",
                kept_nodes="retested",
            ),
            caveat="reconstruction",
        ),
        "dasa": _ATARI_2015(
            "DASA: IW(1) on RAM bytes",
            _JINNAI,
            planner="breadth-first",
            kept_nodes="retested",
            prune_actions="dasa",
        ),
        "brute": _algorithm(
            "The Brute",
            "Bellemare et al. 2015",
            learning="sequences",
            planner=NONE,
            features=NONE,
            frame_skip=5,
            training_actions=3_600,
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
        "rollout-iw-2018": _algorithm(
            "Rollout-IW on B-PROST as its authors ran it (RAS)",
            _BANDRES,
            reward_strata=True,
            ties="highest-zero",
            kept_nodes="known",
            root_in_table=False,
            over_in_table=False,
            untried_value="zero",
            max_repeats=2,
            life_replaces=True,
            discount=1.0,
            depth_limit=1_500,
            action_set="full",
        ),
        "patch-iw": _algorithm(
            "Rollout-IW on patches, top-two", "ours; no learning", features="patches", bandit="ttts"
        ),
        "value-iw": _algorithm(
            "Rollout-IW on numbers, top-two, our own rules",
            "ours; no learning",
            features="values",
            bandit="ttts",
            risk_averse=False,
            ties="longest",
            avoid_twins=True,
            safe_steps=8,
            persistence=0.5,
            look_further=0.5,
            beyond_usual=True,
            outlook=True,
            recall=True,
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
            fit="grain",
            ties="longest",
            avoid_twins=True,
            safe_steps=8,
            persistence=0.5,
            look_further=0.5,
        ),
        "pi-iw": replace(
            _pi_iw("π-IW", f"{_JUNYENT} 2019", root_in_table=False, kept_nodes="known"),
            profiles=PI_IW,
        ),
        "n-cpl": replace(
            _pi_iw(
                "N-CPL",
                "O'Toole et al. 2021",
                learning="scheduled",
                features="pixels",
                novelty="classic",
                kept_nodes="free",
                discount=1.0,
                tie_tolerance=1e-7,
            ),
            profiles=N_CPL,
        ),
        "pi-iw-plus": replace(
            _plus("π-IW+", f"{_JUNYENT} 2021", kept_nodes="first"), profiles=PI_IW_PLUS
        ),
        "hiw": replace(_plus("π-HIW", f"{_JUNYENT} 2021", planner="hiw"), profiles=PI_IW_PLUS),
    },
)


def shown_name(name: str) -> str:
    """Return an algorithm's name as people are shown it: with its caveat, if it has one."""
    caveat = ALGORITHMS.loaded[name].caveat if name in ALGORITHMS.loaded else ""
    return f"{name} ({caveat})" if caveat else name


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
    are not read, but the algorithm's own. What asks for an option that is no more cannot be planned
    with, which is a `RemovedOptionError`.
    """
    spec, asked = read_recorded(fields, replaced)
    if asked:
        raise RemovedOptionError(asked)
    return spec


def read_recorded(
    fields: Mapping[str, Any], replaced: Collection[str] = ()
) -> tuple[Spec, dict[str, Any]]:
    """Specification as `read_spec` gives it, and options that the file has and that are no more.

    Where there are such options, the specification alone is not what made the decisions.
    """
    known = settings_of(Spec)
    names = [name for name in known if name != "parts"]
    if fields.keys() != set(names):
        raise InputError(f"the fields should be {', '.join(names)}, not {', '.join(fields)}")
    name, profile, seed = (typed(name, fields[name], known[name]) for name in names[:3])
    parts = ALGORITHMS.known(name)
    PROFILES.known(profile)
    own = Spec.usual(name, profile, seed, parts)
    usual = {option: getattr(parts.defaults, option) for option in ADDED.union(replaced)}
    given, asked = split(fields["options"], replaced)
    usual |= {option: getattr(own.options, option) for option in asked if option in usual}
    options = read(Options, given, usual, replaced)
    spec = Spec(
        name,
        profile,
        seed,
        options,
        read(type(own.network), fields["network"], {} if parts.profiles else ADDED_TO_NETWORK),
        read(type(own.training), fields["training"]),
        parts,
    )
    return spec, asked


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
    if spec.parts.learning == "sequences":
        player = BrutePlayer()
        return Agent(spec, player, SequenceLearner(spec, player))
    if spec.parts.learns_policy:
        return _with_policy(spec, device)
    from olive_iw.features.vae import BinaryVae, new_network

    assert not isinstance(spec.network, PolicyConfig)
    vae = BinaryVae(new_network(spec.network, generator(spec.seed, NETWORK, 0), device))
    planner = make_planner(options, vae)
    if spec.parts.learning == "offline":
        return Agent(spec, planner, OfflineLearner(spec, vae))
    return Agent(spec, planner, OnlineLearner(spec, vae, planner))


def _with_policy(spec: Spec, device: str) -> Agent:
    """Agent whose planner a policy guides."""
    with needing("torch", f"{spec.algorithm}, which learns a policy,"):
        from olive_iw.agents.guided import PolicyLearner
        from olive_iw.features.vae.devices import torch_generator
        from olive_iw.policy import PolicyGuide
        from olive_iw.policy.schedule import ScheduledTrainer
        from olive_iw.policy.trainer import DecisionTrainer

    config, training, named = spec.network, spec.training, spec.options.features
    assert isinstance(config, PolicyConfig)
    assert isinstance(training, PolicyTraining)

    def make() -> tuple[PolicyGuide, Planner]:
        guide = PolicyGuide(
            config,
            lambda: torch_generator(generator(spec.seed, NETWORK, 0)),
            atoms=None if named == POLICY else make_features(named),
            guides=isinstance(training, DecisionTraining) and not training.uniform_start,
            device=device,
        )
        return guide, make_planner(spec.options, guide)

    guide, planner = make()
    trains = ScheduledTrainer if spec.parts.learning == "scheduled" else DecisionTrainer
    trainer = trains(training, guide, planner)
    return Agent(spec, planner, PolicyLearner(spec, trainer, lambda: make()[1]))


def load_agent(folder: Path | str, device: str = "auto", **settings: Any) -> Agent:
    """Read back an agent that `agent.save(folder)` wrote; it goes on exactly where it stopped.

    Given settings take the place of those it was saved with, for example `search_workers=2`.
    """
    path = Path(folder) / SPEC
    if not path.exists():
        raise InputError(f"{folder} is not a saved agent: it has no {SPEC}")
    refuse_odd(path.parent.iterdir())
    fields = read_json(path)
    if fields.pop("format", None) != FORMAT:
        raise DamagedFileError(path, f"is not a saved agent of this version's format, {FORMAT}")
    given = settings_of(Options).keys() & settings
    try:
        spec = read_spec(fields, given)
    except RemovedOptionError as error:
        raise DamagedFileError(path, str(error)) from None
    except InputError as error:
        raise DamagedFileError(path, f"is not a saved agent: {error}") from None
    agent = build_agent(spec.changed(**settings), device)
    if agent.learner is not None:
        agent.learner.load(Path(folder))
    return agent
