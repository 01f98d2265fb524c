"""What makes an agent what it is, and what tells it from others: its specification."""

import hashlib
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias

from olive_iw import settings
from olive_iw.agents.format1 import OF_0_2
from olive_iw.agents.parts import (
    AS_MANY_AS_FIT,
    Chosen,
    Decisions,
    Given,
    Options,
    Simulation,
    valued,
)
from olive_iw.errors import InputError, unknown_name
from olive_iw.features import Features
from olive_iw.features.vae import PROFILES, LaptopConfig, Profile, TrainingConfig
from olive_iw.planners import PLANNERS, Planner
from olive_iw.randomness import child_seed
from olive_iw.rules import RULES
from olive_iw.search.rule import Rule
from olive_iw.settings import Range, by_name
from olive_iw.simulators import Simulator, is_environment, make_simulator

if TYPE_CHECKING:
    from olive_iw.simulators.gymnasium_states import Environment

if TYPE_CHECKING:
    from olive_iw.agents.agent import Agent

Learning: TypeAlias = Literal["none", "offline", "online", "sequences", "policy", "scheduled"]
FORMAT = 2
"""Of files that hold a specification: a run's config.toml and a saved agent's agent.json."""
LONGEST_LABEL = 120
TRAINING, EVALUATION, NETWORK, SELECTION, RESERVOIR, REPLAY = range(6)
"""Keys of the generators of a run: each part of it has one of its own."""


@dataclass(frozen=True, slots=True)
class Family:
    """What algorithms that learn alike, or nothing, have in common."""

    build: Callable[["Spec", str], "Agent"]
    """Puts an agent of a specification together; its network is trained on a device."""
    learning: Learning = "none"
    """none: the features are given; offline: learned once, before it plays (VAE-IW); online:
    learned while it plays (Olive); sequences: no features, but which actions to do (the Brute);
    policy: a policy that guides the planner, from each of its decisions (π-IW); scheduled: such a
    policy at times, taken back if scores fall (N-CPL)."""
    plans: bool = True
    features: type | None = Given
    """Options of its features; None: they are learned, or there are none."""
    search: type | None = None
    """Options of its own planner, where they are not those of all planners of its kind."""
    learner: type | None = None
    """Options of how it learns."""
    check: Callable[["Spec"], None] | None = None
    """Raises `InputError` if options contradict each other."""


@dataclass(frozen=True, slots=True)
class Algorithm:
    """How an algorithm is put together."""

    title: str
    source: str
    """Where it comes from; sections are the Olive paper's (Ayton and Asai 2022)."""
    family: Family
    own: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Its own settings, by name, where they are not those of its parts."""
    mechanisms: tuple[type, ...] = ()
    """Options that its planner has in this algorithm only: rules, and what else can `adapt` the
    arguments of a planner."""
    caveat: str = ""
    """What must be said wherever its name is shown."""
    annealed: bool = True
    """Is the network's temperature annealed from 5 to 0.5, or 0.5 throughout?"""
    profiles: Mapping[str, Profile] = field(default_factory=dict, hash=False)
    """Its own network, training and numbers by profile, where they are not the profile's."""

    @property
    def learning(self) -> Learning:
        """How it learns."""
        return self.family.learning

    @property
    def learns_features(self) -> bool:
        """Whether it trains a network that turns screens into bits."""
        return self.learning in ("offline", "online")

    @property
    def learns_policy(self) -> bool:
        """Whether it trains a network that guides the planner."""
        return self.learning in ("policy", "scheduled")

    @property
    def trains_network(self) -> bool:
        """Whether it trains either."""
        return self.learns_features or self.learns_policy

    @property
    def description(self) -> str:
        """Title and source, in a line."""
        return f"{self.title} ({self.source})"

    @property
    def planner(self) -> Any:
        """Its planner."""
        return self.own.get("planner", Chosen.planner)

    def profile(self, name: str) -> Profile:
        """Network, training and numbers under a profile."""
        usual = PROFILES[name]  # a plug-in may be a pair
        if self.profiles:
            usual = self.profiles.get(name, self.profiles["laptop"])
        network, training, reading = Profile(*usual)
        if not self.annealed and isinstance(training, TrainingConfig):
            training = replace(training, temperature_max=training.temperature_min)
        return Profile(network, training, reading if self.trains_network else {})

    def options(self, profile: str, planner: Any = None) -> Options:
        """Return its options under a profile, with its own planner or with another one."""
        return Options(tuple(self._parts(self.profile(profile), planner or self.planner)))

    def planner_of(self, value: Any, replaced: Mapping[str, Any]) -> Any:
        """Return the planner that a file names; what takes its place if nobody here knows it."""
        if "planner" in replaced and not (isinstance(value, str) and value in PLANNERS.loaded):
            return replaced["planner"]
        kind = settings.settings_of(Chosen)["planner"]
        return None if value is None else settings.typed("planner", value, kind, in_file=True)

    def _parts(self, profile: Profile, planner: Any) -> Iterator[tuple[str, Any]]:
        values = {**profile.reading, **self.own}
        yield "decisions", valued(Decisions, values)
        if self.family.plans:
            for table, part in self._planning(profile, planner):
                neutral = part.neutral if issubclass(part, Rule) else {}
                yield table, valued(part, {**neutral, **values, "planner": planner})
        yield "simulator", valued(Simulation, values)
        if self.family.learner is not None:
            yield "learning", valued(self.family.learner, values)
        if self.trains_network:
            yield "network", profile.network
            yield "training", profile.training

    def _planning(self, profile: Profile, planner: Any) -> Iterator[tuple[str, type]]:
        """Name the parts that a planner has here."""
        kind = kind_of(planner)
        if self.trains_network and (kind is None or not kind.takes_features):
            raise InputError(f"the planner {by_name(planner)} takes no features to be learned")
        yield "search", Chosen
        if kind is None:
            return
        own = kind is kind_of(self.planner)
        mechanisms = self.mechanisms if own else ()
        if kind.takes_features and self.family.features is not None:
            yield "search", self.family.features
        yield "search", self.family.search if own and self.family.search else kind.options
        rules = [it for it in mechanisms if issubclass(it, Rule)]
        yield from (("search", it) for it in mechanisms if it not in rules)
        taken = {name for rule in rules for name in settings.settings_of(rule)}
        network = profile.network if self.learns_features else None
        for rule in RULES.loaded.values():
            means = rule.neutral and (not rule.needs or hasattr(network, rule.needs))
            if means and kind.heeds(rule()) and not taken & settings.settings_of(rule).keys():
                yield "rules", rule
        yield from (("rules", rule) for rule in rules)


