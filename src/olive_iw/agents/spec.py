"""What makes an agent what it is, and what tells it from others: its specification."""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias

from olive_iw import settings
from olive_iw.agents.options import AS_MANY_AS_FIT, LEARNED, NONE, POLICY, Options
from olive_iw.agents.planning import check_planner
from olive_iw.errors import InputError, unknown_name
from olive_iw.features.base import check_grain
from olive_iw.features.vae import PROFILES, LaptopConfig, Profile, TrainingConfig, VaeConfig
from olive_iw.policy import PolicyConfig, PolicyTraining
from olive_iw.randomness import child_seed
from olive_iw.settings import Range, by_name
from olive_iw.simulators import Simulator, is_environment, make_simulator

if TYPE_CHECKING:
    from olive_iw.simulators.gymnasium_states import Environment

Learning: TypeAlias = Literal["none", "offline", "online", "sequences", "policy", "scheduled"]
LONGEST_LABEL = 120
TABLES = ("options", "network", "training")
"""Fields of a specification that hold settings."""
TRAINING, EVALUATION, NETWORK, SELECTION, RESERVOIR, REPLAY = range(6)
"""Keys of the generators of a run: each part of it has one of its own."""


@dataclass(frozen=True, slots=True)
class Algorithm:
    """How an algorithm is put together."""

    title: str
    source: str
    """Where it comes from; sections are the Olive paper's (Ayton and Asai 2022)."""
    learning: Learning = "none"
    """none: the features are given; offline: learned once, before it plays (VAE-IW); online:
    learned while it plays (Olive); sequences: no features, but which actions to do (the Brute);
    policy: a policy that guides the planner, from each of its decisions (π-IW); scheduled: such a
    policy at times, taken back if scores fall (N-CPL)."""
    caveat: str = ""
    """What must be said wherever its name is shown."""
    annealed: bool = True
    """Is the network's temperature annealed from 5 to 0.5, or 0.5 throughout?"""
    defaults: Options = field(default_factory=Options)
    """Its parts and numbers, where none are given."""
    profiles: Mapping[str, Profile] = field(default_factory=dict, hash=False)
    """Its own network, training and numbers by profile, where they are not the profile's."""

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


