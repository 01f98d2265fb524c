"""What the files of a run hold: an episode, a result, a copy's origin, a failure, a pulse.

docs/formats.md says what every field is.
"""

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from types import NoneType
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np

from olive_iw.agents import Episode, Spec
from olive_iw.errors import DamagedFileError, InputError, shown
from olive_iw.reading import fill, read_json
from olive_iw.runs.config import FORMAT, versions
from olive_iw.simulators.base import Simulator, frame_skip

Phase: TypeAlias = Literal["training", "evaluation", "play"]
"""Of an episode; "play" is one that was played for somebody to watch, outside any run."""
Values: TypeAlias = Sequence[Sequence[float | None]]

LARGEST_FRAME_SKIP = 1000
LONGEST = {"game": 200, "algorithm": 200, "profile": 200, "variant": 2_000}
"""Characters of what tells a run from others: tables have a column of each."""


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeRecord:
    """An episode as it stands in its file: enough to replay it, and what its planning came to."""

    game: str
    algorithm: str
    profile: str
    seed: int
    episode: int
    """Its number within the phase."""
    actions: Sequence[int]
    """Indices into the simulator's actions."""
    rewards: Sequence[float]
    """One raw reward per action."""
    score: float
    calls: int
    seconds: float
    versions: Mapping[str, str]
    start_actions: Sequence[int] = ()
    """What was done from the reset to where the episode begins."""
    variant: str | None = None
    """What differs from the algorithm's defaults; None in files of version 0.1.0."""
    phase: Phase = "evaluation"
    game_number: int = 0
    """Of the games that one training episode may consist of."""
    frame_skip: int | None = None
    """Frames of a call, where the simulator has frames."""
    simulator_options: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    lives: int = 0
    ended: str | None = None
    """Why it ended (`game over` or a limit), where it was recorded."""
    rollouts: int = 0
    rollout_depth: int = 0
    exhausted: int = 0
    tied_decisions: int | None = None
    """This and the next five are not in files of version 0.1.0."""
    unused_calls: int | None = None
    twins: int | None = None
    skipped_twins: int | None = None
    pruned_new: int | None = None
    table_overflows: int | None = None
    cache_hits: int = 0
    cache_misses: int = 0
    seconds_by_part: Mapping[str, float] = field(default_factory=dict)
    values: Values | None = None
    """Per action, the value of each of the root's actions, where they were kept."""
    path: Path = Path()
    """The file it was read from."""

    def __post_init__(self) -> None:
        if len(self.actions) != len(self.rewards):
            raise InputError(f"{len(self.actions)} actions but {len(self.rewards)} rewards")
        for name in ("seed", "episode", "game_number", "calls", "seconds"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} {getattr(self, name)} is not possible")
        if self.frame_skip is not None and not 1 <= self.frame_skip <= LARGEST_FRAME_SKIP:
            raise InputError(f"a frame skip of {self.frame_skip} is not possible")

    @property
    def name(self) -> str:
        """Its file's name in a run's folder, without the ending: evaluation-0000."""
        return episode_name(self.phase, self.episode, self.game_number)

    @classmethod
    def of(
        cls,
        game: str,
        spec: Spec,
        phase: Phase,
        number: int,
        episode: Episode,
        simulator: Simulator,
        game_number: int = 0,
    ) -> Self:
        """Record an episode that was just played."""
        played = {part.name: getattr(episode, part.name) for part in dataclasses.fields(episode)}
        played["values"] = [
            [None if math.isnan(value) else round(float(value), 6) for value in values]
            for values in episode.values
        ]
        return cls(
            game=game,
            algorithm=spec.algorithm,
            profile=spec.profile,
            variant=spec.variant,
            seed=spec.seed,
            phase=phase,
            episode=number,
            game_number=game_number,
            frame_skip=frame_skip(simulator),
            simulator_options=unusual_options(
                getattr(simulator, "action_set", None), getattr(simulator, "action_levels", None)
            ),
            score=episode.score,
            versions=versions(),
            **played,
        )

    def to_dict(self) -> dict[str, Any]:
        """Fields of the episode's file."""
        names = (field.name for field in dataclasses.fields(self) if field.name != "path")
        return {"format": FORMAT} | {name: getattr(self, name) for name in names}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any], path: Path, with_values: bool = True) -> Self:
        """Read what `to_dict` made; `DamagedFileError` if it is of another form or format."""
        found = fields.get("format", FORMAT)
        if found != FORMAT:
            raise DamagedFileError(path, f"format {found!r}, but only {FORMAT} is understood")
        record = fill(cls, fields, path, values=None, path=path)
        if with_values:
            values = _values(fields.get("values"), len(record.actions), path)
            record = dataclasses.replace(record, values=values)
        return record


def unusual_options(
    action_set: str | None, action_levels: int | None = None
) -> dict[str, bool | int | float | str]:
    """Options of a simulator beside its frames, as far as they are not the usual ones."""
    options: dict[str, bool | int | float | str] = {}
    if action_set not in (None, "minimal"):
        options["action_set"] = action_set
    if action_levels is not None:
        options["action_levels"] = action_levels
    return options


