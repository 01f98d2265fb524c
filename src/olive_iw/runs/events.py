"""What happens in a run, as typed lines of JSON: append-only, readable while it is written."""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, TypeAlias, TypeVar

from olive_iw.errors import DamagedFileError
from olive_iw.files import open_own
from olive_iw.reading import build, parse_json, read_bytes


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run began, or went on after an interruption."""

    type: ClassVar[str] = "run started"
    training_episodes: int
    """Training episodes that were done already."""
    evaluation_episodes: int
    """Evaluation episodes that were done already."""


@dataclass(frozen=True, slots=True)
class TrainingEpisodeDone:
    """A training episode was played and learned from."""

    type: ClassVar[str] = "training episode"
    number: int
    score: float
    actions: int
    calls: int
    calls_spent: int
    """Training calls spent so far."""
    candidates: int
    """New distinct screens of the episode."""
    screens: int
    """Screens in the training set."""
    rollouts_per_action: float
    mean_depth: float
    """Mean depth at which a rollout ended."""
    loss: float | None
    """Training loss per image at the end of the training that followed."""
    held_out_loss: float | None
    training_seconds: float
    seconds: float
    """Wall time of the episode, without the training."""
    games: int = 1
    """Games that were played; numbers of actions, calls and seconds are those of all, the score
    is their mean."""


@dataclass(frozen=True, slots=True)
class EvaluationEpisodeDone:
    """An evaluation episode was played."""

    type: ClassVar[str] = "evaluation episode"
    number: int
    score: float
    actions: int
    calls: int
    seconds: float
    ended: str


@dataclass(frozen=True, slots=True)
class RunFinished:
    """All evaluation episodes were played."""

    type: ClassVar[str] = "run finished"
    scores: list[float]


Event: TypeAlias = RunStarted | TrainingEpisodeDone | EvaluationEpisodeDone | RunFinished
E = TypeVar("E", RunStarted, TrainingEpisodeDone, EvaluationEpisodeDone, RunFinished)


def append_event(path: Path, event: Event) -> None:
    """Add one line; a line that was torn when a run was killed is ended first."""
    line = json.dumps({"type": event.type, "time": time.time(), **asdict(event)}).encode()
    with os.fdopen(open_own(path, os.O_RDWR | os.O_CREAT | os.O_APPEND), "a+b") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                line = b"\n" + line
        file.write(line + b"\n")


def read_events(path: Path, kind: type[E]) -> Iterator[E]:
    """Events of a kind, in order; lines that are torn or odd are passed over."""
    if not path.exists():
        return
    mark = f'"type": "{kind.type}"'
    for line in read_bytes(path).decode(errors="replace").splitlines():
        if mark in line:
            try:
                yield build(kind, parse_json(line, path), path)
            except DamagedFileError:
                continue