@dataclass(frozen=True, slots=True)
class Spec:
    """All that makes an agent what it is: the same specification gives the same agent."""

    algorithm: str
    """Its name."""
    profile: str
    seed: Annotated[int, Range(0, 2**63 - 1)]
    options: Options
    network: VaeConfig | PolicyConfig
    """Unused by algorithms that do not learn, like `training`."""
    training: TrainingConfig | PolicyTraining
    parts: Algorithm
    """The algorithm that the name stands for."""

    def __post_init__(self) -> None:
        settings.check(self)
        learned = self.options.features == LEARNED
        learns_features, plans = self.parts.learns_features, self.options.planner != NONE
        if plans == (self.parts.learning == "sequences"):
            words = f"planner = {by_name(self.options.planner)}: {self.algorithm}"
            raise InputError(f"{words} {'needs one' if not plans else 'plans nothing'}")
        if not isinstance(self.training, TrainingConfig) or isinstance(self.network, PolicyConfig):
            self._check_policy()
            return
        if self.options.features == POLICY:
            raise InputError(f"features = {POLICY}: {self.algorithm} has no policy; pi-iw has")
        if learns_features and not learned:
            raise InputError(
                f"features = {by_name(self.options.features)}: {self.algorithm} learns its "
                "features; collection_features are those that it begins with"
            )
        if learned and not learns_features:
            raise InputError(f"features = {LEARNED}: {self.algorithm} learns none; olive does")
        if learns_features:
            check_grain(self.options.grain, self.network.bits)
        if self.options.training_mode and not (
            learns_features and hasattr(self.network, "dropout")
        ):
            raise InputError("training_mode is for algorithms that learn under the profile paper")
        hot, cold = self.training.temperature_max, self.training.temperature_min
        if not self.parts.annealed and hot != cold:
            raise InputError(
                f"temperature_max = {hot}: {self.algorithm} trains at one temperature (here "
                f"{cold}); vae-iw-annealed is the same algorithm with annealing"
            )

    def _check_policy(self) -> None:
        if self.options.features == LEARNED:
            raise InputError(f"features = {LEARNED}: {self.algorithm} learns none; olive does")
        if self.options.grain > 1 or self.options.noise or self.options.training_mode:
            raise InputError("grain, noise and training_mode are for learned features of bits")
        if self.options.search_workers > 1:
            raise InputError(f"search_workers: {self.algorithm} has no such option; it must be 1")
        if getattr(self.network, "batch_norm", False) and self.training.batch < 2:
            raise InputError("batch = 1 is not possible with batch_norm; it must be at least 2")

    @classmethod
    def usual(cls, algorithm: str, profile: str, seed: int, parts: Algorithm) -> Self:
        """Return an algorithm's defaults under a profile."""
        usual = PROFILES[profile]  # a plug-in may be a pair
        if parts.profiles:
            usual = parts.profiles.get(profile, parts.profiles["laptop"])
        network, training, reading = Profile(*usual)
        if not parts.annealed and isinstance(training, TrainingConfig):
            training = replace(training, temperature_max=training.temperature_min)
        options = parts.defaults
        if parts.trains_network:
            plain = Options()
            own = {name for name in reading if getattr(options, name) != getattr(plain, name)}
            options = replace(options, **{name: reading[name] for name in reading.keys() - own})
        return cls(algorithm, profile, seed, options, network, training, parts)

    def _usual(self) -> "Spec":
        return Spec.usual(self.algorithm, self.profile, self.seed, self.parts)

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
        """All settings in one flat dictionary: options, network, training; parts as they are."""
        configs = [getattr(self, table) for table in TABLES]
        return {name: value for config in configs for name, value in _values(config).items()}

    def changed(self, **given: Any) -> "Spec":
        """Return the same with some settings changed, and what they imply.

        Of `steps` and `epochs` the one that is given takes the place of the other, and
        seconds_per_action without calls_per_action means as many calls as fit. With another
        frame_skip alone, an algorithm that leaves actions out begins with it after as many frames
        as before. Options that the planner does not know are `InputError`s.
        """
        if not given:
            return self
        keeps_frames = "frame_skip" in given and "prune_after" not in given
        given = _implied(given, self.parts.annealed)
        configs: dict[str, Any] = {}
        for table in TABLES:
            config = getattr(self, table)
            kinds = settings.settings_of(type(config))
            own = {name: given.pop(name) for name in kinds if name in given}
            typed = {name: settings.typed(name, own[name], kinds[name]) for name in own}
            configs[table] = replace(config, **typed)
        if given:
            raise _unknown_setting(self, next(iter(given)))
        changed = replace(self, **configs)
        if keeps_frames and self.parts.defaults.prune_actions != "none":
            frames, options = self.options.prune_after * self.options.frame_skip, changed.options
            options = replace(options, prune_after=math.ceil(frames / options.frame_skip))
            changed = replace(changed, options=options)
        check_planner(changed.options, self._usual().options)
        return changed

    def changes(self) -> dict[str, Any]:
        """Return the settings that differ from the algorithm's defaults under its profile."""
        usual = self._usual().settings()
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
        for table in TABLES:
            given = _values(getattr(self, table))
            fields[table] = {name: by_name(it) for name, it in given.items() if it is not None}
        return fields

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


def _values(config: Any) -> dict[str, Any]:
    return {name: getattr(config, name) for name in settings.settings_of(type(config))}


def _implied(given: dict[str, Any], annealed: bool) -> dict[str, Any]:
    """Complete given settings by those that follow from them."""
    own = dict(given)
    if own.get("seconds_per_action") is not None:
        own.setdefault("calls_per_action", AS_MANY_AS_FIT)
    for one, other in (("steps", "epochs"), ("epochs", "steps")):
        if own.get(one) is not None:
            own.setdefault(other, None)
    if not annealed and "temperature_min" in own:
        own.setdefault("temperature_max", own["temperature_min"])
    return own


def _unknown_setting(spec: Spec, name: str) -> InputError:
    if name in ("options", "training", "network"):
        example = f"make_agent({spec.algorithm!r}, calls_per_action=50)"
        return InputError(f"{name} is given setting by setting, for example {example}")
    for network, *_ in PROFILES.loaded.values():
        if name in settings.settings_of(type(network)):
            return InputError(f"{name} is not a number of the profile {spec.profile}'s network")
    return unknown_name("setting", name, spec.settings())
