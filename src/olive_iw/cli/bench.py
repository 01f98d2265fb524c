"""`olive-iw bench`: how fast planning is on this machine, beside the bare emulator.

Each measurement has a process of its own, one at a time, with one thread.
After every few decisions the same calls are made again by a bare simulator, so that the ratio of
the two times stands still when the machine does not.
"""

import itertools
import json
import os
import platform
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.progress import track

from olive_iw.cli.arguments import Json
from olive_iw.cli.bench_measure import (
    ALL_PARTS,
    THREADS,
    TRAINING_CALLS,
    BenchJob,
    Figures,
    in_process,
    measure,
)
from olive_iw.cli.console import console
from olive_iw.errors import InputError, unknown_name
from olive_iw.runs.config import versions
from olive_iw.settings import AT_LEAST_ONE
from olive_iw.simulators import make_simulator
from olive_iw.tables import Cell, Table

SYSTEMS = {
    "rollout-iw": ("rollout-iw", 1),
    "olive": ("olive", 1),
    "olive-2-workers": ("olive", 2),
    "olive-plus": ("olive-plus", 1),
    "patch-iw": ("patch-iw", 1),
}
"""Name -> algorithm, under the profile laptop, and search workers."""
DEFAULT_SYSTEMS = tuple(SYSTEMS)[:4]
DEFAULT_GAMES = ("space_invaders", "breakout", "freeway", "ms_pacman")
HEADINGS = "calls,s/move,ms/call,bare ms,ratio,CPU ratio,middle half,peak MB"
TIMES = (
    "{calls:.0f} {seconds:.3f} {call_ms:.2f} {bare_call_ms:.2f} {ratio:.2f} {processor_ratio:.2f} "
    "{low:.2f}–{high:.2f} {peak_mb:.0f}"
)
NOTE = (
    "s/move: of a decision. bare ms: of the emulator alone, per call. ratio: of wall times; CPU "
    "ratio: of processor times, with the middle half of the decisions. Learned features: trained "
    f"for {TRAINING_CALLS:,} calls, which their peak memory includes."
)


@dataclass(frozen=True, slots=True)
class BenchRow:
    """What was measured of one system in one game; `planning_figures` says what figures are."""

    game: str
    system: str
    calls_per_action: int
    figures: Figures


@dataclass(frozen=True, slots=True)
class BenchReport:
    """Everything that one bench measured, and where."""

    versions: dict[str, str]
    machine: dict[str, str | int | float]
    seed: int
    rows: list[BenchRow]

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {"format": 3, **asdict(self)}

    def tables(self) -> list[Table]:
        """Lay out the times beside the bare emulator's, and the parts of the wall time."""
        facts = (self.machine.items(), self.versions.items())
        where = [", ".join(f"{name} {value}" for name, value in one) for one in facts]
        first, second = "Planning beside the bare emulator", "Where the time goes, % of wall time"
        return [
            self._table(first, HEADINGS.split(","), TIMES, [NOTE, *where]),
            self._table(second, ALL_PARTS, " ".join(f"{{{part}:.1f}}" for part in ALL_PARTS)),
        ]

    def _table(
        self, title: str, headings: Sequence[str], cells: str, notes: Sequence[str] = ()
    ) -> Table:
        rows = [
            [Cell(f"{row.game}, {row.system}"), *map(Cell, cells.format_map(row.figures).split())]
            for row in self.rows
        ]
        return Table(title, ("game, system", *headings), rows, notes)


def measure_all(
    games: Sequence[str] = DEFAULT_GAMES,
    *,
    decisions: int = 10,
    calls_per_action: int = 100,
    seed: int = 0,
    systems: Sequence[str] = DEFAULT_SYSTEMS,
) -> Iterator[BenchRow]:
    """Measure systems in games one after the other, so many decisions of each.

    Starts processes, so a script that calls it needs `if __name__ == "__main__":`.
    """
    AT_LEAST_ONE.check("decisions", decisions)
    AT_LEAST_ONE.check("calls_per_action", calls_per_action)
    for kind, names in (("game", games), ("system", systems)):
        if not names:
            raise InputError(f"there is nothing to measure; name at least one {kind}")
        if len(set(names)) < len(names):
            raise InputError(f"a {kind} is named twice in {', '.join(names)}")
    for system in systems:
        if system not in SYSTEMS:
            raise unknown_name("system", system, SYSTEMS)
    for game in games:
        make_simulator(game)

    def measured(game: str, system: str) -> BenchRow:
        job = BenchJob(game, *SYSTEMS[system], decisions, calls_per_action, seed)
        return BenchRow(game, system, calls_per_action, in_process(job, measure))

    return itertools.starmap(measured, itertools.product(games, systems))


def describe_machine() -> dict[str, str | int | float]:
    """Where the figures come from; `load` is that of the minute before the bench."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    path = Path("/proc/cpuinfo")
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    model = re.search(r"model name\s*:\s*(.+)", text)
    return {
        "processor": model[1] if model else platform.processor() or "unknown",
        "cores": os.cpu_count() or 1,
        "threads": THREADS,
        "system": f"{platform.system()} {platform.machine()}",
        "load": round(load, 2),
    }


def bench(
    *,
    games: tuple[str, ...] = DEFAULT_GAMES,
    decisions: int = 10,
    calls_per_action: int = 100,
    seed: int = 0,
    systems: tuple[str, ...] = DEFAULT_SYSTEMS,
    json_output: Json = False,
) -> None:
    """Measure planning against the bare emulator, in the same run and interleaved.

    A ratio of 1.2 means: a decision takes 1.2 times what the emulator alone needs for the same
    calls. Absolute times vary with the machine; ratios are what to compare.

    Example: olive-iw bench --games breakout --decisions 5

    Args:
        games: Games to measure on.
        decisions: Decisions per game and system.
        calls_per_action: Simulator calls per decision.
        seed: Seed of the play.
        systems: Which systems; patch-iw is one too. olive-2-workers has 2 search workers.
        json_output: Print JSON instead of tables, for a file.

    """
    counts = {"decisions": decisions, "calls_per_action": calls_per_action, "seed": seed}
    found, machine = measure_all(games, systems=systems, **counts), describe_machine()
    total = len(games) * len(systems)
    bar = partial(track, total=total, console=console, transient=True, disable=json_output)
    report = BenchReport(versions(), machine, seed, list(bar(found, "measuring")))
    if json_output:
        print(json.dumps(report.to_dict(), indent=2))
        return
    for table in report.tables():
        print(table.as_text(console.width))