def episode_name(phase: str, number: int, game: int = 0) -> str:
    """Name of an episode's file, without the ending; `game` counts a training episode's games."""
    return f"{phase}-{number:04d}" + (f"-{game:02d}" if game else "")


def read_episode(path: Path | str, with_values: bool = True) -> EpisodeRecord:
    """Read an episode file; raises `DamagedFileError` if it is torn or of another format.

    The values of all decisions are most of it: a reader of many files can do without.
    """
    return EpisodeRecord.from_dict(read_json(Path(path)), Path(path), with_values)


def _values(values: Any, actions: int, path: Path) -> Values | None:
    """Check a row of finite numbers, or of None, for every action: a large table, at once.

    Of a table of another length nothing is known, so it counts as none.
    """
    if values is None or (isinstance(values, list) and len(values) != actions):
        return None
    rows: list[Any] = values if isinstance(values, list) else [None]
    plain = all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows)
    if not plain or not set(map(type, chain.from_iterable(rows))) <= {int, float, NoneType}:
        raise DamagedFileError(path, "the entry 'values' has the wrong form")
    with suppress(OverflowError):  # of a whole number of hundreds of digits
        if not np.isinf(np.array(rows, dtype=np.float64)).any():
            return rows
    raise DamagedFileError(path, "the entry 'values' holds numbers that are none")


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """What tells a run from others, and its lengths: all that readers of results need to know.

    It can be read of any run, also of an algorithm that is not installed here.
    """

    game: str
    algorithm: str
    profile: str
    variant: str
    """What differs from the algorithm's present defaults, such as `width=2,discount=0.5`."""
    seed: int
    training_calls: int
    """0 for algorithms that do not learn."""
    calls_per_action: int
    episodes: int
    max_actions: int | None = None
    training_actions: int | None = None
    frame_skip: int | None = None
    """Frames of a call in Atari games; None in runs of version 0.1.0, which had 15."""
    action_set: str | None = None
    """Their actions: minimal (None) or full."""
    action_levels: int | None = None
    """Levels of every dimension of actions that are a Gymnasium Box."""
    recorded_variant: str | None = None
    """The variant as it was when the run began; None in runs of version 0.1.0."""

    def __post_init__(self) -> None:
        least = {"seed": 0, "training_calls": 0, "calls_per_action": 1, "episodes": 1}
        least |= {"max_actions": 1, "training_actions": 1, "frame_skip": 1}
        for name, number in least.items():
            if (value := getattr(self, name)) is not None and value < number:
                raise InputError(f"{name} {value} is not possible; at least {number} is")
        for name, most in LONGEST.items():
            if (length := len(getattr(self, name))) > most:
                raise InputError(f"{name} has {length:,} characters; at most {most:,} are possible")


@dataclass(frozen=True, slots=True)
class Result:
    """What a finished run came to."""

    file: ClassVar = "result.json"
    game: str
    algorithm: str
    profile: str
    seed: int
    scores: list[float]
    training_calls: int
    """Training calls the run was allowed; 0 for algorithms that do not learn."""
    calls_per_action: int
    max_actions: int | None = None
    seconds_per_action: float | None = None
    variant: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    frame_skip: int | None = None
    """Frames of a call in Atari games; None in files of version 0.1.0, where they were 15."""
    action_set: str | None = None
    """Their actions: minimal (None) or full."""
    action_levels: int | None = None
    """Levels of every dimension of actions that are a Gymnasium Box."""
    training_calls_spent: int | None = None
    """Training calls the run spent: fewer than allowed where it reached its most episodes before.
    0 for algorithms that do not learn; None in files of version 0.2.0 and before."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a compact copy of a run comes from."""

    file: ClassVar = "origin.json"
    commit: str
    """Of the repository that the run was made with."""
    sha256: Mapping[str, str]
    """Of every file of the run that was copied, as it was there, by its name in the folder."""

    def __post_init__(self) -> None:
        check_commit(self.commit)


def check_commit(commit: str) -> None:
    """Refuse what cannot be a commit of a repository."""
    if not re.fullmatch("[0-9a-f]{7,40}", commit):
        raise InputError(f"{shown(commit)} is no commit; 7 to 40 hexadecimal digits are one")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run of a sweep was given up."""

    file: ClassVar = "failed.json"
    kind: str
    reason: str
    """One line."""
    traceback: str = ""
    attempts: int = 1
    log: str | None = None
    """Name of the file, in the run's folder, that has what its worker printed."""
    time: float = 0.0
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Pulse:
    """Where a run was a few seconds ago, and what the process that works on it has spent so far."""

    file: ClassVar = "pulse.json"
    phase: str
    episode: int
    calls: int
    seconds: float
    peak_memory: int | None = None
    """Most memory that the process has held, in bytes."""
