"""Aggregates over games, after Agarwal et al. 2021 ("the edge of the statistical precipice").

Games weigh the same however many runs they have.
"""

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

    @property
    def games(self) -> list[NDArray[np.float64]]:
        """Scores of every game, shapes (samples, runs of the game)."""
        return np.split(self.values, np.cumsum(self.counts)[:-1], axis=1)

    def resample(self, generator: np.random.Generator, samples: int) -> "Strata":
        """Draw runs with replacement within each game, `samples` times."""
        # The games are all there are; the runs are some of those there could be, so they are drawn.
        runs = [game[0] for game in self.games]
        drawn = [one[generator.integers(one.size, size=(samples, one.size))] for one in runs]
        return Strata(np.concatenate(drawn, axis=1), self.counts)


Metric: TypeAlias = Callable[[Strata], NDArray[np.float64]]
"""Strata with s samples -> float64, shape (s,)."""


def human_normalised(
    scores: Scores, random: Mapping[str, float], human: Mapping[str, float]
) -> dict[str, NDArray[np.float64]]:
    """Scores on the scale where random play is 0 and a human tester is 1.

    Games without both reference scores are left out.
    """
    return {
        game: (as_scores(values) - random[game]) / (human[game] - random[game])
        for game, values in scores.items()
        if game in random and game in human
    }


def mean(strata: Strata) -> NDArray[np.float64]:
    """Mean over games of the games' means."""
    return np.asarray(strata.game_means.mean(axis=1), dtype=np.float64)


def median(strata: Strata) -> NDArray[np.float64]:
    """Median over games of the games' means."""
    return np.median(strata.game_means, axis=1)


def interquartile_mean(strata: Strata) -> NDArray[np.float64]:
    """Mean of the middle half of all runs.

    A run on the edge of the middle half counts by the part of its weight that lies inside, so
    the result is a 25% trimmed mean for any number of runs, not only for multiples of four.
    """
    weights = strata.weights
    if (weights == weights[0]).all():  # then it does not matter which run is where: much faster
        ordered, ranked = np.sort(strata.values, axis=1), weights[None, :]
    else:
        order = np.argsort(strata.values, axis=1, kind="stable")
        ordered, ranked = np.take_along_axis(strata.values, order, axis=1), weights[order]
    upper = np.cumsum(ranked, axis=1)
    lower = np.concatenate([np.zeros((len(upper), 1)), upper[:, :-1]], axis=1)
    inside = np.clip(upper, 0.25, 0.75) - np.clip(lower, 0.25, 0.75)
    found: NDArray[np.float64] = (ordered * inside).sum(axis=1) / inside.sum(axis=1)
    return found


def optimality_gap(strata: Strata) -> NDArray[np.float64]:
    """How far scores fall short of 1 (human level) on average; scores above 1 do not make up."""
    shortfall: NDArray[np.float64] = (np.maximum(0.0, 1.0 - strata.values) * strata.weights).sum(1)
    return shortfall


METRICS: Mapping[str, Metric] = {
    "mean": mean,
    "median": median,
    "interquartile mean": interquartile_mean,
    "optimality gap": optimality_gap,
}
"""The four aggregates that reports show, by name."""


def performance_profile(strata: Strata, thresholds: ArrayLike) -> NDArray[np.float64]:
    """Part of runs whose score is above each threshold, shape (samples, thresholds)."""
    levels = np.asarray(thresholds, dtype=np.float64)
    columns = [((strata.values > level) * strata.weights).sum(axis=1) for level in levels]
    return np.stack(columns, axis=1)
