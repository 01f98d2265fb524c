"""What a sweep will cost in time, disk and memory, as finished runs tell.

The nearest finished runs count: of the same game, settings and lengths; else of other games; else
of the same algorithm and profile, whatever their lengths. Where none is finished nothing is
guessed, and the estimate says so.
"""

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from rich.filesize import decimal

from olive_iw.errors import InputError
from olive_iw.runs.config import RunConfig
from olive_iw.runs.events import EvaluationEpisodeDone, TrainingEpisodeDone
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.runs.progress import duration
from olive_iw.runs.records import Pulse
from olive_iw.sweeps.engines.base import Job

TYPICAL_ACTIONS = 2000
"""Actions of an evaluation episode whose limit is higher, where runs of other lengths are asked."""


class Cost(NamedTuple):
    """What one run has cost or will cost."""

    seconds: float
    disk: float
    """Bytes."""
    memory: float
    """Most bytes that its process held; 0 where nobody looked."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of `runs` that are to be done; its figures are of the runs that `bases` counts."""

    runs: int
    seconds: float
    """Wall time, with some at a time."""
    disk: float
    memory: float
    """Bytes of all that run at the same time; 0 where nobody looked."""
    bases: dict[str, int]
    """How many runs were estimated from what."""

    @property
    def unknown(self) -> int:
        """How many runs cannot be estimated."""
        return self.runs - sum(self.bases.values())

    def __str__(self) -> str:
        costs, notes = "", [f"{count} from {basis}" for basis, count in self.bases.items()]
        if self.bases:
            costs = f": about {duration(self.seconds)}, {decimal(int(self.disk))} of disk"
            costs += f", {decimal(int(self.memory))} of memory" if self.memory else ""
        if self.unknown:
            why = "no run of their algorithm is finished here"
            notes.append(f"{self.unknown} cannot be estimated: {why}")
        todo = f"{self.runs} run{'s' * (self.runs != 1)} to do{costs}"
        return todo + (f" ({', '.join(notes)})" if notes else "")


class Estimator:
    """Knows what the finished runs below a folder have cost for every call that they might make."""

    def __init__(self, out: Path) -> None:
        self._per_call: dict[Any, list[Cost]] = defaultdict(list)
        for run in find_runs(out):
            self.learn(run)

    def learn(self, run: RunFolder) -> None:
        """Take a finished run into account; what is not one, or cannot be read, is passed over."""
        if not run.finished:
            return
        with contextlib.suppress(InputError, OSError):
            config, pulse = run.config(), run.read(Pulse)
            training = run.events(TrainingEpisodeDone)
            seconds = sum(event.seconds + event.training_seconds for event in training)
            seconds += sum(event.seconds for event in run.events(EvaluationEpisodeDone))
            disk = sum(path.stat().st_size for path in run.path.rglob("*") if path.is_file())
            memory = (pulse and pulse.peak_memory) or 0
            calls = _allowed_calls(config)
            for _, key in _keys(config):
                self._per_call[key].append(Cost(seconds / calls, disk / calls, memory))

    def cost(self, config: RunConfig) -> tuple[str, Cost] | None:
        """Estimate one run by the calls it is allowed, and say from which runs; None: from none."""
        calls = _allowed_calls(config)
        for basis, key in _keys(config):
            if found := self._per_call.get(key):
                seconds, disk, memory = zip(*found, strict=True)
                return basis, Cost(calls * fmean(seconds), calls * fmean(disk), max(memory))
        return None

    def estimate(self, jobs: Sequence[Job], workers: int) -> Estimate:
        """Estimate runs that are still to be done, `workers` at a time."""
        found = [known for job in jobs if (known := self.cost(job.config))]
        costs = [cost for _, cost in found]
        longest = max((cost.seconds for cost in costs), default=0.0)
        return Estimate(
            runs=len(jobs),
            seconds=max(sum(cost.seconds for cost in costs) / workers, longest),
            disk=sum(cost.disk for cost in costs),
            memory=min(workers, len(jobs)) * max((cost.memory for cost in costs), default=0.0),
            bases=Counter(basis for basis, _ in found),
        )


def _keys(config: RunConfig) -> Iterator[tuple[str, Any]]:
    """Yield what runs must share to be alike, from the most alike to the least."""
    spec = config.spec
    kind = (spec.algorithm, spec.profile)
    lengths = (config.training_calls, config.episodes, config.max_actions)
    settings = (*kind, spec.options, *lengths)
    yield "the same run", (config.game, *settings)
    yield "other games", settings
    yield "other settings", kind


def _allowed_calls(config: RunConfig) -> float:
    # Few episodes come near a limit of 18,000 actions: counting it would promise weeks.
    actions = config.episodes * min(config.max_actions, TYPICAL_ACTIONS)
    training = config.training_calls if config.spec.learns else 0
    return actions * config.spec.decisions.calls_per_action + training
