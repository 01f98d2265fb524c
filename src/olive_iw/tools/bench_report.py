"""What a bench found: samples of decisions and of training steps, and what follows from them."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from olive_iw.errors import InputError
from olive_iw.planners.ledger import PARTS

FORMAT = 1
THE_REST = "the rest"
ALL_PARTS = (*PARTS, THE_REST)
"""Parts of a decision's wall time: those of the ledger, and what none of its watches saw."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Median and quartiles of some samples; all 0 where there are none."""

    count: int
    low: float
    """Lower quartile."""
    median: float
    high: float
    """Upper quartile."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Spread of samples."""
        if not values:
            return cls(0, 0.0, 0.0, 0.0)
        low, median, high = np.quantile(np.asarray(values, np.float64), [0.25, 0.5, 0.75])
        return cls(len(values), float(low), float(median), float(high))

    @property
    def margin(self) -> float:
        """How far the median may be off: the notch of a box plot, 1.57 · quartile range / √n.

        Two medians whose notches do not overlap differ with about 95% confidence (McGill et al.
        1978). A single sample says nothing about its spread: its margin is infinite.
        """
        if self.count < 2:
            return float("inf")
        return 1.57 * (self.high - self.low) / math.sqrt(self.count)


@dataclass(frozen=True, slots=True)
class DecisionSample:
    """One decision, and the bare emulator doing the same calls soon after it."""

    seconds: float
    """Wall time of planning and of doing the chosen action for good."""
    bare_seconds: float
    """Wall time of the same calls made by the simulator alone."""
    processor_seconds: float
    """Processor time of the decision: what it takes while other programs wait or work."""
    bare_processor_seconds: float
    calls: int
    rollouts: int
    rollout_depth: int
    """Depths at which the rollouts ended, added up."""
    cache_hits: int
    cache_misses: int
    exhausted: bool
    """Did planning end because nothing novel was left, before the budget was spent?"""
    parts: dict[str, float]
    """Seconds by part; the keys are `ALL_PARTS` and the values add up to `seconds`."""


@dataclass(frozen=True, slots=True)
class PlanningRow:
    """Decisions of one system in one game."""

    game: str
    system: str
    calls_per_action: int
    samples: tuple[DecisionSample, ...]
    memory_before: float
    """Memory in MB (10⁶ bytes) of the process before the game; 0 if unknown."""
    memory_peak: float
    """Peak memory in MB after the last decision; 0 if unknown."""

    @property
    def key(self) -> tuple[str, str, int]:
        """What a row of another report must share to be compared."""
        return self.game, self.system, self.calls_per_action

    @property
    def calls(self) -> int:
        """Calls of all decisions."""
        return sum(sample.calls for sample in self.samples)

    @property
    def seconds(self) -> float:
        """Wall time of all decisions."""
        return sum(sample.seconds for sample in self.samples)

    @property
    def bare_seconds(self) -> float:
        """Wall time of the bare emulator for the same calls."""
        return sum(sample.bare_seconds for sample in self.samples)

    @property
    def ratio(self) -> float:
        """Planner's wall time by the bare emulator's, over all decisions; 0 without calls."""
        return _quotient(self.seconds, self.bare_seconds)

    def ratios(self) -> Spread:
        """Spread of that ratio over the decisions that made calls."""
        return Spread.of([s.seconds / s.bare_seconds for s in self.samples if s.bare_seconds > 0])

    @property
    def processor_ratio(self) -> float:
        """The same ratio in processor time, which other programs disturb less."""
        bare = sum(sample.bare_processor_seconds for sample in self.samples)
        return _quotient(sum(sample.processor_seconds for sample in self.samples), bare)

    def processor_ratios(self) -> Spread:
        """Spread of the ratio in processor time over the decisions that made calls."""
        return Spread.of(
            [
                sample.processor_seconds / sample.bare_processor_seconds
                for sample in self.samples
                if sample.bare_processor_seconds > 0
            ]
        )

    def seconds_per_decision(self) -> Spread:
        """Spread of wall time over the decisions."""
        return Spread.of([sample.seconds for sample in self.samples])

    def seconds_per_call(self) -> Spread:
        """Spread of wall time per call over the decisions that made calls."""
        return Spread.of([s.seconds / s.calls for s in self.samples if s.calls])

    def parts(self) -> dict[str, float]:
        """Seconds by part over all decisions."""
        return {part: sum(sample.parts[part] for sample in self.samples) for part in ALL_PARTS}

    def summary(self) -> dict[str, Any]:
        """Every figure that follows from the samples, for tables and JSON."""
        samples, count = self.samples, len(self.samples)
        rollouts = sum(sample.rollouts for sample in samples)
        hits = sum(sample.cache_hits for sample in samples)
        looked_up = hits + sum(sample.cache_misses for sample in samples)
        return {
            "decisions": count,
            "calls_per_decision": _quotient(self.calls, count),
            "exhausted_share": _quotient(sum(sample.exhausted for sample in samples), count),
            "seconds_per_decision": asdict(self.seconds_per_decision()),
            "mean_seconds_per_decision": _quotient(self.seconds, count),
            "seconds_per_call": asdict(self.seconds_per_call()),
            "mean_seconds_per_call": _quotient(self.seconds, self.calls),
            "mean_bare_seconds_per_call": _quotient(self.bare_seconds, self.calls),
            "ratio": self.ratio,
            "ratios": asdict(self.ratios()),
            "processor_ratio": self.processor_ratio,
            "processor_ratios": asdict(self.processor_ratios()),
            "parts": {name: _quotient(s, self.seconds) for name, s in self.parts().items()},
            "cache_hit_share": _quotient(hits, looked_up),
            "rollouts_per_decision": _quotient(rollouts, count),
            "mean_depth": _quotient(sum(sample.rollout_depth for sample in samples), rollouts),
        }

    def to_dict(self) -> dict[str, Any]:
        """All fields and the summary, for JSON."""
        return {**asdict(self), "summary": self.summary()}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """Read back what `to_dict` gave; the summary is worked out again."""
        plain = {name: value for name, value in fields.items() if name != "summary"}
        plain["samples"] = tuple(DecisionSample(**sample) for sample in plain["samples"])
        return cls(**plain)