def kind_of(planner: Any) -> type[Planner] | None:
    """Kind of a planner that is named or is a class; None if it is a planner, ready to search."""
    make = PLANNERS[planner] if isinstance(planner, str) else planner
    if isinstance(make, Planner):
        return None
    make = getattr(make, "func", make)  # of functools.partial
    return make if isinstance(make, type) and issubclass(make, Planner) else Planner


@dataclass(frozen=True, slots=True)
class Spec:
    """All that makes an agent what it is: the same specification gives the same agent."""

    algorithm: str
    """Its name."""
    profile: str
    seed: Annotated[int, Range(0, 2**63 - 1)]
    options: Options
    """All its settings."""
    parts: Algorithm
    """The algorithm that the name stands for."""

    def __post_init__(self) -> None:
        settings.check(self)
        if self.parts.family.check is not None:
            self.parts.family.check(self)

    @classmethod
    def usual(
        cls, algorithm: str, profile: str, seed: int, parts: Algorithm, planner: Any = None
    ) -> Self:
        """Return an algorithm's defaults under a profile, maybe with another planner."""
        return cls(algorithm, profile, seed, parts.options(profile, planner), parts)

    @property
    def decisions(self) -> Decisions:
        """What a decision may spend."""
        (decisions,) = self.options.table("decisions")
        assert isinstance(decisions, Decisions)
        return decisions

    @property
    def network(self) -> Any:
        """How large its network is; None if it has none."""
        return next(iter(self.options.table("network")), None)

    @property
    def training(self) -> Any:
        """How its network is trained; None if it has none."""
        return next(iter(self.options.table("training")), None)

    @property
    def learns(self) -> bool:
        """Whether it has a training."""
        return self.parts.learning != "none"

    @property
    def needs_torch(self) -> bool:
        """Whether it has a network that is written with torch."""
        is_laptops = isinstance(self.network, LaptopConfig)
        return self.parts.learns_policy or (self.parts.learns_features and not is_laptops)

    def settings(self) -> dict[str, Any]:
        """All settings by name, parts as they are; those of version 0.2.0 come in its order."""
        order = {name: place for place, name in enumerate(OF_0_2)}
        values = self.options.values()
        return {name: values[name] for name in sorted(values, key=lambda it: order.get(it, 1000))}

    def changed(self, **given: Any) -> "Spec":
        """Return the same with some settings changed, and what they imply.

        Of `steps` and `epochs` the one that is given takes the place of the other, and
        seconds_per_action without calls_per_action means as many calls as fit. With another
        frame_skip alone, an algorithm that leaves actions out begins with it after as many frames
        as before. What the algorithm, or the planner that is given, does not have is an
        `InputError`.
        """
        if not given:
            return self
        given, base = self._implied(given), self
        if "planner" in given and "planner" in self.options.kinds:
            settings.typed("planner", given["planner"], self.options.kinds["planner"][1])
            identity = (self.algorithm, self.profile, self.seed, self.parts)
            base, given = Spec.usual(*identity, given["planner"]), self.changes() | given
        for name in given:
            if name not in base.options.kinds:
                raise base.no_option(name)
        return replace(base, options=base.options.changed(**given))

    def _implied(self, given: dict[str, Any]) -> dict[str, Any]:
        """Complete given settings by those that follow from them."""
        own = dict(given)
        if own.get("seconds_per_action") is not None:
            own.setdefault("calls_per_action", AS_MANY_AS_FIT)
        for one, other in (("steps", "epochs"), ("epochs", "steps")):
            if own.get(one) is not None and other in self.options.kinds:
                own.setdefault(other, None)
        if not self.parts.annealed and "temperature_min" in own:
            own.setdefault("temperature_max", own["temperature_min"])
        if "prune_after" in self.options.kinds and isinstance(own.get("frame_skip"), int):
            frames = self.options.prune_after * self.options.frame_skip
            own.setdefault("prune_after", math.ceil(frames / max(1, own["frame_skip"])))
        return own

    def no_option(self, name: str) -> InputError:
        """Say that there is no such option, and which are like it."""
        if name in ("options", "training", "network"):
            example = f"make_agent({self.algorithm!r}, calls_per_action=50)"
            return InputError(f"{name} is given setting by setting, for example {example}")
        for profile in PROFILES.loaded:
            there = self.parts.options(profile, self.options.get("planner")).kinds
            if name in there and profile != self.profile:
                words = f"{name} is an option of {self.algorithm} under the profile {profile}"
                return InputError(f"{words}, not under {self.profile}")
        return unknown_name(f"option of {self.who}", name, self.options.kinds)

    @property
    def who(self) -> str:
        """Whose options these are: the algorithm's, or those that it has with another planner."""
        planner = self.options.get("planner", self.parts.planner)
        other = "" if planner == self.parts.planner else f" with the planner {by_name(planner)}"
        return self.algorithm + other

    def changes(self) -> dict[str, Any]:
        """Return the settings that differ from the algorithm's defaults under its profile."""
        usual = self.parts.options(self.profile, self.options.get("planner")).values()
        if "planner" in usual:
            usual["planner"] = self.parts.planner
        # Of epochs and steps, the one that is given says that the other is not.
        return {
            name: value
            for name, value in self.settings().items()
            if value != usual[name] and (name not in ("epochs", "steps") or value)
        }

    @property
    def variant(self) -> str:
        """What differs from the defaults, in words: `width=2,discount=0.5`; empty if nothing does.

        Parts that are objects go by the names of their classes.
        """
        return ",".join(f"{name}={settings.short(it)}" for name, it in self.changes().items())

    @property
    def label(self) -> str:
        """Name of this specification's folder, and in reports: `iw-2-laptop,discount=0.5`.

        A longer one than 120 characters ends in digits that stand for the rest.
        """
        parts = (f"{self.algorithm}-{self.profile}", self.variant)
        label = re.sub(r"[^\w.,=+-]", "-", ",".join(filter(None, parts)))
        if len(label) <= LONGEST_LABEL:
            return label
        digits = hashlib.sha256(label.encode()).hexdigest()[:8]
        return f"{label[: LONGEST_LABEL - 9]}-{digits}"

    def to_dict(self) -> dict[str, Any]:
        """Fields of files, for `olive_iw.algorithms.read_spec`: parts by name, None left out."""
        fields = {name: getattr(self, name) for name in ("algorithm", "profile", "seed")}
        return fields | self.options.to_tables()

    def make_planner(self, features: Features | None) -> Planner:
        """Make its planner, on some features (None: it prunes nothing)."""
        return make_planner(self.options, features)

    def make_simulator(self, game: str) -> Simulator:
        """Make the game as this agent's calls and actions are meant: see `frame_skip`."""
        kind, colon, _ = game.partition(":")
        names = ("frame_skip", "action_set")
        if not colon or kind in ("atari", "retro"):
            return make_simulator(game, **{name: getattr(self.options, name) for name in names})
        for name in names:
            if name in self.changes():
                raise InputError(f"{name} is for Atari games, not for {game}")
        return make_simulator(game, **(self.options.of_environments() if kind == "gym" else {}))

    def simulator_of(self, env: "Simulator | Environment") -> Simulator:
        """Make the simulator that this agent plans in: of an environment, or the one given."""
        options = self.options.of_environments() if is_environment(env) else {}
        return make_simulator(env, **options)

    def evaluation_seed(self, number: int) -> int:
        """Seed of the planner in an evaluation episode."""
        return child_seed(self.seed, EVALUATION, number)


def make_planner(options: Options, features: Features | None) -> Planner:
    """Make the planner that options name; each part says what it is made with."""
    planner = options.planner
    if isinstance(planner, Planner):
        return planner
    make, kind = PLANNERS[planner] if isinstance(planner, str) else planner, kind_of(planner)
    arguments: dict[str, Any] = {}
    if kind is not None and kind.takes_features:
        arguments["features"] = features
    for part in options.table("search"):
        if hasattr(part, "adapt"):
            part.adapt(arguments)
    if rules := [rule for rule in options.table("rules") if rule.acts]:
        arguments["rules"] = rules
    made: Planner = make(**arguments)
    made.reseed_search = options.reseed_search
    return made
