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


def learning_curve(traces: Sequence[TrainingTrace], points: int = 30) -> list[CurvePoint]:
    """Score of the latest finished training episode, averaged over runs.

    The points are evenly spaced in training calls, from where every run has finished its first
    episode to where the shortest run ends, so that each point averages the same runs.
    """
    played = [trace for trace in traces if trace.calls.size]
    if not played:
        return []
    start = max(trace.calls[0] for trace in played)
    end = min(trace.calls[-1] for trace in played)
    if start > end:
        return []
    grid = np.unique(np.linspace(start, end, points))
    return [_point(calls, [_latest(trace, calls) for trace in played]) for calls in grid]


def _latest(trace: TrainingTrace, calls: float) -> float:
    return float(trace.scores[np.searchsorted(trace.calls, calls, side="right") - 1])


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