@dataclass(frozen=True, slots=True)
class SpeedUpRow:
    """One system in one game, with one search worker and with more, in turn."""

    game: str
    system: str
    workers: int
    alone: tuple[float, ...]
    """Wall time per call, in seconds, of each turn with one worker."""
    together: tuple[float, ...]
    """The same of the turn with all workers that followed."""

    def speed_up(self) -> Spread:
        """Spread over the turns of how many times faster all workers are than one."""
        return Spread.of([a / b for a, b in zip(self.alone, self.together, strict=True)])

    def to_dict(self) -> dict[str, Any]:
        """All fields and the summary, for JSON."""
        return {**asdict(self), "summary": {"speed_up": asdict(self.speed_up())}}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """Read back what `to_dict` gave."""
        plain = {name: value for name, value in fields.items() if name != "summary"}
        return cls(
            **{**plain, "alone": tuple(plain["alone"]), "together": tuple(plain["together"])}
        )


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """Training steps of one network on the screens of one game."""

    game: str
    profile: str
    batch: int
    """Items per step: images (paper) or distinct patches (laptop)."""
    images_per_step: float
    """Images that these items make up, as the training reports it."""
    step_seconds: tuple[float, ...]
    """Wall time of each step; the first, which sets things up, is left out."""

    @property
    def key(self) -> tuple[str, str, int]:
        """What a row of another report must share to be compared."""
        return self.game, self.profile, self.batch

    def images_per_second(self) -> Spread:
        """Spread over the steps."""
        return Spread.of([self.images_per_step / seconds for seconds in self.step_seconds])

    def to_dict(self) -> dict[str, Any]:
        """All fields and the summary, for JSON."""
        rate = asdict(self.images_per_second())
        return {**asdict(self), "summary": {"images_per_second": rate}}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """Read back what `to_dict` gave."""
        plain = {name: value for name, value in fields.items() if name != "summary"}
        return cls(**{**plain, "step_seconds": tuple(plain["step_seconds"])})


@dataclass(frozen=True, slots=True)
class BenchReport:
    """Everything that one bench measured, and where."""

    created: str
    """Time of the start, UTC, ISO 8601."""
    versions: dict[str, str]
    machine: dict[str, str | int | float]
    settings: dict[str, Any]
    """Arguments of `bench`."""
    planning: tuple[PlanningRow, ...]
    growth: tuple[PlanningRow, ...]
    """The first game again, with few and many calls per decision."""
    training: tuple[TrainingRow, ...]
    notes: tuple[str, ...]
    """How the encoders came by their weights, and what else a reader must know."""
    speed_ups: tuple[SpeedUpRow, ...] = ()
    """Of the systems with search workers."""

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "format": FORMAT,
            "created": self.created,
            "versions": self.versions,
            "machine": self.machine,
            "settings": self.settings,
            "planning": [row.to_dict() for row in self.planning],
            "growth": [row.to_dict() for row in self.growth],
            "training": [row.to_dict() for row in self.training],
            "notes": list(self.notes),
            "speed_ups": [row.to_dict() for row in self.speed_ups],
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """Read back what `to_dict` gave; anything else is an `InputError`."""
        try:
            if fields["format"] != FORMAT:
                raise InputError(f"the bench has format {fields['format']}, not {FORMAT}")
            return cls(
                created=fields["created"],
                versions=dict(fields["versions"]),
                machine=dict(fields["machine"]),
                settings=dict(fields["settings"]),
                planning=tuple(PlanningRow.from_dict(row) for row in fields["planning"]),
                growth=tuple(PlanningRow.from_dict(row) for row in fields["growth"]),
                training=tuple(TrainingRow.from_dict(row) for row in fields["training"]),
                notes=tuple(fields["notes"]),
                # The first versions did not tell.
                speed_ups=tuple(map(SpeedUpRow.from_dict, fields.get("speed_ups", ()))),
            )
        except (KeyError, TypeError) as error:
            raise InputError(f"this is not a bench report: {error!r}") from None


def _quotient(value: float, by: float) -> float:
    return value / by if by else 0.0
