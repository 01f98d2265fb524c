"""Bench reports for people."""

from typing import NamedTuple

from rich import box
from rich.table import Table

from olive_iw.tools.bench_report import (
    ALL_PARTS,
    BenchReport,
    Change,
    Key,
    Kind,
    changes_since,
    why_not_comparable,
)

_STYLES = {"better": "green", "worse": "bold red", "noise": "dim"}


class _Form(NamedTuple):
    """What a table shows of the rows of a kind."""

    kind: Kind
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
        "budget, calls, s/move, ms/call, bare ms, ratio, CPU ratio, middle half",
        "{size:,} {calls:.0f} {seconds:.3f} {call_ms:.2f} {bare_call_ms:.2f} {ratio:.2f} "
        "{processor_ratio:.2f} {low:.2f}–{high:.2f}",
        "budget: most calls of a decision; s/move: of a whole decision;\n"
        "bare ms: of the emulator alone, per call; ratio: of wall times;\n"
        "CPU ratio: of processor times, with its middle half",
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
        ", ".join(("budget", *ALL_PARTS)),
        " ".join(("{size:,}", *(f"{{{part}:.1f}}" for part in ALL_PARTS))),
        is_compared=False,
    ),
    _Form(
        "planning",
        "Work and memory",
        "budget, moves, exhausted, cache hits, rollouts, depth, start MB, peak MB",
        "{size:,} {count} {exhausted:.0%} {cache_hit_share:.0%} {rollouts:.0f} {depth:.1f} "
        "{before:.0f} {peak:.0f}",
        "exhausted: decisions that found nothing novel before the budget was spent; "
        "rollouts: per decision; start MB: before the game, 0 if unknown",
        is_compared=False,
    ),
    _Form(
        "training",
        "Training, one thread",
        "batch, steps, ms/step, images/s, middle half",
        "{size} {count} {seconds_ms:,.1f} {median:,.1f} {low:,.1f}–{high:,.1f}",
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
        str(tables[0].caption),
        f"{machine['processor']}, {machine['cores']} cores (load {machine['load']} before), "
        f"{machine['threads']} thread used; {report.created}; "
        + ", ".join(f"{name} {version}" for name, version in report.versions.items()),
        *report.notes,
        *(why_not_comparable(report, against) if against is not None else ()),
    ]
    tables[0].caption = "\n".join(lines)
    return tables


def _table(report: BenchReport, form: _Form, changes: dict[Key, Change] | None) -> Table:
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
    for row in report.of_kind(form.kind):
        if row.game != last:  # a line of its own, to keep tables narrow
            table.add_row(row.game, style="bold")
            last = row.game
        known = {"size": row.size, "before": row.memory_before, "peak": row.memory_peak}
        cells = form.cells.format_map(known | row.figures()).split(" ")
        if changes is not None:
            cells.append(_change(changes.get(row.key)))
        table.add_row(f"  {row.system}", *cells)
    return table


def _change(change: Change | None) -> str:
    if change is None:
        return "–"
    style = _STYLES[change.verdict]
    return f"[{style}]×{change.factor:.2f} {change.verdict}[/{style}]"
