"""Verification: a run's files can be of one run, and replays give every reward and the score.

A replay proves that some actions give some score, not that they are this run's. So every episode
must also be of the game, algorithm, variant and seed that the configuration says, as long as it
says unless the game was over before, and in the simulator that it means; and the result must be
that of the episodes.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TypeVar

from olive_iw.errors import DamagedFileError, InputError, SimulatorError, one_line
from olive_iw.processes import map_in_processes
from olive_iw.runs.config import versions
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.runs.records import (
    EpisodeRecord,
    Result,
    RunIdentity,
    read_episode,
    unusual_options,
)
from olive_iw.runs.replay import replay, simulator_of
from olive_iw.simulators.atari import FRAME_SKIP

SHARED = ("game", "algorithm", "profile", "seed")
"""What every file of a run must agree in, besides the variant."""
LONG = 20
"""Actions that no two episodes are likely to share."""
GAME_OVER = "game over"
T = TypeVar("T")


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
    over: bool = False
    """Whether the game is over after the replay."""
    warnings: tuple[str, ...] = ()

    @property
    def confirmed(self) -> bool:
        """Whether everything recorded came out again."""
        return self.outcome is Outcome.CONFIRMED


@dataclass(slots=True, eq=False)
class CheckedRun:
    """All that can be read of a run, and what is wrong with the rest."""

    folder: RunFolder
    identity: RunIdentity | None = None
    """None if nothing says what run it is."""
    result: Result | None = None
    episodes: list[EpisodeRecord] = field(default_factory=list)
    """In order, without values; also those that contradict the run."""
    problems: dict[Path, Verification] = field(default_factory=dict)
    """Files that cannot be read, then those that cannot be of this run."""
    warnings: list[str] = field(default_factory=list)

    @property
    def fitting(self) -> list[EpisodeRecord]:
        """Episodes that may well be of this run."""
        return [record for record in self.episodes if record.path not in self.problems]

    def read(self, path: Path, reader: Callable[[], T]) -> T | None:
        """Read something of the run; if its file is damaged, note that."""
        try:
            return reader()
        except DamagedFileError as error:
            self.problems[path] = Verification(path, Outcome.UNREADABLE, str(error))
            return None

    def contradict(self, path: Path, problems: Iterable[str]) -> None:
        """Note why a file cannot be of this run, if there is a reason."""
        if text := "; ".join(problems):
            message = one_line(f"{path}: contradicts its run: {text}")
            self.problems.setdefault(path, Verification(path, Outcome.CONTRADICTS, message))


def check_run(folder: RunFolder) -> CheckedRun:
    """Read a run's folder and hold its files against each other. Never raises for a bad file."""
    run = CheckedRun(folder)
    run.identity = run.read(folder.config_path, folder.identity)
    files = run.read(folder.episodes_path, folder.episode_files) or {}
    records = [run.read(path, partial(read_episode, path, False)) for path in files.values()]
    run.episodes = [record for record in records if record is not None]
    if folder.finished:
        run.result = run.read(folder.result_path, folder.read_result)
    if run.identity is not None:
        for record in run.episodes:
            run.contradict(record.path, _misfits(record, run.identity))
    _find_copies(run)
    if run.result is not None and run.identity is not None:
        run.contradict(folder.result_path, _result_misfits(run, run.result, run.identity))
    return run


def _misfits(record: EpisodeRecord, identity: RunIdentity) -> Iterator[str]:
    """Say what of an episode cannot be of a run."""
    yield from _unlike(record, identity, SHARED)
    if record.path.stem != record.name:
        yield f"the file says that it is {record.name}"
    evaluation, actions = record.phase == "evaluation", len(record.actions)
    if evaluation and record.episode >= identity.episodes:
        yield f"episode {record.episode} of a run of {identity.episodes}"
    if evaluation and record.start_actions:
        yield "it does not begin at the reset, as evaluation episodes do"
    limit = identity.max_actions if evaluation else identity.training_actions
    if limit is not None and actions > limit:
        yield f"{actions} actions, but at most {limit} in the run"
    elif evaluation and record.ended not in (GAME_OVER, None) and actions != limit:
        yield _unfinished(record, identity)
    kind, colon, _ = identity.game.partition(":")
    holds = not colon or kind in ("atari", "retro")  # its actions, for some frames
    options, frames = dict(record.simulator_options), identity.frame_skip or FRAME_SKIP
    levels = identity.action_levels if kind == "gym" else None
    expected = unusual_options(identity.action_set if holds else None, levels)
    if options and not expected:
        yield "the simulator has options, but none in the run"
    elif options != expected:
        yield f"the simulator's options are {options}, but {expected} in the run"
    if holds and (record.frame_skip or FRAME_SKIP) != frames:
        yield f"frame_skip {record.frame_skip}, but {frames} in the run"


def _unfinished(record: EpisodeRecord, identity: RunIdentity | None) -> str:
    limit = identity.max_actions if identity else None
    most = "" if limit is None else f" of {limit}"
    unknown = "" if identity else ", and no run says how many it might have had"
    return f"it stops after {len(record.actions)}{most} actions, and the game is not over{unknown}"


