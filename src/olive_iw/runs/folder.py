"""THE reader and writer of a run's folder: it alone knows the files and their formats.

Every file is written aside, then renamed, so that none is ever half there; and every file is read
as if a stranger had written it: what is torn or odd is a `DamagedFileError`, and no link is
followed out of the folder.
"""

import dataclasses
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from olive_iw.agents import Agent
from olive_iw.agents.format1 import in_words
from olive_iw.algorithms import ALGORITHMS
from olive_iw.errors import DamagedFileError, InputError
from olive_iw.files import (
    flush,
    flush_folder,
    make_folder,
    naming,
    refuse_links,
    remove_leftovers,
    write_json,
    write_text,
)
from olive_iw.reading import fill, read_json, read_toml, refuse_odd
from olive_iw.runs.config import (
    FORMAT,
    RunConfig,
    differences,
    said_once,
    tables_of,
    to_toml,
)
from olive_iw.runs.events import E, Event, append_event, read_events
from olive_iw.runs.lock import is_locked, locked
from olive_iw.runs.records import (
    EpisodeRecord,
    Failure,
    Origin,
    Phase,
    Pulse,
    Result,
    RunIdentity,
    episode_name,
    read_episode,
)
from olive_iw.runs.start import Start

State: TypeAlias = Literal["done", "running", "failed", "stopped", "missing"]
STATES: tuple[State, ...] = get_args(State)
"""Of a run: "stopped" was begun and is not being worked on, "missing" was not begun."""

T = TypeVar("T", Failure, Origin, Pulse)
_EPISODE = re.compile(r"(training|evaluation)-\d{4,9}(-\d{2,9})?")


