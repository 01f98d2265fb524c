"""All results below a folder as one table: a row per evaluation episode.

The rows come from the runs' events, which are small; the episodes' own files hold every decision
and are opened only where an event is missing.
"""

import contextlib
import csv
import dataclasses
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from olive_iw.algorithms import ALGORITHMS
from olive_iw.errors import DamagedFileError, InputError
from olive_iw.runs.events import EvaluationEpisodeDone
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.runs.records import read_episode

Index: TypeAlias = dict[str, NDArray[Any]]
"""Columns by name, all of the same length."""

COLUMNS: Mapping[str, Any] = {
    "game": np.str_,
    "algorithm": np.str_,
    "profile": np.str_,
    "seed": np.int64,
    "episode": np.int64,
    "score": np.float64,
    "actions": np.int64,
    "calls": np.int64,
    "seconds": np.float64,
    "ended": np.str_,
    "training_calls": np.int64,
    "calls_per_action": np.int64,
    "max_actions": np.int64,
    "finished": np.bool_,
    "folder": np.str_,
}
"""Names and types of an index's columns. `finished` is the run's; `folder` is relative."""


def load_index(root: Path) -> Index:
    """Read the evaluation episodes of all runs below a folder, finished or not."""
    if not root.is_dir():
        raise InputError(f"{root} is not a folder; give a folder of runs, such as runs")
    rows = [row for run in find_runs(root) for row in _rows(run)]
    return {
        name: np.array([row[name] for row in rows], dtype=kind) for name, kind in COLUMNS.items()
    }


def _rows(run: RunFolder) -> list[dict[str, Any]]:
    """Rows of a run; of one that cannot be read there are none."""
    try:
        numbers = sorted(int(name.split("-")[1]) for name in run.episode_files("evaluation"))
        events = {event.number: event for event in run.events(EvaluationEpisodeDone)}
        common = _identity(run) if numbers else {}
    except DamagedFileError:
        return []
    found = (
        (number, _from_event(events.get(number)) or _from_file(run, number)) for number in numbers
    )
    return [{**common, "episode": number, **episode} for number, episode in found if episode]


def _identity(run: RunFolder) -> dict[str, Any]:
    """Read what a run's rows share; `result.json` is quicker to read than `config.toml`."""
    shared = {"finished": run.finished, "folder": run.name}
    if run.finished:
        with contextlib.suppress(DamagedFileError):
            return {**dataclasses.asdict(run.read_result()), **shared}
    config = run.config()
    spec = config.spec
    # An algorithm that does not learn has training calls in its configuration all the same.
    learns = spec.algorithm not in ALGORITHMS or ALGORITHMS[spec.algorithm].learning != "none"
    return {
        "game": config.game,
        "algorithm": spec.algorithm,
        "profile": spec.profile,
        "seed": spec.seed,
        "training_calls": config.training_calls if learns else 0,
        "calls_per_action": spec.options.calls_per_action,
        "max_actions": config.max_actions,
        **shared,
    }


def _from_event(event: EvaluationEpisodeDone | None) -> dict[str, Any] | None:
    return None if event is None else {name: getattr(event, name) for name in _OF_EPISODE}


_OF_EPISODE = ("score", "actions", "calls", "seconds", "ended")


def _from_file(run: RunFolder, number: int) -> dict[str, Any] | None:
    try:
        record = read_episode(run.episode_path("evaluation", number))
    except DamagedFileError:
        return None
    fields = {name: getattr(record, name) for name in _OF_EPISODE}
    return fields | {"actions": len(record.actions), "ended": record.ended or ""}


def export(root: Path, path: Path) -> int:
    """Write the index of a folder as CSV or Parquet, by the name's ending; return its rows."""
    writers = {".csv": _write_csv, ".parquet": _write_parquet}
    if path.suffix not in writers:
        raise InputError(f"{path} should end in .csv or .parquet")
    index = load_index(root)
    writers[path.suffix](index, path)
    return len(index["score"])


def _write_csv(index: Index, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(index)
        writer.writerows(zip(*(column.tolist() for column in index.values()), strict=True))


def _write_parquet(index: Index, path: Path) -> None:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise InputError(
            "Parquet files need the package pyarrow: pip install pyarrow; or write a .csv"
        ) from None
    parquet.write_table(arrow.table(index), path)
