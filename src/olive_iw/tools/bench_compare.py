"""Two bench reports beside each other: what became faster, what slower, what is only noise."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from olive_iw.tools.bench_report import BenchReport, PlanningRow, Spread, TrainingRow

Verdict: TypeAlias = Literal["better", "worse", "noise"]
Key: TypeAlias = tuple[str, str, int]
"""Game, system or profile, calls per action or batch."""
Row = TypeVar("Row", PlanningRow, TrainingRow)

LEAST_CHANGE = 0.03
"""Smaller changes are called noise whatever their spread: machines drift by as much."""


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of two reports."""

    before: float
    now: float
    verdict: Verdict

    @property
    def factor(self) -> float:
        """Now by before."""
        return self.now / self.before


def judge(before: Spread, now: Spread, *, lower_is_better: bool) -> Change | None:
    """Compare two medians; None where one of them has no samples.

    A change is noise if it is below `LEAST_CHANGE`, or if the margins of the medians overlap.
    """
    if not before.count or not now.count or before.median <= 0:
        return None
    difference = now.median - before.median
    small = abs(difference) < LEAST_CHANGE * before.median
    if small or abs(difference) <= before.margin + now.margin:
        return Change(before.median, now.median, "noise")
    better = (difference < 0) == lower_is_better
    return Change(before.median, now.median, "better" if better else "worse")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Changes of the rows that two reports share, by row."""

    planning: dict[Key, Change]
    """Of the ratio to the bare emulator in processor time, which is disturbed least."""
    growth: dict[Key, Change]
    training: dict[Key, Change]
    """Of images per second."""
    warnings: tuple[str, ...]
    """Why the reports may not be comparable."""


def compare(now: BenchReport, before: BenchReport) -> Comparison:
    """Compare a report with an earlier one."""
    return Comparison(
        planning=_changes(now.planning, before.planning, PlanningRow.processor_ratios, True),
        growth=_changes(now.growth, before.growth, PlanningRow.processor_ratios, True),
        training=_changes(now.training, before.training, TrainingRow.images_per_second, False),
        warnings=tuple(_warnings(now, before)),
    )


def _changes(
    now: Iterable[Row], before: Iterable[Row], spread: Callable[[Row], Spread], lower: bool
) -> dict[Key, Change]:
    earlier = {row.key: row for row in before}
    found = {
        row.key: judge(spread(earlier[row.key]), spread(row), lower_is_better=lower)
        for row in now
        if row.key in earlier
    }
    return {key: change for key, change in found.items() if change is not None}


def _warnings(now: BenchReport, before: BenchReport) -> Iterator[str]:
    for name in ("processor", "cores"):
        there, here = before.machine.get(name), now.machine.get(name)
        if there != here:
            yield f"another machine: {name} {there} before, {here} now"
    for name in sorted(now.versions.keys() | before.versions.keys()):
        there, here = before.versions.get(name), now.versions.get(name)
        if there != here:
            yield f"another version: {name} {there} before, {here} now"
    if now.settings.get("seed") != before.settings.get("seed"):
        yield "another seed: other decisions were measured"
