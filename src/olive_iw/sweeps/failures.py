"""What a run that failed leaves in its folder."""

import json
import time
from pathlib import Path
from typing import Any

from olive_iw.runs.folder import write_json
from olive_iw.sweeps.engines.base import Job, RunError

FAILED = "failed.json"


def record_failure(job: Job, error: RunError, attempts: int) -> None:
    """Write `failed.json`: why, where in the code, after how many attempts, and the log's name."""
    job.folder.mkdir(parents=True, exist_ok=True)
    fields = {
        "format": 1,
        "kind": error.kind,
        "reason": error.reason,
        "traceback": error.trace,
        "attempts": attempts,
        "log": job.log.name if job.log.exists() else None,
        "time": time.time(),
    }
    write_json(job.folder / FAILED, fields)


def forget_failure(folder: Path) -> None:
    """Remove `failed.json`: the run is tried again, or is finished."""
    (folder / FAILED).unlink(missing_ok=True)


def read_failure(folder: Path) -> dict[str, Any] | None:
    """Return what `record_failure` wrote, or None."""
    try:
        fields = json.loads((folder / FAILED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return fields if isinstance(fields, dict) and "reason" in fields else None
