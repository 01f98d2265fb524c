"""One episode file: what was done and what came of it, enough to replay it."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from olive_iw.errors import InputError

FORMAT = 1
"""The format of episode files that is understood here."""


class TornFileError(InputError):
    """A file that cannot be read, in whole or in part."""


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """An episode as it stands in its file."""

    path: Path
    game: str
    algorithm: str
    profile: str
    seed: int
    phase: str
    """`evaluation` or `training`."""
    episode: int
    frame_skip: int | None
    """Frames of a call, where it was recorded."""
    simulator_options: Mapping[str, Any]
    actions: Sequence[int]
    """Indices into the simulator's actions."""
    rewards: Sequence[float]
    """One raw reward per action."""
    score: float
    calls: int
    seconds: float
    versions: Mapping[str, str]
    values: Sequence[Sequence[float | None] | None] | None
    """Per action, the value of each of the root's actions, where they were kept."""
    ended: str | None
    """Why it ended (`game over` or a limit), where it was recorded."""


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; raises `TornFileError` with one line if it is not one."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise TornFileError(f"{path}: cannot be read ({error})") from error
    if not isinstance(content, dict):
        raise TornFileError(f"{path}: must hold a JSON object, not {type(content).__name__}")
    return content


def read_episode(path: Path | str) -> EpisodeRecord:
    """Read an episode file; raises `TornFileError` if it is torn or of another format."""
    path = Path(path)
    content = read_json(path)
    if content.get("format", FORMAT) != FORMAT:
        raise TornFileError(
            f"{path}: format {content['format']!r}, but only {FORMAT} is understood"
        )
    try:
        return _record(path, content)
    except KeyError as error:
        raise TornFileError(f"{path}: the entry {error} is missing") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise TornFileError(f"{path}: an entry has the wrong form ({error})") from error


def _record(path: Path, content: dict[str, Any]) -> EpisodeRecord:
    actions = [int(action) for action in content["actions"]]
    rewards = [float(reward) for reward in content["rewards"]]
    if len(actions) != len(rewards):
        raise ValueError(f"{len(actions)} actions but {len(rewards)} rewards")
    score = float(content["score"])
    if not math.isfinite(score):
        raise ValueError(f"score {score}")
    values = content.get("values")
    ended, frame_skip = content.get("ended"), content.get("frame_skip")
    return EpisodeRecord(
        path=path,
        game=str(content["game"]),
        algorithm=str(content["algorithm"]),
        profile=str(content["profile"]),
        seed=int(content["seed"]),
        phase=str(content.get("phase", "evaluation")),
        episode=int(content["episode"]),
        frame_skip=None if frame_skip is None else int(frame_skip),
        simulator_options=dict(content.get("simulator_options") or {}),
        actions=actions,
        rewards=rewards,
        score=score,
        calls=int(content["calls"]),
        seconds=float(content["seconds"]),
        versions={str(key): str(value) for key, value in content["versions"].items()},
        values=None if values is None or len(values) != len(actions) else values,
        ended=None if ended is None else str(ended),
    )
