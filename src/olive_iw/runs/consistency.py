"""A run's folder read as a whole, and whether its files can be of one run.

A replay proves that some actions give some score, not that they are this run's. So every episode
must be of the game, algorithm, variant and seed that the configuration says, no longer than it
allows and in the simulator that it means; and the result must be that of the episodes.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from olive_iw.errors import DamagedFileError
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.records import EpisodeRecord, Result, RunIdentity, read_episode
from olive_iw.simulators.atari import FRAME_SKIP

SHARED = ("game", "algorithm", "profile", "seed")
"""What every file of a run must agree in, besides the variant."""
LONG = 20
"""Actions that no two episodes are likely to share."""


@dataclass(slots=True, eq=False)
class CheckedRun:
    """All that can be read of a run, and what is wrong with the rest."""

    folder: RunFolder
    identity: RunIdentity | None = None
    """None if nothing says what run it is."""
    result: Result | None = None
    episodes: list[EpisodeRecord] = field(default_factory=list)
    """In order, without values; also those that contradict the run."""
    damaged: dict[Path, str] = field(default_factory=dict)
    """Files that cannot be read, with a line each."""
    contradictions: dict[Path, str] = field(default_factory=dict)
    """Files that cannot be of this run, with a line each."""
    warnings: list[str] = field(default_factory=list)

    @property
    def fitting(self) -> list[EpisodeRecord]:
        """Episodes that may well be of this run."""
        return [record for record in self.episodes if record.path not in self.contradictions]


def check_run(folder: RunFolder) -> CheckedRun:
    """Read a run's folder and hold its files against each other. Never raises for a bad file."""
    run = CheckedRun(folder)
    try:
        run.identity = folder.identity()
    except DamagedFileError as error:
        run.damaged[folder.config_path] = str(error)
    _read_episodes(run)
    if folder.finished:
        try:
            run.result = folder.read_result()
        except DamagedFileError as error:
            run.damaged[folder.result_path] = str(error)
    for record in run.episodes:
        if run.identity is not None and (problems := misfits(record, run.identity)):
            _contradict(run, record.path, problems)
    _find_copies(run)
    if run.result is not None and run.identity is not None:
        _contradict(run, folder.result_path, list(_result_misfits(run, run.result, run.identity)))
    return run


def _contradict(run: CheckedRun, path: Path, problems: Sequence[str]) -> None:
    if problems:
        run.contradictions.setdefault(path, f"{path}: contradicts its run: {'; '.join(problems)}")


def _read_episodes(run: CheckedRun) -> None:
    try:
        files = run.folder.episode_files()
    except DamagedFileError as error:
        run.damaged[run.folder.episodes_path] = str(error)
        return
    for path in files.values():
        try:
            run.episodes.append(read_episode(path, with_values=False))
        except DamagedFileError as error:
            run.damaged[path] = str(error)


def misfits(record: EpisodeRecord, identity: RunIdentity) -> list[str]:
    """Say what of an episode cannot be of a run."""
    found = _unlike(record, identity, SHARED)
    if record.path.stem != record.name:
        found.append(f"the file says that it is {record.name}")
    if record.phase == "evaluation" and record.episode >= identity.episodes:
        found.append(f"episode {record.episode} of a run of {identity.episodes}")
    limit = identity.max_actions if record.phase == "evaluation" else identity.training_actions
    if limit is not None and len(record.actions) > limit:
        found.append(f"{len(record.actions)} actions, but at most {limit} in the run")
    if record.simulator_options:
        found.append("the simulator has options, but none in the run")
    kind, colon, _ = identity.game.partition(":")
    if (not colon or kind == "atari") and record.frame_skip not in (None, FRAME_SKIP):
        found.append(f"frame_skip {record.frame_skip}, but {FRAME_SKIP} in the run")
    return found


def _unlike(found: object, identity: RunIdentity, names: Sequence[str]) -> list[str]:
    pairs = [(name, getattr(found, name), getattr(identity, name)) for name in names]
    if identity.recorded_variant is not None:
        pairs.append(("variant", getattr(found, "variant", None), identity.recorded_variant))
    return [
        f"{name} {value!r}, but {wanted!r} in the run"
        for name, value, wanted in pairs
        if value is not None and value != wanted
    ]


def _find_copies(run: CheckedRun) -> None:
    """Find episodes that repeat another: each was planned with random numbers of its own.

    One that equals another also in its seconds is a copy. One that only has the same actions is
    worth a word: in a small world two episodes can be played alike.
    """
    seen: dict[tuple[str, bytes], EpisodeRecord] = {}
    for record in run.episodes:
        actions = hashlib.sha256(repr(list(record.actions)).encode()).digest()
        first = seen.setdefault((record.phase, actions), record)
        if first is record:
            continue
        if _unnumbered(first) == _unnumbered(record):
            _contradict(run, record.path, [f"it is a copy of {first.path.name}"])
        elif len(record.actions) >= LONG:
            run.warnings.append(f"{record.path}: has the same actions as {first.path.name}")


def _unnumbered(record: EpisodeRecord) -> dict[str, object]:
    return record.to_dict() | {"episode": None, "game_number": None}


def _result_misfits(run: CheckedRun, result: Result, identity: RunIdentity) -> Iterator[str]:
    budget = ("training_calls", "calls_per_action", "max_actions")
    yield from _unlike(result, identity, (*SHARED, *budget))
    if len(result.scores) != identity.episodes:
        yield f"{len(result.scores)} scores of a run of {identity.episodes} episodes"
    played = {record.episode: record for record in run.episodes if record.phase == "evaluation"}
    for number, score in enumerate(result.scores):
        if number not in played:
            yield f"a score of episode {number}, which has no file that can be read"
        elif played[number].score != score:
            yield f"score {score:g} of episode {number}, but {played[number].score:g} in its file"
