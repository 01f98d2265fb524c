"""A sweep as a person sees it: its plan; then one live table, or lines without a terminal."""

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from olive_iw.errors import clean_text
from olive_iw.runs.progress import duration
from olive_iw.runs.records import Failure, Pulse
from olive_iw.sweeps.engines.base import Job
from olive_iw.sweeps.estimate import Estimate
from olive_iw.tables import MISSING, Cell, Table, counted, number_cell

LINES_EVERY = 60.0
"""Seconds between two lines of progress where there is no terminal."""


def plan_table(jobs: Sequence[Job], todo: Sequence[Job]) -> Table:
    """Count the runs of a sweep, of which some are to be done: a row per configuration."""
    groups: defaultdict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        spec, caveat = job.config.spec, job.config.spec.parts.caveat
        words = (spec.label, f"({caveat})" if caveat else "", job.variation)
        groups[" ".join(filter(None, words))].append(job)
    left, rows = set(todo), []
    for name, group in groups.items():
        unfinished = [job for job in group if job in left]
        begun = sum(job.run.begun for job in unfinished)
        games = {job.config.game for job in group}
        seeds = {job.config.spec.seed for job in group}
        done, new = len(group) - len(unfinished), len(unfinished) - begun
        counts = (len(games), len(seeds), len(group), done, begun, new)
        rows.append([Cell(name), *map(number_cell, counts)])
    title = f"{counted(len(jobs), 'run')}, {len(jobs) - len(todo)} of them finished"
    return Table(title, ("algorithm", "games", "seeds", "runs", "finished", "begun", "new"), rows)


@dataclass(slots=True)
class SweepReport:
    """How far a sweep has come, and in the end what became of it."""

    estimate: Estimate
    """Of the runs that were to be done when it began."""
    total: int
    skipped: int = 0
    """Runs that were finished before."""
    done: int = 0
    """Runs that finished meanwhile, here or in another process."""
    failed: dict[Job, Failure] = field(default_factory=dict)
    """Runs that were given up."""
    elsewhere: set[Job] = field(default_factory=set)
    """Runs that another process works on."""
    running: dict[Job, float] = field(default_factory=dict)
    """When each running job was submitted (`time.monotonic`)."""
    seconds_left: float | None = None

    @property
    def exit_code(self) -> int:
        """For the command line: 1 if some run failed."""
        return 1 if self.failed else 0

    def summary(self, calls_per_second: float) -> str:
        """Say it in one line."""
        done, running = self.skipped + self.done, len(self.running)
        waiting = self.total - done - running - len(self.failed) - len(self.elsewhere)
        parts = [f"{done} of {self.total} done", f"{running} running", f"{waiting} waiting"]
        if self.elsewhere:
            parts.append(f"{len(self.elsewhere)} being done by another process")
        parts += [f"{len(self.failed)} failed", f"{calls_per_second:,.0f} calls/s"]
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
        text = Text(clean_text(line), style)
        self._console.print(text, highlight=False, soft_wrap=True)

    def show(self, report: SweepReport) -> None:
        """Bring the table up to date."""
        if self._console.is_terminal:
            table, rate = _running(self._title, report)
            self._live.update(Group(table, Text(report.summary(rate))), refresh=True)
        elif time.monotonic() - self._said >= LINES_EVERY:
            self._said = time.monotonic()
            self.say(report.summary(_running(self._title, report)[1]))


def _running(title: str, report: SweepReport) -> tuple[Table, float]:
    """Table of the jobs that are running, and their calls per second together."""
    rows, total = [], 0.0
    for job, began in report.running.items():
        seconds = time.monotonic() - began
        pulse, phase, rate = job.run.read(Pulse), MISSING, None
        # A pulse of an earlier attempt says nothing about this one.
        if pulse and 0 < pulse.seconds <= seconds + 1:
            phase, rate = f"{pulse.phase} {pulse.episode}", round(pulse.calls / pulse.seconds)
            total += pulse.calls / pulse.seconds
        rows.append([Cell(job.name), Cell(phase), number_cell(rate), Cell(duration(seconds))])
    return Table(title, ("running", "phase", "calls/s", "for"), rows), total
