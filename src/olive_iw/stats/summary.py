"""What is said of the scores of one algorithm: on a game, while it learned, and by its budget."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from olive_iw.errors import InputError

Scores: TypeAlias = Mapping[str, NDArray[np.float64]]
"""Scores of one algorithm: game -> float64, shape (episodes,)."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What is said of the scores of one game."""

    mean: float
    standard_error: float
    """Sample standard deviation / √count; not a number for a single score."""
    maximum: float
    count: int


def as_scores(scores: ArrayLike) -> NDArray[np.float64]:
    """Check and convert: float64, shape (episodes,), at least one, all finite."""
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"scores must be a list of at least one number, not shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError("scores must be finite numbers; found nan or infinity")
    return array


def summarise(scores: ArrayLike) -> Summary:
    """Summary of the scores of one game, shape (episodes,)."""
    array = as_scores(scores)
    error = np.std(array, ddof=1) / np.sqrt(array.size) if array.size > 1 else np.nan
    return Summary(float(array.mean()), float(error), float(array.max()), array.size)


def means(scores: Scores) -> dict[str, float]:
    """Mean score of every game."""
    return {game: summarise(values).mean for game, values in scores.items()}


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What is said of the scores at one place of a curve: after so many calls, or with so many."""

    calls: float
    mean: float
    standard_error: float
    count: int

    @classmethod
    def of(cls, calls: float, scores: ArrayLike) -> "CurvePoint":
        """Summarise the scores, shape (episodes,)."""
        found = summarise(scores)
        return cls(calls, found.mean, found.standard_error, found.count)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingTrace:
    """Training episodes of one run, in the order they were played."""

    calls: NDArray[np.float64]
    """float64, shape (episodes,): training calls spent when each episode ended, increasing."""
    scores: NDArray[np.float64]
    """float64, shape (episodes,)."""

    @classmethod
    def of(cls, calls_per_episode: ArrayLike, scores: ArrayLike) -> "TrainingTrace":
        """From the calls of each episode, which are summed up."""
        spent = np.cumsum(np.asarray(calls_per_episode, dtype=np.float64))
        return cls(spent, np.asarray(scores, dtype=np.float64))


def learning_curve(traces: Sequence[TrainingTrace]) -> list[CurvePoint]:
    """One point for the first training episode of all runs, one for the second, and so on.

    A point stands at the mean of the training calls that the runs had spent by then; runs that
    played fewer episodes than others are in fewer points, which `CurvePoint.count` tells.
    """
    points = []
    for episode in range(max((trace.calls.size for trace in traces), default=0)):
        there = [trace for trace in traces if trace.calls.size > episode]
        calls = float(np.mean([trace.calls[episode] for trace in there]))
        points.append(CurvePoint.of(calls, [trace.scores[episode] for trace in there]))
    return points


def anytime_curve(rows: Iterable[tuple[float, float]]) -> list[CurvePoint]:
    """Mean score at every number of calls per action; rows are (calls per action, score)."""
    by_calls: defaultdict[float, list[float]] = defaultdict(list)
    for calls, score in rows:
        if calls <= 0:
            raise InputError(f"calls per action must be positive, not {calls}")
        by_calls[calls].append(score)
    return [CurvePoint.of(float(calls), by_calls[calls]) for calls in sorted(by_calls)]
