"""Confidence intervals that hold what they promise also for a few runs a game.

The percentiles of a bootstrap are too close together where games have few runs: five runs a game
cover the truth in about 90% of cases instead of 95%. So the distance of each percentile from the
point is widened, by what the mean of such samples needs (Hesterberg 2015, "What teachers should
know about the bootstrap"). docs/reports.md says how often these intervals cover the truth.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from olive_iw.errors import InputError
from olive_iw.stats.aggregates import Metric, Strata
from olive_iw.stats.distributions import student_quantile
from olive_iw.stats.summary import Scores, Summary

CONFIDENCE = 0.95
SAMPLES = 20_000
"""Copies that a bootstrap draws: with 2,000, bounds still moved by a tenth from seed to seed."""
_TAIL = 0.5 + CONFIDENCE / 2


@dataclass(frozen=True, slots=True)
class Interval:
    """A point estimate with a confidence interval around it."""

    point: float
    low: float
    high: float


def welch_freedom(variances: ArrayLike, freedoms: ArrayLike) -> float:
    """Degrees of freedom of a sum of independent estimates (Welch and Satterthwaite).

    `variances`, shape (parts,), are those of the parts; `freedoms` their degrees of freedom.
    Infinite if nothing varies.
    """
    parts = np.asarray(variances, dtype=np.float64)
    shares = parts / (parts.sum() or 1.0)
    below = float((shares**2 / np.asarray(freedoms, dtype=np.float64)).sum())
    return 1.0 / below if below else math.inf


def small_sample_factor(samples: Iterable[NDArray[np.float64]]) -> float:
    """How many times too narrow the percentiles of a bootstrap are.

    n runs drawn from n runs vary less than n new runs would, by √((n-1)/n); and how much runs
    vary is itself an estimate, which Student's t allows for. `samples` are the runs of each game,
    shapes (n,); games with one run say nothing of their spread, and are left out.
    """
    several = [values for values in samples if values.size > 1]
    variances = np.array([values.var(ddof=1) / values.size for values in several])
    if variances.sum() == 0.0:
        return 1.0
    freedoms = np.array([values.size - 1 for values in several])
    drawn = (variances * freedoms / (freedoms + 1)).sum()
    ratio = student_quantile(_TAIL, welch_freedom(variances, freedoms)) / student_quantile(_TAIL)
    return float(np.sqrt(variances.sum() / drawn) * ratio)


def interval_around(point: float, draws: ArrayLike, factor: float = 1.0) -> Interval:
    """Interval from bootstrap draws; `factor` times as far from the point as their percentiles."""
    tail = 50.0 * (1.0 - CONFIDENCE)
    low, high = np.percentile(np.asarray(draws, dtype=np.float64), [tail, 100.0 - tail])
    # All draws may lie on one side of the point: then the other has no width.
    below, above = max(point - float(low), 0.0), max(float(high) - point, 0.0)
    return Interval(point, point - factor * below, point + factor * above)


def bootstrap_interval(
    scores: Scores, metric: Metric, generator: np.random.Generator, samples: int = SAMPLES
) -> Interval:
    """Stratified bootstrap interval of any metric; runs are resampled within each game."""
    strata = Strata.of(scores)
    draws = metric(strata.resample(generator, samples))
    factor = small_sample_factor([game[0] for game in strata.games])
    return interval_around(float(metric(strata)[0]), draws, factor)


def _beats(first: Strata, second: Strata) -> Iterator[NDArray[np.float64]]:
    """1 where a run of `first` beats one of `second`, ½ for ties: per game (samples, n, m).

    Game by game: of many samples, those of all games at once would not fit into memory.
    """
    for a, b in zip(first.games, second.games, strict=True):
        yield 0.5 + 0.5 * np.sign(a[:, :, None] - b[:, None, :])


def _improvement(first: Strata, second: Strata) -> NDArray[np.float64]:
    chances = [game.mean(axis=(1, 2)) for game in _beats(first, second)]
    return np.asarray(np.mean(chances, axis=0), dtype=np.float64)


def probability_of_improvement(
    first: Scores, second: Scores, generator: np.random.Generator, samples: int = SAMPLES
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
    factor = small_sample_factor(shares)
    found = interval_around(float(_improvement(a, b)[0]), draws, factor)
    return Interval(found.point, max(0.0, found.low), min(1.0, found.high))


def student_interval(summary: Summary) -> Interval:
    """Interval of a mean by Student's t; not a number where nothing is known of the spread.

    A published error without its number of episodes counts as one of very many.
    """
    freedom = summary.count - 1 if summary.count > 1 else math.inf
    half = student_quantile(_TAIL, freedom) * summary.standard_error
    return Interval(summary.mean, summary.mean - half, summary.mean + half)
