"""Runs of several games as one array that can be resampled game by game (stratified bootstrap)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from olive_iw.errors import InputError
from olive_iw.stats.summary import Scores, as_scores


@dataclass(frozen=True, slots=True, eq=False)
class Strata:
    """Scores of runs, game after game, in one or more resampled copies."""

    values: NDArray[np.float64]
    """float64, shape (samples, runs of all games)."""
    counts: NDArray[np.int64]
    """int64, shape (games,): how many runs of each game follow each other in `values`."""

    @classmethod
    def of(cls, scores: Scores) -> "Strata":
        """One sample: the scores themselves, one entry per run of each game."""
        if not scores:
            raise InputError("no scores to aggregate: at least one game is needed")
        arrays = [as_scores(values) for values in scores.values()]
        counts = np.array([array.size for array in arrays], dtype=np.int64)
        return cls(np.concatenate(arrays)[None, :], counts)

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weight of every run, shape (runs,): each game weighs the same, and all sum to one."""
        return np.repeat(1.0 / (self.counts * self.counts.size), self.counts)

    @property
    def game_means(self) -> NDArray[np.float64]:
        """Mean of every game, shape (samples, games)."""
        starts = np.concatenate([[0], np.cumsum(self.counts)[:-1]])
        sums: NDArray[np.float64] = np.add.reduceat(self.values, starts, axis=1)
        return sums / self.counts

    def of_game(self, index: int) -> NDArray[np.float64]:
        """Scores of one game, shape (samples, runs of the game)."""
        start = int(self.counts[:index].sum())
        return self.values[:, start : start + int(self.counts[index])]

    def resample(self, generator: np.random.Generator, samples: int) -> "Strata":
        """Draw runs with replacement within each game, `samples` times."""
        drawn = [
            self.of_game(index)[0][generator.integers(count, size=(samples, count))]
            for index, count in enumerate(self.counts)
        ]
        return Strata(np.concatenate(drawn, axis=1), self.counts)


Metric: TypeAlias = Callable[[Strata], NDArray[np.float64]]
"""Strata with s samples -> float64, shape (s,)."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A point estimate with a confidence interval around it."""

    point: float
    low: float
    high: float


def interval_around(point: float, draws: ArrayLike, confidence: float) -> Interval:
    """Percentile interval of bootstrap draws, widened where needed to hold the point estimate."""
    tail = 50.0 * (1.0 - confidence)
    low, high = np.percentile(np.asarray(draws, dtype=np.float64), [tail, 100.0 - tail])
    return Interval(point, min(float(low), point), max(float(high), point))


def bootstrap_interval(
    scores: Scores,
    metric: Metric,
    generator: np.random.Generator,
    samples: int = 2000,
    confidence: float = 0.95,
) -> Interval:
    """Stratified bootstrap interval of any metric; runs are resampled within each game."""
    strata = Strata.of(scores)
    draws = metric(strata.resample(generator, samples))
    return interval_around(float(metric(strata)[0]), draws, confidence)


def human_normalised(
    scores: Scores, random: Mapping[str, float], human: Mapping[str, float]
) -> dict[str, NDArray[np.float64]]:
    """Scores on the scale where random play is 0 and a human tester is 1.

    Games without both reference scores are left out.
    """
    known = [game for game in scores if game in random and game in human]
    return {
        game: (as_scores(scores[game]) - random[game]) / (human[game] - random[game])
        for game in known
    }
