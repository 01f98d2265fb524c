"""Verification: replay episodes and confirm every reward, the end and the score."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from olive_iw.errors import DamagedFileError, InputError
from olive_iw.reading import read_json
from olive_iw.runs.config import version_of
from olive_iw.runs.records import EpisodeRecord, read_episode
from olive_iw.runs.replay import Make, replay, simulator_of
from olive_iw.simulators import make_simulator
from olive_iw.simulators.base import SimulatorError

GAME_OVER = "game over"


class Outcome(Enum):
    """What came of verifying a file."""

    CONFIRMED = "confirmed"
    DIFFERS = "differs"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found in one episode file."""

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


def verify_episode(path: Path | str, make: Make = make_simulator) -> Verification:
    """Replay one episode in a fresh simulator and compare. Never raises for a bad file."""
    path = Path(path)
    try:
        record = read_episode(path)
    except DamagedFileError as error:
        return Verification(path, Outcome.UNREADABLE, str(error))
    differences = _version_differences(record.versions)
    warnings = tuple(
        f"played with {name} {then}, replayed with {now}"
        for name, (then, now) in differences.items()
    )
    found = _replay(record, make)
    return Verification(
        path,
        found.outcome,
        found.message,
        found.action,
        found.score,
        differences,
        warnings + found.warnings,
    )


def _version_differences(recorded: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    now = {name: version_of(name) for name in recorded}
    return {name: (then, now[name]) for name, then in sorted(recorded.items()) if then != now[name]}


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
        return Verification(record.path, Outcome.UNREADABLE, f"{record.path}: {error}")
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
    warnings = () if terminal else _cut_short(record)
    return Verification(record.path, Outcome.CONFIRMED, message, score=score, warnings=warnings)


def _cut_short(record: EpisodeRecord) -> tuple[str, ...]:
    """Warn of an evaluation episode that ended before the game and before its action limit."""
    try:
        limit = read_json(record.path.parent.parent / "result.json").get("max_actions")
    except DamagedFileError:
        return ()
    if record.phase != "evaluation" or not isinstance(limit, int) or len(record.actions) >= limit:
        return ()
    return (f"stopped after {len(record.actions)} of at most {limit} actions, game not over",)


def verify_folder(folder: Path | str, make: Make = make_simulator) -> list[Verification]:
    """Verify every episode file below a folder (or one file), in order."""
    folder = Path(folder)
    if folder.is_file():
        return [verify_episode(folder, make)]
    paths = sorted(path for path in folder.rglob("*.json") if path.parent.name == "episodes")
    if not paths:
        raise InputError(f"no episode file found in {folder}; give a run folder or a file")
    return [verify_episode(path, make) for path in paths]
