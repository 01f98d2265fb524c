"""What a sweep will cost in time, disk and memory, from what finished runs have cost.

Runs like those to come are asked first: the same game, algorithm, profile and lengths; then the
same on other games; then runs of the same algorithm and profile of any length, by their seconds per
call. Where nothing was measured a short calibration is made, and the estimate says so.
"""

import contextlib
import math
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

from olive_iw.algorithms import ALGORITHMS
from olive_iw.errors import InputError
from olive_iw.runs import events
from olive_iw.runs.config import RunConfig, read_toml
from olive_iw.simulators.base import SimulatorError
from olive_iw.sweeps.calibration import Calibration
from olive_iw.sweeps.engines.base import Job
from olive_iw.sweeps.export import run_folders
from olive_iw.sweeps.heartbeat import read_heartbeat

TYPICAL_ACTIONS = 2000
"""Actions assumed of an evaluation episode where none was measured and the limit is higher."""
TYPICAL_CALLS_PER_SECOND = 400
"""Of one emulator, where only the seconds of a decision are limited."""
BYTES_PER_ACTION = 200
"""Of an episode's file: an action, its reward and the values of its alternatives, as text."""
BYTES_PER_SCREEN = 128 * 128
TYPICAL_MEMORY = 700_000_000
"""Of a process with the libraries loaded and a planner's tree, in bytes; screens come on top."""

_Key: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one run."""

    seconds: float
    disk: float
    """Bytes."""
    memory: float
    """Bytes, at most."""
    calls: float
    basis: str
    """Where it comes from: "same run", "other games", "other lengths" or "calibration"."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of runs that are to be done, `workers` at a time."""

    runs: int
    seconds: float
    """Wall time."""
    disk: float
    """Bytes."""
    memory: float
    """Bytes, of all workers together."""
    bases: dict[str, int]
    """How many runs were estimated from what."""

    def __str__(self) -> str:
        sources = ", ".join(f"{count} by {basis}" for basis, count in self.bases.items())
        return (
            f"{self.runs} runs to do: about {duration(self.seconds)}, {size(self.disk)} of disk, "
            f"{size(self.memory)} of memory (estimated: {sources or 'nothing to do'})"
        )


class Estimator:
    """Knows what the finished runs of a folder have cost."""

    def __init__(self, out: Path, device: str = "auto") -> None:
        """Read the finished runs below `out`; `device` is where networks are trained."""
        self._measured: dict[_Key, list[Cost]] = defaultdict(list)
        self._calibration = Calibration(device)
        for folder in run_folders(out):
            self.learn(folder)

    def learn(self, folder: Path) -> None:
        """Take a finished run into account; others are passed over."""
        if not (folder / "result.json").exists():
            return
        try:
            config = read_toml(folder / "config.toml")
            keys = _keys(config | {"calls_per_action": config["options"]["calls_per_action"]})
        except (InputError, KeyError):
            return
        cost = _measure(folder)
        for key in keys:
            self._measured[key].append(cost)

    def cost(self, config: RunConfig) -> Cost:
        """Estimate one run."""
        exact, games, lengths = _keys(_identity(config))
        for key, basis in ((exact, "same run"), (games, "other games")):
            if self._measured[key]:
                return _mean(self._measured[key], basis)
        if self._measured[lengths]:
            return _scaled(config, _mean(self._measured[lengths], "other lengths"))
        return self._calibrated(config)

    def _calibrated(self, config: RunConfig) -> Cost:
        calls, trainings, screens = _expected_work(config)
        try:
            seconds = calls * self._calibration.seconds_per_call(config.game)
            if trainings:
                steps = _training_steps(config, trainings)
                seconds += steps * self._calibration.seconds_per_step(config)
        except (InputError, SimulatorError):
            # A game that cannot be played at all will say so when its run begins.
            seconds = 0.0
        return Cost(
            seconds=seconds,
            disk=_expected_disk(config, screens),
            memory=TYPICAL_MEMORY + 2 * BYTES_PER_SCREEN * screens,
            calls=calls,
            basis="calibration",
        )


def estimate(jobs: Sequence[Job], workers: int, estimator: Estimator) -> Estimate:
    """Estimate runs that are still to be done."""
    costs = [estimator.cost(job.config) for job in jobs]
    return Estimate(
        runs=len(costs),
        seconds=wall_seconds([cost.seconds for cost in costs], workers),
        disk=sum(cost.disk for cost in costs),
        memory=min(workers, len(costs)) * max((cost.memory for cost in costs), default=0.0),
        bases=dict(Counter(cost.basis for cost in costs)),
    )


