"""How far the runs below a folder have come."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from olive_iw.errors import InputError, noted, one_line
from olive_iw.reading import refuse_odd
from olive_iw.runs.folder import STATES, RunFolder, State, find_runs
from olive_iw.runs.records import Failure, Pulse
from olive_iw.sweeps.file import read_sweep
from olive_iw.tables import Cell, Table, counted

SWEEP_FILES = "sweep-files"
"""Folder of a sweep's folder that keeps the sweep files it was made from."""
_STYLES = {"running": "green", "failed": "red", "stopped": "yellow", "missing": "dim"}


@dataclass(frozen=True, slots=True)
class RunState:
    """How far one run has come."""

    name: str
    """Its folder, relative to the sweep's."""
    state: State
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """All runs of a folder."""

    runs: Sequence[RunState]
    problems: Sequence[str] = ()
    """Sweep files in the folder, and what says which runs they are, that cannot be read: a line
    each."""

    @property
    def counts(self) -> dict[State, int]:
        """Number of runs in each state."""
        found = Counter(run.state for run in self.runs)
        return {state: found[state] for state in STATES}

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and the state of every run, for JSON."""
        return {
            "counts": dict(self.counts),
            "runs": {run.name: {"state": run.state, "detail": run.detail} for run in self.runs},
        }


def status(folder: Path, file: Path | None = None) -> Status:
    """Look at every run below a folder, and at the runs that its sweep files ask for.

    file: a sweep file to compare with, instead of the ones that were copied into the folder
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; give a folder of runs, such as runs")
    runs = {run.path: run for run in find_runs(folder)}
    problems: list[str] = []
    wanted: Counter[Path] = Counter()
    for path in [file] if file else sorted((folder / SWEEP_FILES).glob("*.toml")):
        try:
            if not file:
                refuse_odd([path])
            jobs = read_sweep(path, folder)
        except InputError as error:
            if file:
                raise
            problems.append(str(error))
            continue
        for job in jobs:
            place = job.folder  # takes long to say, where there are many
            # A run that failed before it wrote its configuration has a folder all the same.
            runs.setdefault(place, RunFolder(place, place.relative_to(folder).as_posix()))
            wanted[place] = max(wanted[place], job.config.episodes)
    states = [_state(run, wanted[path], problems) for path, run in runs.items()]
    return Status(sorted(states, key=lambda run: (STATES.index(run.state), run.name)), problems)


def _state(run: RunFolder, wanted: int, problems: list[str]) -> RunState:
    """Say how far a run has come, of which a sweep file wants so many episodes (0: none does)."""
    state, detail, played = run.state, "", None
    if run.begun or run.finished:
        with noted(problems):
            played = run.identity().episodes
            if run.finished:
                run.read_result()
    if state == "done" and played is not None and played < wanted:
        state, detail = "stopped", f"{played:,} of {wanted:,} episodes"
    elif state == "failed" and (failure := run.read(Failure)):
        detail = failure.reason + (f"; log: {run.path / failure.log}" if failure.log else "")
    elif state in ("running", "stopped") and (pulse := run.read(Pulse)):
        detail = f"{pulse.phase} {pulse.episode}, {pulse.calls:,} calls"
    return RunState(run.name, state, one_line(detail))


def status_table(found: Status) -> Table:
    """Table of the runs that are not done, with the counts of all."""
    counts = ", ".join(f"{count} {state}" for state, count in found.counts.items())
    rows = [
        [Cell(text, style=_STYLES[run.state]) for text in (run.name, run.state, run.detail)]
        for run in found.runs
        if run.state != "done"
    ]
    title = f"{counted(len(found.runs), 'run')}: {counts}"
    return Table(title, ("run", "state", "what is known"), rows, left=frozenset({0, 1, 2}))
