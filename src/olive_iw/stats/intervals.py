"""Confidence intervals that hold what they promise also for a few runs a game.

The percentiles of a bootstrap are too close together where games have few runs: five runs a game
cover the truth in about 90% of cases instead of 95%. So the distance of each percentile from the
point is widened, by what the mean of such samples needs (Hesterberg 2015, "What teachers should
know about the bootstrap"). docs/reports.md says how often these intervals cover the truth.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm
from scipy.stats import t as student

from olive_iw.stats.strata import Metric, Strata
from olive_iw.stats.summary import Scores, Summary

CONFIDENCE = 0.95


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


def small_sample_factor(
    samples: Iterable[NDArray[np.float64]], confidence: float = CONFIDENCE
) -> float:
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
    tail = 0.5 + confidence / 2
    ratio = student.ppf(tail, welch_freedom(variances, freedoms)) / norm.ppf(tail)
    return float(np.sqrt(variances.sum() / drawn) * ratio)


def interval_around(
    point: float, draws: ArrayLike, factor: float = 1.0, confidence: float = CONFIDENCE
) -> Interval:
    """Interval from bootstrap draws; `factor` times as far from the point as their percentiles."""
    tail = 50.0 * (1.0 - confidence)
    low, high = np.percentile(np.asarray(draws, dtype=np.float64), [tail, 100.0 - tail])
    below, above = max(point - float(low), 0.0), max(float(high) - point, 0.0)
    return Interval(point, point - factor * below, point + factor * above)


def bootstrap_interval(
    scores: Scores,
    metric: Metric,
    generator: np.random.Generator,
    samples: int = 2000,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Stratified bootstrap interval of any metric; runs are resampled within each game."""
    strata = Strata.of(scores)
    draws = metric(strata.resample(generator, samples))
    factor = small_sample_factor([game[0] for game in strata.games], confidence)
    return interval_around(float(metric(strata)[0]), draws, factor, confidence)


def student_interval(summary: Summary, confidence: float = CONFIDENCE) -> Interval:
    """Interval of a mean by Student's t; not a number where nothing is known of the spread.

    A published error without its number of episodes counts as one of very many.
    """
    freedom = summary.count - 1 if summary.count > 1 else math.inf
    half = float(student.ppf(0.5 + confidence / 2, freedom)) * summary.standard_error
    return Interval(summary.mean, summary.mean - half, summary.mean + half)
