"""Aggregates over games, after Agarwal et al. 2021 ("the edge of the statistical precipice").

Each metric is a pure function of `Strata` (s samples) and returns float64, shape (s,). Games
weigh the same however many runs they have.
"""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from olive_iw.errors import InputError
from olive_iw.stats.intervals import CONFIDENCE, Interval, interval_around, small_sample_factor
from olive_iw.stats.strata import Metric, Strata
from olive_iw.stats.summary import Scores, as_scores


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
    order = np.argsort(strata.values, axis=1, kind="stable")
    ordered = np.take_along_axis(strata.values, order, axis=1)
    upper = np.cumsum(strata.weights[order], axis=1)
    lower = np.concatenate([np.zeros((len(upper), 1)), upper[:, :-1]], axis=1)
    inside = np.clip(upper, 0.25, 0.75) - np.clip(lower, 0.25, 0.75)
    total: NDArray[np.float64] = (ordered * inside).sum(axis=1) / inside.sum(axis=1)
    return total


def optimality_gap(strata: Strata) -> NDArray[np.float64]:
    """How far scores fall short of 1 (human level) on average; scores above 1 do not make up."""
    shortfall: NDArray[np.float64] = (np.maximum(0.0, 1.0 - strata.values) * strata.weights).sum(1)
    return shortfall


METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        "mean": mean,
        "median": median,
        "interquartile mean": interquartile_mean,
        "optimality gap": optimality_gap,
    }
)
"""The four aggregates that reports show, by name."""


def performance_profile(strata: Strata, thresholds: ArrayLike) -> NDArray[np.float64]:
    """Part of runs whose score is above each threshold, shape (samples, thresholds)."""
    levels = np.asarray(thresholds, dtype=np.float64)
    columns = [((strata.values > level) * strata.weights).sum(axis=1) for level in levels]
    return np.stack(columns, axis=1)


def _beats(first: Strata, second: Strata) -> list[NDArray[np.float64]]:
    """1 where a run of `first` beats one of `second`, ½ for ties: per game (samples, n, m)."""
    pairs = zip(first.games, second.games, strict=True)
    return [0.5 + 0.5 * np.sign(a[:, :, None] - b[:, None, :]) for a, b in pairs]


def _improvement(first: Strata, second: Strata) -> NDArray[np.float64]:
    chances = [game.mean(axis=(1, 2)) for game in _beats(first, second)]
    return np.asarray(np.mean(chances, axis=0), dtype=np.float64)


def probability_of_superiority(first: ArrayLike, second: ArrayLike) -> float:
    """Chance that a run of `first` beats a run of `second` on one game; ties count half."""
    one, other = ({"": as_scores(scores)} for scores in (first, second))
    return float(_improvement(Strata.of(one), Strata.of(other))[0])


def probability_of_improvement(
    first: Scores,
    second: Scores,
    generator: np.random.Generator,
    samples: int = 2000,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Chance that a run of `first` beats one of `second` on a game drawn at random."""
    shared = [game for game in first if game in second]
    if not shared:
        raise InputError("the two algorithms share no game; run them on at least one common game")
    a = Strata.of({game: first[game] for game in shared})
    b = Strata.of({game: second[game] for game in shared})
    draws = _improvement(a.resample(generator, samples), b.resample(generator, samples))
    # How often each run of either side wins: their variances make the chance's (DeLong 1988).
    shares = [game[0].mean(axis=axis) for game in _beats(a, b) for axis in (0, 1)]
    factor = small_sample_factor(shares, confidence)
    found = interval_around(float(_improvement(a, b)[0]), draws, factor, confidence)
    return Interval(found.point, max(0.0, found.low), min(1.0, found.high))
