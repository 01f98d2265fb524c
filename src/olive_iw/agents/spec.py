"""What makes an agent what it is, and what tells it from others: its specification."""

import hashlib
import re
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, Self, TypeAlias

from olive_iw import settings
from olive_iw.agents.options import AS_MANY_AS_FIT, LEARNED, Options
from olive_iw.agents.planning import check_planner
from olive_iw.errors import InputError, unknown_name
from olive_iw.features.base import check_grain
from olive_iw.features.binary_vae import PROFILES, Profile, TrainingConfig, VaeConfig
from olive_iw.randomness import child_seed
from olive_iw.settings import Range, by_name

Learning: TypeAlias = Literal["none", "offline", "online"]
LONGEST_LABEL = 120
TABLES = ("options", "network", "training")
"""Fields of a specification that hold settings."""
TRAINING, EVALUATION, NETWORK, SELECTION, RESERVOIR = range(5)
"""Keys of the generators of a run: each part of it has one of its own."""


@dataclass(frozen=True, slots=True)
class Algorithm:
    """How an algorithm is put together."""

    title: str
    source: str
    """Where it comes from; sections are the Olive paper's (Ayton and Asai 2022)."""
    learning: Learning = "none"
    """none: the features are given; offline: learned once, before it plays (VAE-IW); online:
    learned while it plays (Olive)."""
    annealed: bool = True
    """Is the network's temperature annealed from 5 to 0.5, or 0.5 throughout?"""
    defaults: Options = field(default_factory=Options)
    """Its parts and numbers, where none are given."""

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
    network: VaeConfig
    """Unused by algorithms that do not learn, like `training`."""
    training: TrainingConfig
    parts: Algorithm
    """The algorithm that the name stands for."""

    def __post_init__(self) -> None:
        settings.check(self)
        learned = self.options.features == LEARNED
        if self.learns and not learned:
            raise InputError(
                f"features = {by_name(self.options.features)}: {self.algorithm} learns its "
                "features; collection_features are those that it begins with"
            )
        if learned and not self.learns:
            raise InputError(f"features = {LEARNED}: {self.algorithm} learns none; olive does")
        if self.learns:
            check_grain(self.options.grain, self.network.bits)
        if self.options.training_mode and not (self.learns and hasattr(self.network, "dropout")):
            raise InputError("training_mode is for algorithms that learn under the profile paper")
        hot, cold = self.training.temperature_max, self.training.temperature_min
        if not self.parts.annealed and hot != cold:
            raise InputError(
                f"temperature_max = {hot}: {self.algorithm} trains at one temperature (here "
                f"{cold}); vae-iw-annealed is the same algorithm with annealing"
            )

    @classmethod
    def usual(cls, algorithm: str, profile: str, seed: int, parts: Algorithm) -> Self:
        """Return an algorithm's defaults under a profile."""
        network, training, reading = Profile(*PROFILES[profile])  # a plug-in may be a pair
        if not parts.annealed:
            training = replace(training, temperature_max=training.temperature_min)
        options = parts.defaults
        if parts.learning != "none":
            usual = Options()
            own = {name for name in reading if getattr(options, name) != getattr(usual, name)}
            options = replace(options, **{name: reading[name] for name in reading.keys() - own})
        return cls(algorithm, profile, seed, options, network, training, parts)

    def _usual(self) -> "Spec":
        return Spec.usual(self.algorithm, self.profile, self.seed, self.parts)

    @property
    def learns(self) -> bool:
        """Whether it has a training."""
        return self.parts.learning != "none"

    def settings(self) -> dict[str, Any]:
        """All settings in one flat dictionary: options, network, training; parts as they are."""
        configs = [getattr(self, table) for table in TABLES]
        return {name: value for config in configs for name, value in _values(config).items()}

    def changed(self, **given: Any) -> "Spec":
        """Return the same with some settings changed, and what they imply.

        Of `steps` and `epochs` the one that is given takes the place of the other, and
        seconds_per_action without calls_per_action means as many calls as fit. Options that the
        planner does not know are `InputError`s.
        """
        if not given:
            return self
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
