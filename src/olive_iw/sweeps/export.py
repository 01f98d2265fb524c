"""All results below a folder as one table: a row per evaluation episode.

The rows come from the episodes' own files, which are what `verify` proves.
"""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from olive_iw.errors import InputError, needing, noted
from olive_iw.files import naming
from olive_iw.runs.events import EvaluationEpisodeDone
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.runs.records import read_episode

Index: TypeAlias = dict[str, NDArray[Any]]
"""Columns by name, all of the same length."""

COLUMNS: Mapping[str, Any] = {
    "game": np.str_,
    "algorithm": np.str_,
    "profile": np.str_,
    "variant": np.str_,
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
"""Names and types of an index's columns. `finished` is the run's; `folder` is relative; numbers
that a run does not tell are 0."""


def load_index(root: Path, problems: list[str] | None = None) -> Index:
    """Read the evaluation episodes of all runs below a folder, finished or not.

    What cannot be read is left out; `problems` is given a line on each.
    """
    if not root.is_dir():
        raise InputError(f"{root} is not a folder; give a folder of runs, such as runs")
    left_out = [] if problems is None else problems
    rows = [row for run in find_runs(root) for row in _rows(run, left_out)]
    return {
        name: np.array([0 if row[name] is None else row[name] for row in rows], dtype=kind)
        for name, kind in COLUMNS.items()
    }


def _rows(run: RunFolder, problems: list[str]) -> Iterator[dict[str, Any]]:
    """Yield rows of a run; of what cannot be read there are none."""
    with noted(problems):
        files = run.episode_files("evaluation")
        shared = asdict(run.identity()) | {"finished": run.finished, "folder": run.name}
        for name, path in files.items():
            number = int(name.split("-")[1])
            with noted(problems):
                episode = read_episode(path, with_values=False)
                done = EvaluationEpisodeDone.of(number, episode)
                yield {**shared, **asdict(done), "episode": number}


def export(root: Path, path: Path) -> tuple[int, list[str]]:
    """Write the index of a folder as CSV or Parquet, by the name's ending.

    Returns its number of rows, and a line on each file that cannot be read.
    """
    writers = {".csv": _write_csv, ".parquet": _write_parquet}
    if path.suffix not in writers:
        raise InputError(f"{path} should end in .csv or .parquet")
    problems: list[str] = []
    index = load_index(root, problems)
    with naming(path):
        writers[path.suffix](index, path)
    return len(index["score"]), problems


def _write_csv(index: Index, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(index)
        writer.writerows(zip(*(column.tolist() for column in index.values()), strict=True))


def _write_parquet(index: Index, path: Path) -> None:
    with needing("parquet", "a .parquet file (unlike a .csv)"):
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    parquet.write_table(arrow.table(index), path)
