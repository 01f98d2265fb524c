"""All results below a folder as one table: a row per evaluation episode.

The rows come from the runs' events, which are small; the episodes' own files hold every decision
and are opened only where an event is missing.
"""

import csv
import json
import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from olive_iw.algorithms import ALGORITHMS
from olive_iw.errors import InputError
from olive_iw.runs.config import read_toml
from olive_iw.runs.events import EvaluationEpisodeDone

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

_MARK = f'"type": "{EvaluationEpisodeDone.type}"'


def run_folders(root: Path) -> Iterator[Path]:
    """Yield every folder below `root`, or itself, that holds a run, in a fixed order."""
    for folder, below, files in os.walk(root):
        if "config.toml" in files:
            yield Path(folder)
            below.clear()
        below.sort()


def load_index(root: Path) -> Index:
    """Read the evaluation episodes of all runs below a folder, finished or not."""
    if not root.is_dir():
        raise InputError(f"{root} is not a folder; give a folder of runs, such as runs")
    rows = [row for folder in run_folders(root) for row in _rows(folder, root)]
    return {
        name: np.array([row[name] for row in rows], dtype=kind) for name, kind in COLUMNS.items()
    }


def _rows(folder: Path, root: Path) -> Iterator[dict[str, Any]]:
    episodes = _from_events(folder / "events.jsonl")
    numbers = [
        int(path.stem.removeprefix("evaluation-"))
        for path in (folder / "episodes").glob("evaluation-*.json")
    ]
    if not numbers:
        return
    common = _identity(folder) | {"folder": folder.relative_to(root).as_posix()}
    for number in sorted(numbers):
        episode = episodes.get(number) or _from_file(folder, number)
        if episode is not None:
            yield {**common, "episode": number, **episode}


def _identity(folder: Path) -> dict[str, Any]:
    """Read what a run's rows share; `result.json` is quicker to read than `config.toml`."""
    result = folder / "result.json"
    fields = _json(result)
    if fields is None:
        config = read_toml(folder / "config.toml")
        # An algorithm that does not learn has training calls in its configuration all the same.
        algorithm = config["algorithm"]
        learns = algorithm not in ALGORITHMS or ALGORITHMS[algorithm].learning != "none"
        fields = {**config["options"], **config}
        fields["training_calls"] = config["training_calls"] if learns else 0
    names = COLUMNS.keys() & fields.keys() - {"seconds", "calls"}
    return {"finished": result.exists(), **{name: fields[name] for name in names}}


def _from_events(path: Path) -> dict[int, dict[str, Any]]:
    """Read evaluation episodes by number; a torn line is passed over, a later line counts."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    found: dict[int, dict[str, Any]] = {}
    for line in text.splitlines():
        if _MARK not in line:
            continue
        try:
            event = json.loads(line)
            found[int(event["number"])] = {name: event[name] for name in _OF_EPISODE}
        except (ValueError, KeyError):
            continue
    return found


_OF_EPISODE = ("score", "actions", "calls", "seconds", "ended")


def _from_file(folder: Path, number: int) -> dict[str, Any] | None:
    fields = _json(folder / "episodes" / f"evaluation-{number:04d}.json")
    if fields is None:
        return None
    return {name: fields[name] for name in _OF_EPISODE} | {"actions": len(fields["actions"])}


def _json(path: Path) -> dict[str, Any] | None:
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return fields if isinstance(fields, dict) else None


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
