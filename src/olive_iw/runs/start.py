"""A start of a run that comes to nothing leaves the disk as it was."""

import shutil
from contextlib import suppress
from pathlib import Path
from typing import final

TENSORBOARD = "tensorboard"
"""Folder in a run's folder that its figures are in, where TensorBoard is to show them."""
_BEGUN = {"config.toml", "worker.log"}
_FILES = ("config.toml", "events.jsonl", "pulse.json", "lock")
"""What a run writes before its first decision, the configuration first."""


@final
class Start:
    """What one start of a run makes in its folder, to be taken back if it comes to nothing.

    What was there before, and what others put there, is never removed.
    """

    def __init__(self, folder: Path) -> None:
        """Note what is there before the folder is held."""
        self._folder = folder
        self._missing = [place for place in (folder, *folder.parents) if not place.exists()]
        self._before = self._names()

    def look(self) -> None:
        """Note what is there now that it is held: of another start meanwhile all but its lock."""
        self._before |= self._names() - {"lock"}

    def _names(self) -> set[str]:
        return {path.name for path in self._folder.iterdir()} if self._folder.is_dir() else set()

    def take_back(self) -> None:
        """Remove what this start has made, unless it went on with a run that was begun before."""
        if self._before & _BEGUN:
            return
        for name in _FILES:
            if name not in self._before:
                (self._folder / name).unlink(missing_ok=True)
        if TENSORBOARD not in self._before:
            shutil.rmtree(self._folder / TENSORBOARD, ignore_errors=True)
        with suppress(OSError):  # what is not empty holds something that this start did not make
            if "episodes" not in self._before:
                (self._folder / "episodes").rmdir()
            for folder in self._missing:
                folder.rmdir()
