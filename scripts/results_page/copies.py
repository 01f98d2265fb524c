"""Compact copies of finished runs: what proves a score, small enough to be kept for good.

A copy is a run's folder like any other, without its checkpoint and without the values of every
decision, and without its training episodes if there are very many; a file more, `origin.json`, says
which commit the run was made with and what the files were that it was copied from. Copies live
together by protocol, which never mixes lengths.
"""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from olive_iw.errors import InputError, noted, unknown_name
from olive_iw.files import make_folder, write_text
from olive_iw.reading import read_bytes, read_json, read_text
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.runs.records import Origin, RunIdentity
from olive_iw.runs.verification import check_run

MOST_TRAINING = 100
"""Training episodes of a run that are copied; of one with more, none: the Brute has a thousand."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """What all runs share whose scores stand side by side; calls per action may differ."""

    name: str
    """Of the folder that its runs are in, too."""
    max_actions: int
    """Cap of an evaluation episode."""
    training_calls: int = 100_000
    """Of algorithms that learn."""
    calls_per_action: int = 100
    """Of the runs in its tables; others have other numbers to show what calls are worth."""

    def check(self, run: RunIdentity, path: Path) -> None:
        """Refuse a run of other lengths."""
        allowed = {"max_actions": (self.max_actions,), "training_calls": (self.training_calls, 0)}
        for name, values in allowed.items():
            if (found := getattr(run, name)) not in values:
                raise InputError(
                    f"{path}: {name} is {found:,}, but {values[0]:,} in the protocol {self.name}"
                )


PROTOCOLS = {
    protocol.name: protocol
    for protocol in (Protocol("five-minute", 1_200), Protocol("paper", 18_000))
}
"""By name: 1,200 actions are 18,000 frames, five minutes of play; the paper has 18,000 actions."""


def protocol_of(folder: Path) -> Protocol:
    """Protocol that a folder of copies is named after."""
    name = folder.resolve().name
    if name not in PROTOCOLS:
        raise unknown_name("protocol, which the folder of results is named after,", name, PROTOCOLS)
    return PROTOCOLS[name]


@dataclass(slots=True)
class Copied:
    """What came of copying runs."""

    new: list[Path] = field(default_factory=list)
    """Folders that were made."""
    there: int = 0
    """Runs that had been copied before."""
    unfinished: int = 0
    """Runs that are not finished, and were left out."""
    problems: list[str] = field(default_factory=list)
    """Runs that were refused, a line each."""


def copy_runs(root: Path, results: Path, commit: str) -> Copied:
    """Copy every finished run below a folder to where it belongs below `results`.

    Refused is a run whose files contradict each other, one of other lengths than the protocol that
    `results` is named after, and one that was played otherwise than its copy that is there.
    """
    protocol, done = protocol_of(results), Copied()
    Origin(commit, {})  # an odd commit is refused before any run is looked at
    for run in find_runs(root):
        if not run.finished:
            done.unfinished += 1
            continue
        with noted(done.problems):
            for problem in check_run(run).problems.values():
                raise InputError(problem.message)
            protocol.check(run.identity(), run.path)
            origin = Origin(commit, file_hashes(run))
            copy = RunFolder(run.config().folder(results), within=results)
            if not copy.finished:
                _copy(run, copy, origin)
                done.new.append(copy.path)
            elif copy.read(Origin) == origin:
                done.there += 1
            else:
                raise InputError(
                    f"{copy} is there, of another play or commit; remove it to replace it"
                )
    if not (done.new or done.there or done.problems):
        raise InputError(
            f"{root} holds no finished run; 'olive-iw status {root}' shows how far all are"
        )
    return done


def _files(run: RunFolder) -> list[Path]:
    """Files that a copy has, in the order in which they are written."""
    episodes = run.episode_files()
    training = run.episode_files("training")
    if len(training) > MOST_TRAINING:
        episodes = {name: path for name, path in episodes.items() if name not in training}
    kept = [run.config_path, run.events_path, *episodes.values(), run.result_path]
    return [path for path in kept if path.exists()]


def file_hashes(run: RunFolder) -> dict[str, str]:
    """SHA-256 of every file of a run that a copy has, by its name in the folder."""
    return {
        path.relative_to(run.path).as_posix(): hashlib.sha256(read_bytes(path)).hexdigest()
        for path in _files(run)
    }


def _copy(run: RunFolder, copy: RunFolder, origin: Origin) -> None:
    """Copy a run; its result comes last, so that a copy that was cut off is not finished."""
    copy.write(origin)
    make_folder(copy.episodes_path, copy.path)
    for path in _files(run):
        target = copy.path / path.relative_to(run.path)
        episode = path.parent == run.episodes_path
        write_text(target, _compact(read_json(path)) if episode else read_text(path))


def _compact(fields: dict[str, Any]) -> str:
    """Text of an episode's file without its values: most of it is then a digit per action."""
    rewards = [int(reward) if reward == int(reward) else reward for reward in fields["rewards"]]
    return json.dumps(fields | {"rewards": rewards, "values": None}, separators=(",", ":")) + "\n"
