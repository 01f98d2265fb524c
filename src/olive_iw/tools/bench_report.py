"""What a bench found, how it compares with another, and both as tables."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from olive_iw.errors import DamagedFileError, InputError, clean_text
from olive_iw.reading import fill, read_json
from olive_iw.search.ledger import PARTS

FORMAT = 2
THE_REST = "the rest"
ALL_PARTS = (*PARTS, THE_REST)
"""Parts of a decision's wall time: those of the ledger, and what none of its watches saw."""
LEAST_CHANGE = 0.03
"""Smaller changes are called noise whatever their spread: machines drift by as much."""

RowKind: TypeAlias = Literal["planning", "workers", "training"]
Key: TypeAlias = tuple[RowKind, str, str, int]
"""RowKind, game, system and size of a row: what a row of another report must share."""
Verdict: TypeAlias = Literal["better", "worse", "noise"]
Figures: TypeAlias = dict[str, float]


def spread(values: Sequence[float]) -> Figures:
    """Return `count`, median and quartiles (`low`, `high`) of samples; all 0 if there are none."""
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist() if values else (0.0,) * 3
    return {"count": len(values), "low": low, "median": median, "high": high}


@dataclass(frozen=True, slots=True)
class BenchRow:
    """What was measured of one system in one game.

    Each row has one figure that is compared, with its `spread` over the samples:
    planning: processor time of a decision by that of a bare simulator making the same calls, which
    other programs disturb least; besides see `planning_figures`
    workers: how many times faster all search workers are than one, over turns; besides the
    milliseconds per call, `alone_ms` and `together_ms`
    training: images per second, over steps; besides `step_ms`
    """

    kind: RowKind
    game: str
    system: str
    size: int
    """Most calls of a decision; search workers; items of a training step."""
    figures: Figures

    def __post_init__(self) -> None:
        if not self.figures.keys() >= spread([]).keys():
            raise InputError("a row of the bench has no spread")

    @property
    def key(self) -> Key:
        """What a row of another report must share to be compared."""
        return self.kind, self.game, self.system, self.size


@dataclass(frozen=True, slots=True)
class BenchReport:
    """Everything that one bench measured, and where."""

    created: str
    """Time of the start, UTC, ISO 8601."""
    versions: dict[str, str]
    machine: dict[str, str | int | float]
    settings: dict[str, int | list[str]]
    """Arguments of `bench`."""
    rows: list[BenchRow]
    notes: list[str]
    """How the encoders came by their weights, and what else a reader must know."""

    def of_kind(self, kind: RowKind) -> list[BenchRow]:
        """Rows of a kind, in their order."""
        return [row for row in self.rows if row.kind == kind]

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {"format": FORMAT, **asdict(self)}


def load_report(path: Path | str) -> BenchReport:
    """Read what `olive-iw bench --json` printed; a file that is no report is an `InputError`."""
    path = Path(path)
    fields = read_json(path)
    rows = fields.get("rows")
    is_report = fields.get("format") == FORMAT and isinstance(rows, list)
    if rows is None or not is_report or not all(isinstance(row, dict) for row in rows):
        raise DamagedFileError(path, f"is not a bench report of format {FORMAT}")
    return fill(BenchReport, fields, path, rows=[fill(BenchRow, row, path) for row in rows])


def changes_since(now: BenchReport, before: BenchReport) -> dict[Key, tuple[float, Verdict]]:
    """Say of the rows that two reports share: the figure now by that before, and what to think."""
    earlier = {row.key: row.figures for row in before.rows}
    return {
        row.key: judge(earlier[row.key], row.figures, more_is_better=row.kind != "planning")
        for row in now.rows
        if row.key in earlier and earlier[row.key]["median"] > 0
    }


def judge(before: Figures, now: Figures, *, more_is_better: bool) -> tuple[float, Verdict]:
    """Compare two spreads: a change is noise if it is small, or if the medians' margins overlap."""
    change, factor = now["median"] - before["median"], now["median"] / before["median"]
    if abs(factor - 1.0) < LEAST_CHANGE or abs(change) <= margin(before) + margin(now):
        return factor, "noise"
    return factor, "better" if (change > 0) == more_is_better else "worse"


def margin(figures: Figures) -> float:
    """How far a median may be off: the notch of a box plot, 1.57 · quartile range / √n.

    Two medians whose notches do not overlap differ with about 95% confidence (McGill et al.
    1978). A single sample says nothing about its spread: its margin is infinite.
    """
    if figures["count"] < 2:
        return math.inf
    return 1.57 * (figures["high"] - figures["low"]) / math.sqrt(figures["count"])


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


