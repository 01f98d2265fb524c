"""How far the runs below a folder have come."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from rich.table import Table

from olive_iw.errors import InputError
from olive_iw.runs.lock import is_locked
from olive_iw.sweeps.export import run_folders
from olive_iw.sweeps.failures import read_failure
from olive_iw.sweeps.file import read_sweep
from olive_iw.sweeps.heartbeat import read_heartbeat

State: TypeAlias = Literal["done", "running", "failed", "stopped", "missing"]
STATES: tuple[State, ...] = ("done", "running", "failed", "stopped", "missing")

SWEEP_FILES = "sweep-files"
"""Folder of a sweep's folder that keeps the sweep files it was made from."""


@dataclass(frozen=True, slots=True)
class RunState:
    """One run: "stopped" was begun and is not being worked on, "missing" was not begun."""

    name: str
    """Its folder, relative to the sweep's."""
    state: State
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """All runs of a folder."""

    runs: Sequence[RunState]

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
    """Look at every run below a folder, and at those that its sweep files ask for.

    `file` is a sweep file to compare with instead of those that were copied into the folder.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; give a folder of runs, such as runs")
    found = {path: _state(path, folder) for path in run_folders(folder)}
    for path in _planned(folder, file):
        # A run that failed before it wrote its configuration has a folder all the same.
        found.setdefault(path, _state(path, folder))
    order = sorted(found.values(), key=lambda run: (STATES.index(run.state), run.name))
    return Status(order)


def _planned(folder: Path, file: Path | None) -> Iterator[Path]:
    files = sorted((folder / SWEEP_FILES).glob("*.toml")) if file is None else [file]
    for path in files:
        yield from (run.job(folder).folder for run in read_sweep(path))


def _state(path: Path, root: Path) -> RunState:
    name = path.relative_to(root).as_posix()
    if (path / "result.json").exists():
        return RunState(name, "done")
    if is_locked(path / "lock"):
        return RunState(name, "running", describe_heartbeat(path))
    failure = read_failure(path)
    if failure is not None:
        log = f"; log: {path / failure['log']}" if failure.get("log") else ""
        return RunState(name, "failed", f"{failure['reason']}{log}")
    if (path / "config.toml").exists():
        return RunState(name, "stopped", describe_heartbeat(path))
    return RunState(name, "missing")


def describe_heartbeat(folder: Path) -> str:
    """Say where a run is, as far as it says so itself."""
    pulse = read_heartbeat(folder)
    if pulse is None:
        return ""
    return f"{pulse['phase']} {pulse['episode']}, {pulse['calls']:,} calls"


def status_table(found: Status) -> Table:
    """Table of the runs that are not done, with the counts of all."""
    counts = ", ".join(f"{count} {state}" for state, count in found.counts.items())
    table = Table(title=f"{len(found.runs)} runs: {counts}")
    for heading in ("run", "state", "what is known"):
        table.add_column(heading, overflow="fold")
    styles = {"running": "green", "failed": "red", "stopped": "yellow", "missing": "dim"}
    for run in found.runs:
        if run.state != "done":
            table.add_row(run.name, run.state, run.detail, style=styles[run.state])
    return table
