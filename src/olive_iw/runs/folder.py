"""The folder of a run: every file is written aside, then renamed, so that none is ever half."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from olive_iw.agents import Agent
from olive_iw.errors import InputError
from olive_iw.runs.config import RunConfig, differences, read_toml, to_toml
from olive_iw.runs.lock import locked
from olive_iw.files import flush, write_text


class RunStore:
    """One run's folder: configuration, events, checkpoint, episodes and result."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config_path = folder / "config.toml"
        self.events_path = folder / "events.jsonl"
        self.checkpoint_path = folder / "checkpoint"
        self.episodes_path = folder / "episodes"
        self.result_path = folder / "result.json"

    @contextmanager
    def open(self, config: RunConfig) -> Iterator[None]:
        """Hold the folder for this process; begin it, or check that it is of the same run."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with locked(self.folder / "lock"):
            self._check(config)
            self.episodes_path.mkdir(exist_ok=True)
            self._mend_checkpoint()
            self._remove_leftovers()
            yield

    def _check(self, config: RunConfig) -> None:
        now = config.to_dict()
        if not self.config_path.exists():
            write_text(self.config_path, to_toml(now))
            return
        changed = differences(read_toml(self.config_path), now)
        if changed:
            raise InputError(
                f"{self.folder} holds a run of another configuration "
                f"({'; '.join(changed)}); give another --out, or remove that folder"
            )

    @property
    def finished(self) -> bool:
        """Whether the run has written its result."""
        return self.result_path.exists()

    def save_checkpoint(self, agent: Agent) -> None:
        """Replace the checkpoint by the agent as it is now."""
        new, old = self._beside("new"), self._beside("old")
        shutil.rmtree(new, ignore_errors=True)
        agent.save(new)
        for path in new.rglob("*"):
            if path.is_file():
                flush(path)
        if self.checkpoint_path.exists():
            self.checkpoint_path.rename(old)
        new.rename(self.checkpoint_path)
        shutil.rmtree(old, ignore_errors=True)

    def _beside(self, suffix: str) -> Path:
        return self.folder / f"checkpoint.{suffix}"

    def _mend_checkpoint(self) -> None:
        """If a run was killed between the two renames, take the old checkpoint back."""
        old = self._beside("old")
        if old.exists() and not self.checkpoint_path.exists():
            old.rename(self.checkpoint_path)
        shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(self._beside("new"), ignore_errors=True)

    def _remove_leftovers(self) -> None:
        """Remove files that a killed process was writing aside; nobody else writes here now."""
        for folder in (self.folder, self.episodes_path):
            for path in folder.glob(".*"):
                if path.is_file():
                    path.unlink()

    def episode_path(self, phase: str, number: int) -> Path:
        """File of a "training" or "evaluation" episode."""
        return self.episodes_path / f"{phase}-{number:04d}.json"

    def read_json(self, path: Path) -> dict[str, Any]:
        """Read one of the run's files; an unreadable one is an `InputError`."""
        try:
            fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"{path} cannot be read: {error}") from None
        return fields


def write_json(path: Path, fields: dict[str, Any]) -> None:
    """Write a JSON file as a whole or not at all."""
    write_text(path, json.dumps(fields) + "\n")
