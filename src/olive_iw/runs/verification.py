"""Verification: episodes fit their run, and their replays give every reward and the score."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from olive_iw.errors import DamagedFileError, InputError, one_line
from olive_iw.files import write_json
from olive_iw.reading import read_bytes
from olive_iw.runs.config import version_of, versions
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
    version_differences: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Package -> (recorded version, version now): a warning, not an error."""
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
    differences = {
        name: (then, version_of(name))
        for name, then in sorted(record.versions.items())
        if then != version_of(name)
    }
    warnings = [
        f"played with {name} {then}, replayed with {now}"
        for name, (then, now) in differences.items()
    ]
    if run.identity is None:
        warnings.append(f"{record.path}: stands in no run; replayed by itself")
    found = _replay(record, make)
    if found.confirmed:
        warnings += _cut_short(record, run)
    return replace(found, version_differences=differences, warnings=tuple(warnings))


def _replay(record: EpisodeRecord, make: Make) -> Verification:
    """Find the first difference between the record and its replay."""
    score = 0.0
    index = -1
    try:
        simulator = simulator_of(record, make)
        for done in replay(record, simulator):
            index, step = done.index, done.step
            score += step.reward
            if step.reward != record.rewards[index]:
                return _differs(
                    record,
                    index,
                    score,
                    f"reward {step.reward:g}, but {record.rewards[index]:g} is recorded",
                )
            if step.terminal and index < len(record.actions) - 1:
                left = len(record.actions) - 1 - index
                return _differs(record, index, score, f"game over, but {left} actions follow")
    except InputError as error:
        return Verification(record.path, Outcome.UNREADABLE, one_line(f"{record.path}: {error}"))
    except SimulatorError as error:
        return _differs(record, index + 1, score, str(error))
    terminal = bool(record.actions) and step.terminal
    return _check_end(record, score, terminal)


def _differs(record: EpisodeRecord, action: int, score: float, what: str) -> Verification:
    message = f"{record.path}: differs at action {action} of {len(record.actions)}: {what}"
    return Verification(record.path, Outcome.DIFFERS, message, action, score)


def _check_end(record: EpisodeRecord, score: float, terminal: bool) -> Verification:
    last = max(0, len(record.actions) - 1)
    # Rewards may be fractions, and the recorded score may have been added up in another way.
    if abs(score - record.score) > 1e-6 * max(1.0, abs(score)):
        return _differs(record, last, score, f"score {score:g}, but {record.score:g} is recorded")
    if record.ended is not None and (record.ended == GAME_OVER) != terminal:
        now = "over" if terminal else "not over"
        what = f"the game is {now}, but it is recorded to have ended by: {record.ended}"
        return _differs(record, last, score, what)
    message = f"{record.path}: {len(record.actions)} actions, score {score:g}"
    return Verification(record.path, Outcome.CONFIRMED, message, score=score)


def _cut_short(record: EpisodeRecord, run: CheckedRun) -> list[str]:
    """Warn of an evaluation episode that ended before the game and before its action limit."""
    limit = None if run.identity is None else run.identity.max_actions
    if record.phase != "evaluation" or record.ended == GAME_OVER or limit is None:
        return []
    if len(record.actions) >= limit:
        return []
    return [f"stopped after {len(record.actions)} of at most {limit} actions, game not over"]


# What was verified is remembered by the user who did, not in the run's folder, where anybody who
# made it could have said so.


def remember(found: Iterable[Verification]) -> None:
    """Note which whole runs were confirmed, for `is_verified`; if it cannot be noted, nothing."""
    by_run: dict[Path, list[Verification]] = {}
    for one in found:
        inside = one.path.parent.name == "episodes"
        by_run.setdefault(one.path.parent.parent if inside else one.path.parent, []).append(one)
    for path, verifications in by_run.items():
        if all(one.confirmed for one in verifications) and RunFolder(path).begun:
            try:
                note = _notes() / f"{_digest(RunFolder(path))}.json"
                note.parent.mkdir(parents=True, exist_ok=True)
                write_json(note, {"run": str(path.absolute()), "versions": versions()})
            except (OSError, DamagedFileError):
                return


def is_verified(folder: RunFolder) -> bool:
    """Say whether `verify` has confirmed the run for this user, and no file changed since."""
    try:
        return folder.begun and (_notes() / f"{_digest(folder)}.json").exists()
    except (OSError, DamagedFileError):
        return False


def _notes() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "olive-iw" / "verified"


def _digest(folder: RunFolder) -> str:
    """Digest of all files of a run that say what it came to."""
    files = [folder.config_path, *folder.episode_files().values()]
    files += [folder.result_path] if folder.finished else []
    contents = {path.name: hashlib.sha256(read_bytes(path)).hexdigest() for path in files}
    return hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()
