"""What happens in a run, as typed lines of JSON: append-only, readable while it is written."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Self, TypeAlias, TypeVar

from olive_iw.agents import Episode, TrainingEpisode
from olive_iw.errors import DamagedFileError
from olive_iw.files import naming, open_own
from olive_iw.reading import fill, parse_json, read_bytes
from olive_iw.runs.records import EpisodeRecord

MOST_EVENTS = 200_000
"""Lines of a file: twice the evaluation episodes that a run can have; they are read in seconds."""


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run began, or went on after an interruption."""

    type: ClassVar[str] = "run started"
    training_episodes: int
    """Episodes that were done before, of training here and of evaluation below."""
    evaluation_episodes: int


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

    @classmethod
    def of(cls, done: TrainingEpisode) -> Self:
        """Add up the games of a training episode."""
        games, training = done.games, done.training
        actions = sum(len(game.actions) for game in games)
        rollouts = sum(game.rollouts for game in games)
        return cls(
            number=done.number,
            games=len(games),
            score=sum(game.score for game in games) / len(games),
            actions=actions,
            calls=done.calls,
            calls_spent=done.calls_spent,
            candidates=done.candidates,
            screens=done.screens,
            rollouts_per_action=rollouts / max(1, actions),
            mean_depth=sum(game.rollout_depth for game in games) / max(1, rollouts),
            loss=training.loss if training else None,
            held_out_loss=training.held_out_loss if training else None,
            training_seconds=training.seconds if training else 0.0,
            seconds=sum(game.seconds for game in games),
        )


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

    @classmethod
    def of(cls, number: int, played: Episode | EpisodeRecord) -> Self:
        """Say what an episode came to."""
        spent = len(played.actions), played.calls, played.seconds
        return cls(number, played.score, *spent, played.ended or "")


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
    mode = os.O_RDWR | os.O_CREAT | os.O_APPEND
    with naming(path), os.fdopen(open_own(path, mode), "a+b") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                line = b"\n" + line
        file.write(line + b"\n")


def read_events(path: Path, kind: type[E]) -> Iterator[E]:
    """Events of a kind, in order; lines that are torn or odd are passed over."""
    if not path.exists():
        return
    content, mark = read_bytes(path), f'"type": "{kind.type}"'.encode()
    if content.count(b"\n") > MOST_EVENTS:
        raise DamagedFileError(path, f"has more than {MOST_EVENTS:,} lines")
    for line in content.split(b"\n"):
        if mark in line:
            with suppress(DamagedFileError):
                yield fill(kind, parse_json(line.decode(errors="replace"), path), path)