class RunFolder:
    """One run's folder: configuration, events, checkpoint, episodes, result, and its state."""

    def __init__(self, path: Path, name: str | None = None, within: Path | None = None) -> None:
        """Take a folder that is there or is to be; `name` is what it is called to people.

        On the way to it from `within`, the folder of all runs, no link is followed to write it.
        """
        self.path = path
        self._within = within or path
        self.name = name or path.name
        self.config_path = path / "config.toml"
        self.events_path = path / "events.jsonl"
        self.checkpoint_path = path / "checkpoint"
        self.episodes_path = path / "episodes"
        self.result_path = path / Result.file
        self.log_path = path / "worker.log"
        self._lock_path = path / "lock"
        self._new_checkpoint_path = path / "checkpoint.new"
        self._old_checkpoint_path = path / "checkpoint.old"

    def __str__(self) -> str:
        return str(self.path)

    # What the run is, and how far it has come

    @property
    def begun(self) -> bool:
        """Whether there is a configuration."""
        return self.config_path.exists()

    @property
    def finished(self) -> bool:
        """Whether the run has written its result."""
        return self.result_path.exists()

    @property
    def locked(self) -> bool:
        """Whether a living process works on the run."""
        return is_locked(self._lock_path)

    @property
    def state(self) -> State:
        """Say how far the run has come."""
        if self.finished:
            return "done"
        if self.locked:
            return "running"
        if self.read(Failure):
            return "failed"
        return "stopped" if self.begun else "missing"

    def settings(self) -> dict[str, Any]:
        """Read config.toml as it stands, also of an unknown algorithm; values are not checked."""
        return read_toml(self.config_path)

    def config(self) -> RunConfig:
        """Read what the run was asked to do."""
        return RunConfig.from_dict(self.settings(), self.config_path)

    def recorded(self) -> tuple[RunConfig, dict[str, Any]]:
        """Read the same, and apart from it the options that it asks for and that are no more."""
        return RunConfig.recorded(self.settings(), self.config_path)

    def identity(self) -> RunIdentity:
        """Read what tells the run from others: from its configuration, or else its result."""
        if not self.begun and not self.finished:
            raise DamagedFileError(self.path, "neither config.toml nor result.json says what it is")
        if not self.begun:
            result = self.read_result()
            fields = dataclasses.asdict(result) | {"recorded_variant": result.variant}
            fields |= {"variant": result.variant or "", "episodes": len(result.scores)}
            return fill(RunIdentity, fields, self.result_path)
        fields, path = self.settings(), self.config_path
        said = said_once(fields, path)
        variant, learns = self._variant(fields)
        known = {**said, **fields, "variant": variant, "recorded_variant": fields.get("variant")}
        return fill(RunIdentity, known if learns else known | {"training_calls": 0}, path)

    def _variant(self, fields: dict[str, Any]) -> tuple[str, bool]:
        """Return the variant of a configuration, and whether its algorithm learns.

        Options that are no more stand at its end. Of an algorithm that is not known here the
        variant is what the file says; files of version 0.1.0 do not, so there it is a number that
        stands for all settings.
        """
        name, variant = fields.get("algorithm"), fields.get("variant")
        if isinstance(name, str) and name in ALGORITHMS.loaded:
            config, asked = RunConfig.described(fields, self.config_path)
            parts = (config.spec.variant, in_words(asked))
            return ",".join(filter(None, parts)), config.spec.learns
        if not isinstance(variant, str):
            tables = repr(list(tables_of(fields).values()))
            variant = f"settings {hashlib.sha256(tables.encode()).hexdigest()[:8]}"
        return variant, bool(self.episode_files("training"))

    # Working on the run

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the folder for this process; `BusyError` if another one does.

        A folder whose members lead out of it is refused: something else would be overwritten.
        """
        try:
            make_folder(self.path, self._within)
        except OSError as error:
            raise InputError(
                f"{self.path} cannot be made ({error.strerror}); give another --out"
            ) from None
        for place, folders, files in os.walk(self.path):
            refuse_odd(Path(place, name) for name in (*folders, *files))
        with locked(self._lock_path):
            yield

    @contextmanager
    def open(self, config: RunConfig) -> Iterator[Start]:
        """Hold the folder for this process; begin it, or check that it is of the same run.

        The start that is given can take back all that was made here; if this fails, it does.
        """
        start = Start(self.path)
        with self.hold():
            start.look()
            try:
                self._begin(config)
            except Exception:
                start.take_back()
                raise
            yield start

    def _begin(self, config: RunConfig) -> None:
        self.check(config)
        if not self.done(config):
            self.result_path.unlink(missing_ok=True)
            write_text(self.config_path, to_toml(config.to_dict()))
        self.episodes_path.mkdir(exist_ok=True)
        self._mend_checkpoint()
        for folder in (self.path, self.episodes_path):
            remove_leftovers(folder)

    def done(self, config: RunConfig) -> bool:
        """Whether nothing is left to do of a run, which may ask for more episodes than before."""
        return self.finished and self.config().episodes >= config.episodes

    def check(self, config: RunConfig, versions_too: bool = True) -> None:
        """Refuse to go on with a run of another configuration, saying what differs.

        A run may be asked for more episodes than before: the others stay as they are. Without
        `versions_too` it may have been made with other versions of the packages.
        """
        refuse_links(self.path, self._within)
        if not self.begun:
            saved = (self.checkpoint_path, self._new_checkpoint_path, self._old_checkpoint_path)
            found = any(path.exists() for path in saved) or bool(self.episode_files())
            if found or self.finished:
                raise InputError(
                    f"{self.path} holds files of a run, but no config.toml says of which; "
                    "give another --out, or remove that folder"
                )
            return
        # Read and written again, a file of an earlier version has all that this one writes.
        before, now = self.config(), config.to_dict()
        grows = before.episodes < config.episodes
        said = dict(self.settings().get("versions", {}))
        if not config.spec.needs_torch:
            said.pop("torch", None)  # which made no difference
        recorded = before.to_dict() | {"versions": now["versions"] | said}
        if not config.spec.learns:
            recorded["training_calls"] = now["training_calls"]  # which nobody spends
        changed = differences(recorded | ({"episodes": config.episodes} if grows else {}), now)
        if not versions_too:
            changed = [line for line in changed if not line.startswith("versions.")]
        if changed:
            raise InputError(
                f"{self.path} holds a run of another configuration ({'; '.join(changed)}); "
                "give another --out, or remove that folder"
            )
        if grows and self.finished and config.spec.learns and not self.checkpoint_path.is_dir():
            raise InputError(
                f"{self.path} has no checkpoint: it cannot play more episodes; give another --out"
            )

    def note(self, event: Event) -> None:
        """Append an event."""
        append_event(self.events_path, event)

    def events(self, kind: type[E]) -> list[E]:
        """Events of a kind in order; of an episode played twice only the later counts."""
        happened = enumerate(read_events(self.events_path, kind))
        found = {getattr(event, "number", index): event for index, event in happened}
        return [found[number] for number in sorted(found)]

    # Episodes

    def episode_path(self, phase: Phase, number: int, game: int = 0) -> Path:
        """File of an episode; `game` counts the games of a training episode that has several."""
        return self.episodes_path / f"{episode_name(phase, number, game)}.json"

    def episode_files(self, phase: Phase | None = None) -> dict[str, Path]:
        """Files of episodes by id, such as evaluation-0000, in order: evaluation first.

        Files that are not named like an episode are none.
        """
        refuse_odd([self.episodes_path])
        found = sorted(self.episodes_path.glob(f"{phase or '*'}-*.json"))
        return {path.stem: path for path in found if _EPISODE.fullmatch(path.stem)}

    def read_episode(self, episode: str) -> EpisodeRecord:
        """Read an episode by its id."""
        return read_episode(self.episodes_path / f"{episode}.json")

    def write_episode(self, record: EpisodeRecord) -> None:
        """Write an episode of the run."""
        write_json(self.episodes_path / f"{record.name}.json", record.to_dict())

    # Checkpoint

    def checkpoint(self) -> Path:
        """Folder of the saved agent; `InputError` if there is none, or a link in its place."""
        path = self.checkpoint_path
        if not path.is_dir():
            raise InputError(f"{self.path} has no checkpoint yet; go on with its 'olive-iw run'")
        refuse_odd((path, *path.iterdir()))
        return path

    def save_checkpoint(self, agent: Agent) -> None:
        """Replace the checkpoint by the agent as it is now."""
        new, old = self._new_checkpoint_path, self._old_checkpoint_path
        shutil.rmtree(new, ignore_errors=True)
        with naming(new):
            agent.save(new)
            for path in new.rglob("*"):
                if path.is_file():
                    flush(path)
        flush_folder(new)
        if self.checkpoint_path.exists():
            self.checkpoint_path.rename(old)
        new.rename(self.checkpoint_path)
        flush_folder(self.path)
        shutil.rmtree(old, ignore_errors=True)

    def _mend_checkpoint(self) -> None:
        """If a run was killed between the two renames, take the old checkpoint back."""
        if self._old_checkpoint_path.exists() and not self.checkpoint_path.exists():
            self._old_checkpoint_path.rename(self.checkpoint_path)
        for path in (self._old_checkpoint_path, self._new_checkpoint_path):
            shutil.rmtree(path, ignore_errors=True)

    # What a run leaves behind

    def read_result(self) -> Result:
        """Read what a finished run came to."""
        return fill(Result, read_json(self.result_path), self.result_path)

    def read(self, kind: type[T]) -> T | None:
        """Read a small file of the folder; None if it is not there or cannot be read.

        It says why the run was given up (`Failure`), where it was a few seconds ago (`Pulse`), or
        what a compact copy was made from (`Origin`).
        """
        path = self.path / kind.file
        try:
            return fill(kind, read_json(path), path)
        except DamagedFileError:
            return None

    def write(self, record: Result | Failure | Origin | Pulse) -> None:
        """Write what the run came to (that ends it), or a small file that `read` reads.

        A pulse is not forced to the disk: it may be lost.
        """
        make_folder(self.path, self._within)
        fields = {"format": FORMAT, **dataclasses.asdict(record)}
        write_json(self.path / record.file, fields, durable=not isinstance(record, Pulse))

    def forget_failure(self) -> None:
        """Let the run count as given up no more: it is tried again, or is finished."""
        (self.path / Failure.file).unlink(missing_ok=True)


def find_runs(root: Path) -> Iterator[RunFolder]:
    """Every run below a folder, or itself, in a fixed order; links are not followed.

    A folder is a run if it has a configuration, a result or a folder of episodes. Names are
    relative to the root.
    """
    for place, folders, files in os.walk(root):
        if "config.toml" in files or "result.json" in files or "episodes" in folders:
            path = Path(place)
            # The bytes of a name may be no UTF-8, but tables and pages are.
            name = os.fsencode(path.relative_to(root).as_posix()).decode(errors="backslashreplace")
            yield RunFolder(path, path.resolve().name if name == "." else name)
            folders.clear()
        folders.sort()
