"""What a bench is asked for, and what it found: samples, and what they tell."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from olive_iw.errors import InputError
from olive_iw.planners.ledger import PARTS

FORMAT = 2
THE_REST = "the rest"
ALL_PARTS = (*PARTS, THE_REST)
"""Parts of a decision's wall time: those of the ledger, and what none of its watches saw."""
LEAST_CHANGE = 0.03
"""Smaller changes are called noise whatever their spread: machines drift by as much."""

Kind: TypeAlias = Literal["planning", "workers", "training"]
Key: TypeAlias = tuple[Kind, str, str, int]
"""Kind, game, system and size of a row: what a row of another report must share."""

FIGURES: dict[Kind, tuple[str, str]] = {
    "planning": ("processor_seconds", "bare_processor_seconds"),
    "workers": ("alone", "together"),
    "training": ("images", "seconds"),
}
"""The figure of a row, one sample by another: what is shown with its spread, and compared.

Of planning it is the ratio to the bare emulator in processor time, which is disturbed least.
"""
MORE_IS_BETTER = ("workers", "training")


@dataclass(frozen=True, slots=True)
class BenchSystem:
    """What is measured: Rollout-IW with features and a bandit, and how much of it is affordable."""

    bandit: str
    features: str | None = None
    """Fixed features; None for an encoder."""
    profile: str | None = None
    """Profile of the encoder, "laptop" or "paper"."""
    search_workers: int = 1
    """Processes that make the calls."""
    decisions_share: float = 1.0
    """Share of the asked-for decisions that are measured, at least two."""
    warm_up: int = 2
    """Decisions before the measured ones: they load compiled code and fill caches."""

    def decisions(self, asked: int) -> int:
        """Decisions to measure."""
        return min(asked, max(2, round(asked * self.decisions_share)))


class BenchJob(NamedTuple):
    """One system in one game."""

    game: str
    name: str
    """Of the system."""
    system: BenchSystem
    decisions: int
    calls_per_action: int
    seed: int
    training: bool
    """Measure the training of the system's network, if it has one?"""
    growth: bool
    """Measure decisions of few and many calls too?"""


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
            return math.inf
        return 1.57 * (self.high - self.low) / math.sqrt(self.count)


@dataclass(frozen=True, slots=True)
class BenchRow:
    """What was measured of one system in one game.

    The samples, by name, are lists of one length:
    planning: a decision and its action each: `seconds` of wall time and
    `processor_seconds`, `bare_seconds` and `bare_processor_seconds` of a simulator alone that
    makes the same calls, `calls`, `rollouts`, `rollout_depth` (added up), `cache_hits`,
    `cache_misses`, `exhausted` (1 if nothing novel was left), and the seconds of `ALL_PARTS`,
    which add up to `seconds`
    workers: a turn each: wall time per call with one worker (`alone`) and with all (`together`)
    training: a step each: its `seconds`, and the `images` that its items make up
    """

    kind: Kind
    game: str
    system: str
    size: int
    """Most calls of a decision; search workers; items of a training step."""
    samples: dict[str, list[float]]
    memory_before: float = 0.0
    """Peak memory in MB (10⁶ bytes) of the process before the game; 0 if unknown."""
    memory_peak: float = 0.0
    """Peak memory in MB after the last decision; 0 if unknown."""

    @property
    def key(self) -> Key:
        """What a row of another report must share to be compared."""
        return self.kind, self.game, self.system, self.size

    def spread(self) -> Spread:
        """Spread of the row's figure over the samples where there is one."""
        above, below = (self.samples[name] for name in FIGURES[self.kind])
        return Spread.of([a / b for a, b in zip(above, below, strict=True) if b])

    def ratio(self, name: str, by: str) -> float:
        """All samples of one name by all of another; 0 if those are none."""
        other = sum(self.samples[by])
        return sum(self.samples[name]) / other if other else 0.0

    def figures(self) -> dict[str, float]:
        """Return what follows from the samples, for tables and JSON.

        The mean of each by its name, its median in thousandths (of a second) as `<name>_ms`, the
        spread of the row's figure, and for planning some quotients; parts are in % of the time.
        """
        found: dict[str, float] = asdict(self.spread())
        for name, values in self.samples.items():
            found[name] = sum(values) / len(values) if values else 0.0
            found[f"{name}_ms"] = 1e3 * Spread.of(values).median
        if self.kind == "planning":
            found |= {part: 100 * self.ratio(part, "seconds") for part in ALL_PARTS}
            looked_up = found["cache_hits"] + found["cache_misses"]
            found |= {
                "cache_hit_share": found["cache_hits"] / looked_up if looked_up else 0.0,
                "depth": self.ratio("rollout_depth", "rollouts"),
                "call_ms": 1e3 * self.ratio("seconds", "calls"),
                "bare_call_ms": 1e3 * self.ratio("bare_seconds", "calls"),
                "ratio": self.ratio("seconds", "bare_seconds"),
                "processor_ratio": self.ratio("processor_seconds", "bare_processor_seconds"),
            }
        return found