def wall_seconds(seconds: Sequence[float], workers: int) -> float:
    """Wall time of runs that share workers: no less than the longest."""
    return max(sum(seconds) / workers, max(seconds, default=0.0))


def _identity(config: RunConfig) -> dict[str, Any]:
    spec = config.spec
    return {
        "game": config.game,
        "algorithm": spec.algorithm,
        "profile": spec.profile,
        "training_calls": config.training_calls,
        "calls_per_action": spec.options.calls_per_action,
        "episodes": config.episodes,
        "max_actions": config.max_actions,
    }


def _keys(fields: dict[str, Any]) -> tuple[_Key, _Key, _Key]:
    """Return what a run must share to be like another, from the most like to the least."""
    kind = (fields["algorithm"], fields["profile"])
    names = ("training_calls", "calls_per_action", "episodes", "max_actions")
    lengths = tuple(fields[name] for name in names)
    return (fields["game"], *kind, *lengths), (*kind, *lengths), kind


def _measure(folder: Path) -> Cost:
    """Read what a finished run has cost; an episode played again counts once."""
    spent: dict[tuple[str, int], tuple[float, float]] = {}
    for event in events.read(folder / "events.jsonl"):
        if "number" in event:
            seconds = event.get("seconds", 0.0) + event.get("training_seconds", 0.0)
            spent[event["type"], event["number"]] = seconds, event.get("calls", 0)
    pulse = read_heartbeat(folder) or {}
    return Cost(
        seconds=sum(seconds for seconds, _ in spent.values()),
        disk=_size(folder),
        memory=pulse.get("peak_memory") or TYPICAL_MEMORY,
        calls=sum(calls for _, calls in spent.values()),
        basis="same run",
    )


def _size(folder: Path) -> int:
    """Add up the files of a folder; one that vanishes meanwhile does not count."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(place) / name).stat().st_size
    return total


def _mean(costs: Iterable[Cost], basis: str) -> Cost:
    costs = list(costs)
    return Cost(
        seconds=fmean(cost.seconds for cost in costs),
        disk=fmean(cost.disk for cost in costs),
        memory=max(cost.memory for cost in costs),
        calls=fmean(cost.calls for cost in costs),
        basis=basis,
    )


def _scaled(config: RunConfig, like: Cost) -> Cost:
    calls, _, screens = _expected_work(config)
    seconds = like.seconds * calls / max(1.0, like.calls)
    return replace(like, seconds=seconds, calls=calls, disk=_expected_disk(config, screens))


def _expected_work(config: RunConfig) -> tuple[float, int, int]:
    """Return calls, trainings of the network and screens of a run, as its numbers tell."""
    options = config.spec.options
    actions = min(config.max_actions, TYPICAL_ACTIONS)
    per_action = float(options.calls_per_action)
    if options.seconds_per_action is not None:
        per_action = min(per_action, options.seconds_per_action * TYPICAL_CALLS_PER_SECOND)
    calls = config.episodes * actions * per_action
    learning = ALGORITHMS[config.spec.algorithm].learning
    if learning == "none":
        return calls, 0, 0
    calls += config.training_calls
    if learning == "offline":
        return calls, 1, min(options.screen_limit, config.training_calls)
    after_first = config.training_calls * (1 - options.first_share)
    episodes = 1 + math.ceil(after_first / (options.training_actions * per_action))
    return (
        calls,
        min(options.max_training_episodes, episodes),
        min(options.screen_limit, config.training_calls),
    )


def _training_steps(config: RunConfig, trainings: int) -> float:
    training, options = config.spec.training, config.spec.options
    if training.steps is not None:
        return trainings * training.steps
    sizes = [options.screens_per_episode * (number + 1) for number in range(trainings - 1)]
    images = sum(min(size, options.screen_limit) for size in [*sizes, options.screen_limit])
    return (training.epochs or 0) * images / training.batch


def _expected_disk(config: RunConfig, screens: int) -> float:
    actions = config.episodes * min(config.max_actions, TYPICAL_ACTIONS)
    return 10_000 + BYTES_PER_SCREEN * screens + BYTES_PER_ACTION * actions


def duration(seconds: float) -> str:
    """Say a time in the two units that matter, for example `2 h 05 min`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    days, hours = divmod(hours, 24)
    return f"{days} days {hours} h"


def size(count: float) -> str:
    """Say a number of bytes, for example `1.2 GB`."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
