"""Which runs this user has verified, for reports.

That is remembered in the user's cache, not in the run's folder, where anybody who made it could
have said so.
"""

import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from olive_iw.errors import DamagedFileError
from olive_iw.files import write_json
from olive_iw.reading import read_bytes
from olive_iw.runs.config import versions
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.verification import Verification

_UNKNOWN = (OSError, DamagedFileError, RuntimeError)
"""The last if the user has no home."""


def remember(found: Iterable[Verification]) -> None:
    """Note which runs were confirmed as a whole, for `is_verified`, where notes can be written."""
    runs: dict[Path, dict[Path, bool]] = {}
    for one in found:
        place = one.path.parent
        run = place.parent if place.name == "episodes" else place
        runs.setdefault(run, {})[one.path] = one.confirmed
    for run, files in runs.items():
        folder = RunFolder(run)
        with suppress(*_UNKNOWN):
            whole = set(files) == set(folder.episode_files().values())
            if whole and all(files.values()) and folder.begun:
                note = _note(folder)
                note.parent.mkdir(parents=True, exist_ok=True)
                write_json(note, {"run": str(run.absolute()), "versions": versions()})


def is_verified(folder: RunFolder) -> bool:
    """Say whether `verify` has confirmed the run for this user, and no file changed since."""
    try:
        return folder.begun and _note(folder).exists()
    except _UNKNOWN:
        return False


def _note(folder: RunFolder) -> Path:
    """File of this user's that stands for the bytes of all files that say what a run came to."""
    files = [folder.config_path, *folder.episode_files().values()]
    files += [folder.result_path] if folder.finished else []
    contents = {path.name: hashlib.sha256(read_bytes(path)).hexdigest() for path in files}
    digest = hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "olive-iw" / "verified" / f"{digest}.json"