_STYLES = {"better": "green", "worse": "bold red", "noise": "dim"}


class _Form(NamedTuple):
    """What a table shows of the rows of a kind."""

    kind: RowKind
    title: str
    headings: str
    """Of the columns, with commas between them."""
    cells: str
    """Formats of the cells, with spaces between them, of a row's sizes and figures."""
    caption: str = ""
    is_compared: bool = True


_FORMS = (
    _Form(
        "planning",
        "Planning beside the bare emulator making the same calls",
        "calls, s/move, ms/call, bare ms, ratio, CPU ratio, middle half",
        "{calls:.0f} {seconds:.3f} {call_ms:.2f} {bare_call_ms:.2f} {ratio:.2f} "
        "{processor_ratio:.2f} {low:.2f}–{high:.2f}",
        "after a system: most calls of its decisions, where there are several sizes;\n"
        "s/move: of a whole decision; bare ms: of the emulator alone, per call;\n"
        "ratio: of wall times; CPU ratio: of processor times, with its middle half",
    ),
    _Form(
        "workers",
        "Search workers",
        "workers, ms/call alone, ms/call, speed-up, middle half",
        "{size} {alone_ms:.2f} {together_ms:.2f} {median:.2f} {low:.2f}–{high:.2f}",
        "with one worker and with all, in turn; medians over the turns",
    ),
    _Form(
        "planning",
        "Where the time goes, % of wall time",
        ", ".join(ALL_PARTS),
        " ".join(f"{{{part}:.1f}}" for part in ALL_PARTS),
        is_compared=False,
    ),
    _Form(
        "planning",
        "Work and memory",
        "moves, exhausted, cache hits, rollouts, depth, start MB, peak MB",
        "{count} {exhausted:.0%} {cache_hit_share:.0%} {rollouts:.0f} {depth:.1f} "
        "{start_mb:.0f} {peak_mb:.0f}",
        "exhausted: decisions that found nothing novel before the budget was spent; "
        "rollouts: per decision; start MB: before the game, 0 if unknown",
        is_compared=False,
    ),
    _Form(
        "training",
        "Training, one thread",
        "batch, steps, ms/step, images/s, middle half",
        "{size} {count} {step_ms:,.1f} {median:,.1f} {low:,.1f}–{high:,.1f}",
        "batch: images (paper) or distinct patches (laptop, whose speed depends on the game)",
    ),
)


def bench_table(report: BenchReport, against: BenchReport | None = None) -> list[Table]:
    """Tables of what was measured; with `against`, how much each row changed since that report."""
    changes = None if against is None else changes_since(report, against)
    tables = [
        _table(report, form, changes if form.is_compared else None)
        for form in _FORMS
        if report.of_kind(form.kind)
    ]
    machine = report.machine
    lines = [
        *_FORMS[0].caption.splitlines(),
        f"{machine['processor']}, {machine['cores']} cores (load {machine['load']} before), "
        f"{machine['threads']} thread used; {report.created}; "
        + ", ".join(f"{name} {version}" for name, version in report.versions.items()),
        *report.notes,
        *(why_not_comparable(report, against) if against is not None else ()),
    ]
    tables[0].caption = Text("\n".join(map(clean_text, lines)), "dim")
    return tables


def _table(
    report: BenchReport, form: _Form, changes: dict[Key, tuple[float, Verdict]] | None
) -> Table:
    table = Table(
        title=form.title,
        caption=form.caption or None,
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 0, 0, 1),
    )
    table.add_column("game, system", no_wrap=True)
    for heading in form.headings.split(", ") + (["change"] if changes is not None else []):
        table.add_column(heading, justify="right")
    last = None
    rows = report.of_kind(form.kind)
    several = Counter((row.game, row.system) for row in rows)
    for row in rows:
        if row.game != last:  # a line of its own, to keep tables narrow
            table.add_row(row.game, style="bold")
            last = row.game
        cells = form.cells.format_map({"size": row.size, **row.figures}).split(" ")
        if changes is not None and row.key in changes:
            factor, verdict = changes[row.key]
            cells.append(f"[{_STYLES[verdict]}]×{factor:.2f} {verdict}")
        size = f", {row.size:,}" if several[row.game, row.system] > 1 else ""
        table.add_row(f"  {row.system}{size}", *cells)
    return table
