"""Bench reports for people."""

from collections.abc import Callable, Iterable

from rich import box
from rich.table import Table

from olive_iw.tools.bench_compare import Change, Comparison, Key, compare
from olive_iw.tools.bench_report import ALL_PARTS, BenchReport, PlanningRow, Spread

_STYLES = {"better": "green", "worse": "bold red", "noise": "dim"}


def bench_table(report: BenchReport, against: BenchReport | None = None) -> list[Table]:
    """Tables of a report; with `against`, how much each row changed since that one.

    They are: speed, speed-up by search workers (if it was measured), where the time goes, work
    done and memory, growth with the budget (if it was measured), training (if it was measured).
    """
    changes = None if against is None else compare(report, against)
    tables = [_speed(report, changes), _parts(report), _work(report)]
    if report.speed_ups:
        tables.insert(1, _speed_ups(report))
    if report.growth:
        tables.append(_growth(report, changes))
    if report.training:
        tables.append(_training(report, changes))
    return tables


def _table(title: str, numbers: tuple[str, ...], caption: str) -> Table:
    table = Table(
        title=title,
        caption=caption or None,
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 0, 0, 1),
    )
    table.add_column("game, system", no_wrap=True)
    for column in numbers:
        table.add_column(column, justify="right")
    return table


def _fill(table: Table, rows: Iterable[tuple[str, str, list[str]]]) -> Table:
    """Add rows of game, system and cells; a game has a line of its own, to keep tables narrow."""
    last = None
    for game, system, cells in rows:
        if game != last:
            table.add_row(game, style="bold")
            last = game
        table.add_row(f"  {system}", *cells)
    return table


def _speed(report: BenchReport, changes: Comparison | None) -> Table:
    numbers = (
        "calls",
        "s/move",
        "ms/call",
        "bare ms",
        "ratio",
        "CPU ratio",
        "middle half",
    )
    lines = [
        "s/move: of a whole decision; bare ms: of the emulator alone, per call;",
        "ratio: of wall times; CPU ratio: of processor times, with its middle half",
    ]
    lines += [machine_line(report), *report.notes, *(changes.warnings if changes else ())]
    table = _table(
        "Planning beside the bare emulator making the same calls",
        (*numbers, "change") if changes else numbers,
        "\n".join(lines),
    )
    rows = []
    for row in report.planning:
        found, ratios = row.summary(), row.processor_ratios()
        cells = [
            f"{found['calls_per_decision']:.0f}",
            f"{found['mean_seconds_per_decision']:.3f}",
            f"{1e3 * found['mean_seconds_per_call']:.2f}",
            f"{1e3 * found['mean_bare_seconds_per_call']:.2f}",
            f"{row.ratio:.2f}",
            f"{row.processor_ratio:.2f}",
            f"{ratios.low:.2f}–{ratios.high:.2f}",
        ]
        if changes:
            cells.append(_change(changes.planning, row.key))
        rows.append((row.game, row.system, cells))
    return _fill(table, rows)


def _speed_ups(report: BenchReport) -> Table:
    table = _table(
        "Search workers",
        ("workers", "ms/call alone", "ms/call", "speed-up", "middle half"),
        "with one worker and with all, in turn; medians over the turns",
    )
    rows = []
    for row in report.speed_ups:
        found = row.speed_up()
        cells = [
            f"{row.workers}",
            f"{1e3 * Spread.of(row.alone).median:.2f}",
            f"{1e3 * Spread.of(row.together).median:.2f}",
            f"{found.median:.2f}",
            f"{found.low:.2f}–{found.high:.2f}",
        ]
        rows.append((row.game, row.system, cells))
    return _fill(table, rows)


def _parts(report: BenchReport) -> Table:
    table = _table("Where the time goes, % of wall time", ALL_PARTS, "")
    rows = []
    for row in report.planning:
        shares = row.summary()["parts"]
        cells = [f"{100 * shares[part]:.1f}" for part in ALL_PARTS]
        rows.append((row.game, row.system, cells))
    return _fill(table, rows)


def _work(report: BenchReport) -> Table:
    table = _table(
        "Work and memory",
        ("moves", "exhausted", "cache hits", "rollouts", "depth", "start MB", "peak MB"),
        "exhausted: decisions that found nothing novel before the budget was spent; "
        "rollouts: per decision; start MB: before the game",
    )
    rows = []
    for row in report.planning:
        found = row.summary()
        cells = [
            f"{found['decisions']}",
            f"{found['exhausted_share']:.0%}",
            f"{found['cache_hit_share']:.0%}",
            f"{found['rollouts_per_decision']:.0f}",
            f"{found['mean_depth']:.1f}",
            _megabytes(row, lambda row: row.memory_before),
            _megabytes(row, lambda row: row.memory_peak),
        ]
        rows.append((row.game, row.system, cells))
    return _fill(table, rows)


def _megabytes(row: PlanningRow, memory: Callable[[PlanningRow], float]) -> str:
    return f"{memory(row):.0f}" if memory(row) else "–"


def _growth(report: BenchReport, changes: Comparison | None) -> Table:
    numbers = ("budget", "calls", "s/move", "ms/call", "CPU ratio", "overhead ms/call")
    table = _table(
        "Growth with the calls of a decision",
        (*numbers, "change") if changes else numbers,
        "the first decisions of an episode, beginning with an empty cache",
    )
    rows = []
    for row in report.growth:
        found = row.summary()
        outside = 1.0 - found["parts"]["emulator"]
        cells = [
            f"{row.calls_per_action:,}",
            f"{found['calls_per_decision']:.0f}",
            f"{found['mean_seconds_per_decision']:.3f}",
            f"{1e3 * found['mean_seconds_per_call']:.2f}",
            f"{row.processor_ratio:.2f}",
            f"{1e3 * found['mean_seconds_per_call'] * outside:.2f}",
        ]
        if changes:
            cells.append(_change(changes.growth, row.key))
        rows.append((row.game, row.system, cells))
    return _fill(table, rows)


def _training(report: BenchReport, changes: Comparison | None) -> Table:
    numbers = ("batch", "steps", "ms/step", "images/s", "middle half")
    table = _table(
        "Training, one thread",
        (*numbers, "change") if changes else numbers,
        "batch: images (paper) or distinct patches (laptop, whose speed depends on the game)",
    )
    rows = []
    for row in report.training:
        rate, step = row.images_per_second(), Spread.of(row.step_seconds)
        cells = [
            f"{row.batch}",
            f"{len(row.step_seconds)}",
            f"{1e3 * step.median:,.1f}",
            f"{rate.median:,.1f}",
            f"{rate.low:,.1f}–{rate.high:,.1f}",
        ]
        if changes:
            cells.append(_change(changes.training, row.key))
        rows.append((row.game, row.profile, cells))
    return _fill(table, rows)


def _change(changes: dict[Key, Change], key: Key) -> str:
    if key not in changes:
        return "–"
    change = changes[key]
    style = _STYLES[change.verdict]
    return f"[{style}]×{change.factor:.2f} {change.verdict}[/{style}]"


def machine_line(report: BenchReport) -> str:
    """Machine, versions and date in one line."""
    machine = report.machine
    packages = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    return (
        f"{machine['processor']}, {machine['cores']} cores (load {machine['load']} before), "
        f"{machine['threads']} thread used; {packages}; {report.created}"
    )
