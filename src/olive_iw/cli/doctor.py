"""`olive-iw doctor`."""

import json
import sys
from collections.abc import Iterable

from rich.progress import track

from olive_iw.cli.arguments import Games, Json
from olive_iw.cli.console import console
from olive_iw.simulators import PAPER_GAMES
from olive_iw.simulators.doctor import GameReport, examine
from olive_iw.tables import EMPTY, Cell, Table, number_cell


def doctor(
    games: Games = (),
    /,
    calls: int = 2000,
    seed: int = 0,
    jobs: int = 1,
    json_output: Json = False,
) -> None:
    """Check that the emulator restores games exactly on this machine (default: all 55 games).

    Each game is examined in a process of its own, so a crash of the emulator is one row.

    Example: olive-iw doctor breakout pong --calls 500

    Args:
        games: Atari games; none means the 55 of the paper.
        calls: Simulator calls per game.
        seed: Seed of the random walks.
        jobs: Games examined at the same time.
        json_output: Print JSON instead of a table.

    """
    chosen = games or PAPER_GAMES
    found = examine(chosen, calls=calls, seed=seed, jobs=jobs)
    reports = list(
        track(found, "examining", total=len(chosen), console=console, disable=json_output)
    )
    reports.sort(key=lambda report: report.game)
    if json_output:
        print(json.dumps([report.to_dict() for report in reports], indent=2))
    else:
        console.print(doctor_table(reports))
    if not all(report.exact for report in reports):
        sys.exit(1)


def doctor_table(reports: Iterable[GameReport]) -> Table:
    """Table of reports, a row for each game."""
    rows = []
    for report in reports:
        counts = (report.restores, round(report.calls_per_second), report.actions, report.lives)
        numbers = [*map(number_cell, counts), Cell(f"{report.height}×{report.width}")]
        verdict = Cell(report.verdict, bold=not report.exact, style="" if report.exact else "red")
        rows.append([Cell(report.game), verdict, *(numbers if report.calls else [EMPTY] * 5)])
    columns = ("game", "verdict", "restores", "calls/s", "actions", "lives", "screen")
    return Table("Games restored", columns, rows, left=frozenset({0, 1}))
