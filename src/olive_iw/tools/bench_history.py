"""Bench reports on disk."""

import json
from pathlib import Path

from olive_iw.errors import InputError
from olive_iw.files import write_json
from olive_iw.tools.bench_report import BenchReport

HISTORY = "bench-history"
"""Folder of the reports, named by date and version."""


def save_history(report: BenchReport, folder: Path | str) -> Path:
    """Write a report below `folder`, named after its date and version; return its path."""
    history = Path(folder) / HISTORY
    history.mkdir(parents=True, exist_ok=True)
    date = "".join(letter for letter in report.created[:19] if letter not in ":")
    path = history / f"{date}-{report.versions.get('olive-iw', 'unknown')}.json"
    write_json(path, report.to_dict())
    return path


def load_report(path: Path | str) -> BenchReport:
    """Read a report that `save_history` wrote; a file that is none is an `InputError`."""
    try:
        fields = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not a bench report: {error}") from None
    return BenchReport.from_dict(fields)


def latest_report(folder: Path | str) -> BenchReport | None:
    """Newest report that `save_history` wrote below `folder`, None if there is none."""
    paths = sorted((Path(folder) / HISTORY).glob("*.json"))
    return load_report(paths[-1]) if paths else None
