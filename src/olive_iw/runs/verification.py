"""Verification: episodes fit their run, and their replays give every reward and the score."""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from olive_iw.errors import DamagedFileError, InputError, one_line
from olive_iw.files import write_json
from olive_iw.reading import read_bytes
from olive_iw.runs.config import versions
from olive_iw.runs.consistency import CheckedRun, check_run
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.runs.records import EpisodeRecord, read_episode
from olive_iw.runs.replay import Make, make_from_file, replay, simulator_of
from olive_iw.simulators.base import SimulatorError

GAME_OVER = "game over"


class Outcome(Enum):
    """What came of verifying a file."""

    CONFIRMED = "confirmed"
    DIFFERS = "differs"
    """Its replay is not what it says."""
    CONTRADICTS = "contradicts"
    """It cannot be of the run in whose folder it stands."""
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found in one file: an episode, or another file of a run that has a problem."""

    path: Path
    outcome: Outcome
    message: str
    """One line: what was confirmed, or what differs and at which action."""
    action: int | None = None
    """Index of the first action that differs."""
    score: float | None = None
    """The score of the replay, as far as it went."""
    warnings: tuple[str, ...] = ()

    @property
    def confirmed(self) -> bool:
        """Whether everything recorded came out again."""
        return self.outcome is Outcome.CONFIRMED


def verify_folder(path: Path | str, make: Make = make_from_file) -> list[Verification]:
    """Verify every run below a folder, or one episode file. Never raises for a bad file.

    An episode file that stands in no run is replayed by itself, and a warning says so.
    """
    path = Path(path)
    if path.is_file():
        return [verify_episode(path, make)]
    runs = [run for run in find_runs(path) if run.episodes_path.is_dir() or run.finished]
    if not runs:
        raise InputError(f"no episode file found in {path}; give a run folder or a file")
    return [one for folder in runs for one in verify_run(folder, make)]


def verify_run(folder: RunFolder, make: Make = make_from_file) -> Iterator[Verification]:
    """Verify one run: that its files fit each other, and every episode by its replay."""
    run = check_run(folder)
    for path, message in run.damaged.items():
        yield Verification(path, Outcome.UNREADABLE, message)
    for path, message in run.contradictions.items():
        yield Verification(path, Outcome.CONTRADICTS, message)
    warnings = tuple(run.warnings)
    for record in run.fitting:
        found = _verify_record(record, run, make)
        yield replace(found, warnings=found.warnings + warnings)
        warnings = ()  # those of the run, once


def verify_episode(path: Path | str, make: Make = make_from_file) -> Verification:
    """Verify one episode file: against its run, if it stands in one, and by its replay."""
    path = Path(path)
    folder = RunFolder(path.parent.parent)
    inside = path.parent.name == "episodes" and folder.begun
    run = check_run(folder) if inside else CheckedRun(folder)
    if path in run.contradictions:
        return Verification(path, Outcome.CONTRADICTS, run.contradictions[path])
    try:
        return _verify_record(read_episode(path, with_values=False), run, make)
    except DamagedFileError as error:
        return Verification(path, Outcome.UNREADABLE, str(error))


def _verify_record(record: EpisodeRecord, run: CheckedRun, make: Make) -> Verification:
    found = _replay(record, make)
    warnings = [
        f"played with {name} {record.versions[name]}, replayed with {now}"
        for name, now in versions().items()
        if record.versions.get(name, now) != now
    ]
    if run.identity is None:
        warnings.append(f"{record.path}: stands in no run; replayed by itself")
    elif found.confirmed and record.phase == "evaluation" and record.ended != GAME_OVER:
        limit, actions = run.identity.max_actions, len(record.actions)
        if limit is not None and actions < limit:
            warnings.append(f"stopped after {actions} of at most {limit} actions, game not over")
    return replace(found, warnings=tuple(warnings))


def _replay(record: EpisodeRecord, make: Make) -> Verification:
    """Find the first difference between the record and its replay."""
    score, index, over = 0.0, -1, False
    try:
        for done in replay(record, simulator_of(record, make)):
            index, reward, over = done.index, done.step.reward, done.step.terminal
            score += reward
            if reward != record.rewards[index]:
                what = f"reward {reward:g}, but {record.rewards[index]:g} is recorded"
                return _differs(record, index, score, what)
    except InputError as error:
        return Verification(record.path, Outcome.UNREADABLE, one_line(f"{record.path}: {error}"))
    except SimulatorError as error:
        return _differs(record, index + 1, score, str(error))
    left = len(record.actions) - 1 - index
    # Rewards may be fractions, and the recorded score may have been added up in another way.
    if left:
        what = f"game over, but {left} actions follow"
    elif abs(score - record.score) > 1e-6 * max(1.0, abs(score)):
        what = f"score {score:g}, but {record.score:g} is recorded"
    elif record.ended is not None and (record.ended == GAME_OVER) != over:
        now = "over" if over else "not over"
        what = f"the game is {now}, but it is recorded to have ended by: {record.ended}"
    else:
        message = f"{record.path}: {len(record.actions)} actions, score {score:g}"
        return Verification(record.path, Outcome.CONFIRMED, message, score=score)
    return _differs(record, max(0, index), score, what)


def _differs(record: EpisodeRecord, action: int, score: float, what: str) -> Verification:
    message = f"{record.path}: differs at action {action} of {len(record.actions)}: {what}"
    return Verification(record.path, Outcome.DIFFERS, one_line(message), action, score)


# What was verified is remembered by the user who did, not in the run's folder, where anybody who
# made it could have said so.


def remember(found: Iterable[Verification]) -> None:
    """Note which runs were confirmed as a whole, for `is_verified`, where notes can be written."""
    runs: dict[Path, dict[Path, bool]] = {}
    for one in found:
        place = one.path.parent
        run = place.parent if place.name == "episodes" else place
        runs.setdefault(run, {})[one.path] = one.confirmed
    for run, files in runs.items():
        folder = RunFolder(run)
        with contextlib.suppress(OSError, DamagedFileError):
            whole = set(files) == set(folder.episode_files().values())
            if whole and all(files.values()) and folder.begun:
                note = _note(folder)
                note.parent.mkdir(parents=True, exist_ok=True)
                write_json(note, {"run": str(run.absolute()), "versions": versions()})


def is_verified(folder: RunFolder) -> bool:
    """Say whether `verify` has confirmed the run for this user, and no file changed since."""
    try:
        return folder.begun and _note(folder).exists()
    except (OSError, DamagedFileError):
        return False


def _note(folder: RunFolder) -> Path:
    """File of this user's that stands for the bytes of all files that say what a run came to."""
    files = [folder.config_path, *folder.episode_files().values()]
    files += [folder.result_path] if folder.finished else []
    contents = {path.name: hashlib.sha256(read_bytes(path)).hexdigest() for path in files}
    digest = hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "olive-iw" / "verified" / f"{digest}.json"
