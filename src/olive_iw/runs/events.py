"""What happens in a run, as typed lines of JSON: append-only, readable while it is written."""

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar


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


Event = RunStarted | TrainingEpisodeDone | EvaluationEpisodeDone | RunFinished


def append(path: Path, event: Event) -> None:
    """Add one line; a line that was torn when a run was killed is ended first."""
    line = json.dumps({"type": event.type, "time": time.time(), **asdict(event)})
    with path.open("a+b") as file:
        if file.tell() and not _ends_with_newline(path):
            file.write(b"\n")
        file.write(line.encode() + b"\n")


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Events in order; torn lines are passed over. An episode played twice counts as the later."""
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and "type" in event:
            yield event
