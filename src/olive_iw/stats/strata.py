"""Runs of several games as one array that can be resampled game by game (stratified bootstrap)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

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
    known = [game for game in scores if game in random and game in human]
    return {
        game: (as_scores(scores[game]) - random[game]) / (human[game] - random[game])
        for game in known
    }