@dataclass(frozen=True, slots=True)
class BenchReport:
    """Everything that one bench measured, and where."""

    created: str
    """Time of the start, UTC, ISO 8601."""
    versions: dict[str, str]
    machine: dict[str, Any]
    settings: dict[str, Any]
    """Arguments of `bench`."""
    rows: list[BenchRow]
    notes: list[str]
    """How the encoders came by their weights, and what else a reader must know."""

    def of_kind(self, kind: Kind) -> list[BenchRow]:
        """Rows of a kind, in their order."""
        return [row for row in self.rows if row.kind == kind]

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON; rows with their figures."""
        rows = [asdict(row) | {"figures": row.figures()} for row in self.rows]
        return {"format": FORMAT, **asdict(self), "rows": rows}


def load_report(path: Path | str) -> BenchReport:
    """Read what `olive-iw bench --json` printed; a file that is no report is an `InputError`."""
    try:
        fields = json.loads(Path(path).read_text(encoding="utf-8"))
        if fields.pop("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        for row in fields["rows"]:
            del row["figures"]
        return BenchReport(**fields | {"rows": [BenchRow(**row) for row in fields["rows"]]})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path} is not a bench report: {error!r}") from None


class Change(NamedTuple):
    """The figure of a row in two reports."""

    factor: float
    """Now by before."""
    verdict: Literal["better", "worse", "noise"]


def judge(before: Spread, now: Spread, *, more_is_better: bool) -> Change | None:
    """Compare two medians; None where one of them has no samples.

    A change is noise if it is below `LEAST_CHANGE`, or if the margins of the medians overlap.
    """
    if not before.count or not now.count or before.median <= 0:
        return None
    factor, difference = now.median / before.median, now.median - before.median
    if abs(factor - 1.0) < LEAST_CHANGE or abs(difference) <= before.margin + now.margin:
        return Change(factor, "noise")
    return Change(factor, "better" if (difference > 0) == more_is_better else "worse")


def changes_since(now: BenchReport, before: BenchReport) -> dict[Key, Change]:
    """Return what became of the rows that two reports share."""
    earlier = {row.key: row for row in before.rows}
    found = {}
    for row in now.rows:
        if row.key in earlier:
            better = row.kind in MORE_IS_BETTER
            change = judge(earlier[row.key].spread(), row.spread(), more_is_better=better)
            if change is not None:
                found[row.key] = change
    return found


def why_not_comparable(now: BenchReport, before: BenchReport) -> list[str]:
    """Say what else differs between two reports."""
    sides = (
        ("machine", before.machine, now.machine, ("processor", "cores")),
        ("version", before.versions, now.versions, now.versions),
        ("seed", before.settings, now.settings, ("seed",)),
    )
    return [
        f"another {kind}: {name} {there.get(name)} before, {here.get(name)} now"
        for kind, there, here, names in sides
        for name in names
        if there.get(name) != here.get(name)
    ]