def _result_misfits(run: CheckedRun, result: Result, identity: RunIdentity) -> Iterator[str]:
    budget = ("training_calls", "calls_per_action", "max_actions")
    actions = ("frame_skip", "action_set", "action_levels")
    yield from _unlike(result, identity, (*SHARED, *budget, *actions))
    if len(result.scores) != identity.episodes:
        yield f"{len(result.scores)} scores of a run of {identity.episodes} episodes"
    played = {record.episode: record for record in run.episodes if record.phase == "evaluation"}
    for number, score in enumerate(result.scores):
        if number not in played:
            yield f"a score of episode {number}, which has no file that can be read"
        elif played[number].score != score:
            yield f"score {score:g} of episode {number}, but {played[number].score:g} in its file"


def _unlike(
    found: EpisodeRecord | Result, identity: RunIdentity, names: Sequence[str]
) -> Iterator[str]:
    wanted = {name: getattr(identity, name) for name in names}
    if identity.recorded_variant is not None:
        wanted["variant"] = identity.recorded_variant
    for name, value in wanted.items():
        if getattr(found, name) not in (None, value):
            yield f"{name} {getattr(found, name)!r}, but {value!r} in the run"


def _find_copies(run: CheckedRun) -> None:
    """Find episodes that repeat another: each was planned with random numbers of its own.

    One that equals another also in its seconds is a copy. One that only has the same actions is
    worth a word: in a small world two episodes can be played alike.
    """
    seen: dict[tuple[str, bytes], EpisodeRecord] = {}
    unnumbered = {"episode": None, "game_number": None}
    for record in run.episodes:
        actions = hashlib.sha256(repr(list(record.actions)).encode()).digest()
        first = seen.setdefault((record.phase, actions), record)
        if first is record:
            continue
        if first.to_dict() | unnumbered == record.to_dict() | unnumbered:
            run.contradict(record.path, [f"it is a copy of {first.path.name}"])
        elif len(record.actions) >= LONG:
            run.warnings.append(f"{record.path}: has the same actions as {first.path.name}")


def verify_folder(path: Path | str, workers: int = 1) -> list[Verification]:
    """Verify every run below a folder, or one episode file. Never raises for a bad file.

    An episode file that stands in no run is replayed by itself, and a warning says so; one of
    evaluation is then confirmed only if its game is over. With several `workers`, runs are verified
    in as many processes; simulators of modules that were imported here, and of plug-ins, are not
    known there.
    """
    path = Path(path)
    if path.is_file():
        return [verify_episode(path)]
    runs = [run for run in find_runs(path) if run.episodes_path.is_dir() or run.finished]
    if not runs:
        raise InputError(f"no episode file found in {path}; give a run folder or a file")
    if workers > 1:
        found = map_in_processes(verify_run, runs, workers, preload=__name__)
    else:
        found = [verify_run(folder) for folder in runs]
    return [one for verifications in found for one in verifications]


def verify_run(folder: RunFolder) -> list[Verification]:
    """Verify one run: its files against each other, then every episode by its replay."""
    return list(_verify_run(check_run(folder)))


def _verify_run(run: CheckedRun) -> Iterator[Verification]:
    yield from run.problems.values()
    warnings = tuple(run.warnings)
    for record in run.fitting:
        found = _verify_record(record, run)
        yield replace(found, warnings=found.warnings + warnings)
        warnings = ()  # those of the run, once


def verify_episode(path: Path | str) -> Verification:
    """Verify one episode file: against its run, if it stands in one, and by its replay."""
    path = Path(path)
    folder = RunFolder(path.parent.parent)
    inside = path.parent.name == "episodes" and folder.begun
    run = check_run(folder) if inside else CheckedRun(folder)
    record = run.read(path, partial(read_episode, path, False))
    if record is None or path in run.problems:
        return run.problems[path]
    return _verify_record(record, run)


def _verify_record(record: EpisodeRecord, run: CheckedRun) -> Verification:
    found = _replay(record, run.identity)
    warnings = other_versions(record)
    if run.identity is None:
        damaged = run.problems.get(run.folder.config_path)
        why = "its run cannot be read" if damaged else "stands in no run"
        warnings.append(f"{record.path}: {why}; replayed by itself")
    return replace(found, warnings=tuple(warnings))


def other_versions(record: EpisodeRecord) -> list[str]:
    """Say which packages have other versions here than an episode was played with."""
    return [
        f"played with {name} {one_line(record.versions[name], 40)}, replayed with {now}"
        for name, now in versions().items()
        if now not in (record.versions.get(name, now), "not installed")
    ]


def _replay(record: EpisodeRecord, identity: RunIdentity | None) -> Verification:
    """Find the first difference between the record and its replay.

    An evaluation episode goes on until the game is over, or for as long as its run allows; without
    a run nothing says how long that is.
    """
    score, index, over = 0.0, -1, False
    try:
        for index, (step, _) in enumerate(replay(record, simulator_of(record))):
            score, over = score + step.reward, step.terminal
            if step.reward != record.rewards[index]:
                what = f"reward {step.reward:g}, but {record.rewards[index]:g} is recorded"
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
    elif (
        record.phase == "evaluation"
        and not over
        and (identity is None or len(record.actions) != identity.max_actions)
    ):
        what = _unfinished(record, identity)
    else:
        message = f"{record.path}: {len(record.actions)} actions, score {score:g}"
        return Verification(record.path, Outcome.CONFIRMED, message, score=score, over=over)
    return _differs(record, max(0, index), score, what)


def _differs(record: EpisodeRecord, action: int, score: float, what: str) -> Verification:
    message = f"{record.path}: differs at action {action} of {len(record.actions)}: {what}"
    return Verification(record.path, Outcome.DIFFERS, one_line(message), action, score)
