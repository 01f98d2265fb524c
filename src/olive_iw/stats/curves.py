"""Curves: score against training calls, and score against calls per action."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from olive_iw.errors import InputError
from olive_iw.stats.summary import summarise


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of a curve."""

    calls: float
    mean: float
    standard_error: float
    """Not a number where a single score is behind the point."""
    count: int
    """Episodes behind the point."""


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
        points.append(_point(calls, [float(trace.scores[episode]) for trace in there]))
    return points


def _point(calls: float, scores: Sequence[float]) -> CurvePoint:
    summary = summarise(scores)
    return CurvePoint(float(calls), summary.mean, summary.standard_error, summary.count)


def anytime_curve(rows: Iterable[tuple[float, float]]) -> list[CurvePoint]:
    """Mean score at every number of calls per action; rows are (calls per action, score)."""
    by_calls: defaultdict[float, list[float]] = defaultdict(list)
    for calls, score in rows:
        if calls <= 0:
            raise InputError(f"calls per action must be positive, not {calls}")
        by_calls[calls].append(score)
    return [_point(calls, by_calls[calls]) for calls in sorted(by_calls)]
