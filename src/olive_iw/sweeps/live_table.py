"""A sweep as a person watches it: one live table, or plain lines where there is no terminal."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from olive_iw.runs.folder import RunFolder
from olive_iw.sweeps.engines.base import Job
from olive_iw.sweeps.estimate import duration

LINES_EVERY = 60.0
"""Seconds between two lines of progress where there is no terminal."""


@dataclass(slots=True)
class SweepProgress:
    """How far a sweep has come."""

    total: int
    done: int = 0
    failed: int = 0
    elsewhere: int = 0
    """Runs that another process works on."""
    seconds_left: float | None = None
    running: Mapping[Job, float] = field(default_factory=dict)
    """When each running job was submitted (`time.monotonic`)."""

    def summary(self, calls_per_second: float) -> str:
        """Say it in one line."""
        waiting = self.total - self.done - self.failed - self.elsewhere - len(self.running)
        parts = [
            f"{self.done} of {self.total} done",
            f"{len(self.running)} running",
            f"{waiting} waiting",
        ]
        if self.elsewhere:
            parts.append(f"{self.elsewhere} being done by another process")
        parts += [f"{self.failed} failed", f"{calls_per_second:,.0f} calls/s"]
        if self.seconds_left is not None:
            parts.append(f"about {duration(self.seconds_left)} left")
        return " · ".join(parts)


class LiveTable:
    """Draws a sweep. Use as a context manager around it."""

    def __init__(self, console: Console, title: str) -> None:
        self._console = console
        self._title = title
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._said = time.monotonic()

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def say(self, line: str, style: str = "") -> None:
        """Print a line that stays, above the table."""
        self._console.print(line, style=style, highlight=False, markup=False, soft_wrap=True)

    def show(self, progress: SweepProgress) -> None:
        """Bring the table up to date."""
        if self._console.is_terminal:
            self._live.update(_table(self._title, progress), refresh=True)
        elif time.monotonic() - self._said >= LINES_EVERY:
            self._said = time.monotonic()
            self.say(progress.summary(sum(_rates(progress).values())))


def _rates(progress: SweepProgress) -> dict[Job, float]:
    """Return calls per second of each running job since it began, where it says so."""
    rates = {}
    for job, began in progress.running.items():
        pulse = RunFolder(job.folder).read_pulse()
        # A pulse of an earlier attempt says nothing about this one.
        if pulse and 0 < pulse.seconds <= time.monotonic() - began + 1:
            rates[job] = pulse.calls / pulse.seconds
    return rates


def _table(title: str, progress: SweepProgress) -> Group:
    rates = _rates(progress)
    table = Table(title=title, title_justify="left", expand=False)
    table.add_column("running")
    for heading in ("phase", "calls/s", "for"):
        table.add_column(heading, justify="right")
    for job, began in progress.running.items():
        pulse = RunFolder(job.folder).read_pulse() if job in rates else None
        table.add_row(
            job.name,
            f"{pulse.phase} {pulse.episode}" if pulse else "–",
            f"{rates[job]:,.0f}" if job in rates else "–",
            duration(time.monotonic() - began),
        )
    return Group(table, Text(progress.summary(sum(rates.values()))))
