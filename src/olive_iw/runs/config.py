"""What a run is: a game, an agent's specification, and how long it trains and plays."""

import hashlib
import json
import platform
import tomllib
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from olive_iw.agents import Options, Spec
from olive_iw.errors import InputError
from olive_iw.features.binary_vae import PROFILES, TrainingConfig

FORMAT = 1
"""Of run folders: config.toml, events.jsonl, episodes and result.json."""
PACKAGES = ("olive-iw", "ale-py", "torch", "numpy")


@dataclass(frozen=True, slots=True)
class RunConfig:
    """One run: training, then evaluation episodes."""

    game: str
    """Name of the simulator."""
    spec: Spec
    training_calls: int = 100_000
    """Simulator calls for training; algorithms that do not learn spend none."""
    episodes: int = 10
    """Evaluation episodes."""
    max_actions: int = 18_000
    """Most actions of an evaluation episode."""

    def __post_init__(self) -> None:
        for name in ("training_calls", "episodes", "max_actions"):
            if getattr(self, name) < 1:
                raise InputError(
                    f"{name} = {getattr(self, name)} is not possible; it must be at least 1"
                )

    def folder(self, out: Path) -> Path:
        """Where the run lives below `out`."""
        game = "".join(
            letter if letter.isalnum() or letter in "-_." else "-" for letter in self.game
        )
        spec = self.spec
        return out / game / f"{spec.algorithm}-{spec.profile}" / f"seed-{spec.seed}"

    def to_dict(self) -> dict[str, Any]:
        """Everything needed to repeat the run, as nested dictionaries; None is left out."""
        fields: dict[str, Any] = {
            "format": FORMAT,
            "game": self.game,
            "algorithm": self.spec.algorithm,
            "profile": self.spec.profile,
            "seed": self.spec.seed,
            "training_calls": self.training_calls,
            "episodes": self.episodes,
            "max_actions": self.max_actions,
            "options": _without_none(asdict(self.spec.options)),
            "network": asdict(self.spec.network),
            "training": _without_none(asdict(self.spec.training)),
            "versions": versions(),
        }
        text = json.dumps(fields, sort_keys=True)
        fields["hash"] = hashlib.sha256(text.encode()).hexdigest()[:16]
        return fields


def _without_none(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    found = [("python", platform.python_version())]
    for package in PACKAGES:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            found.append((package, "not installed"))
    return tuple(found)


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a result depends on."""
    return dict(_versions())


def to_toml(fields: dict[str, Any]) -> str:
    """TOML of plain values and one level of tables (JSON's strings and numbers are TOML's)."""
    plain = [(name, value) for name, value in fields.items() if not isinstance(value, dict)]
    lines = [f"{name} = {json.dumps(value)}" for name, value in plain]
    for name, table in fields.items():
        if isinstance(table, dict):
            lines += ["", f"[{name}]"]
            lines += [f"{key} = {json.dumps(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def read_toml(path: Path) -> dict[str, Any]:
    """Read a config.toml; an unreadable one is an `InputError`."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not a run's configuration: {error}") from None


def read_config(path: Path) -> RunConfig:
    """Read back what a run was asked to do."""
    fields = read_toml(path)
    try:
        network = type(PROFILES[fields["profile"]][0])
        spec = Spec(
            algorithm=fields["algorithm"],
            profile=fields["profile"],
            seed=fields["seed"],
            options=Options(**fields["options"]),
            network=network(**fields["network"]),
            training=TrainingConfig(**fields["training"]),
        )
        return RunConfig(
            fields["game"],
            spec,
            fields["training_calls"],
            fields["episodes"],
            fields["max_actions"],
        )
    except (KeyError, TypeError) as error:
        raise InputError(f"{path} is not a run's configuration: {error}") from None


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Say what differs between two configurations, a line each; hashes do not count."""
    flat_before, flat_now = _flat(before), _flat(now)
    return [
        f"{name}: {flat_before.get(name, 'absent')} → {flat_now.get(name, 'absent')}"
        for name in sorted(flat_before.keys() | flat_now.keys())
        if name != "hash" and flat_before.get(name) != flat_now.get(name)
    ]


def _flat(fields: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat
