"""What can be said across games where each was played once: games are what is drawn from.

Nothing here knows how scores of one game vary. The intervals say how much a figure depends on which
games were played.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from olive_iw.errors import InputError
from olive_iw.stats.aggregates import Metric, Strata
from olive_iw.stats.intervals import SAMPLES, Interval, interval_around, small_sample_factor
from olive_iw.stats.summary import as_scores


def interval_over_games(
    scores: Mapping[str, float],
    metric: Metric,
    generator: np.random.Generator,
    samples: int = SAMPLES,
) -> Interval:
    """Bootstrap interval of a metric of one score a game; games are drawn with replacement."""
    values = as_scores(list(scores.values()))
    drawn = values[_games(values.size, generator, samples)]
    factor = small_sample_factor([values])
    return interval_around(_of(values, metric), metric(_strata(drawn)), factor)


def difference_over_games(
    first: Mapping[str, float],
    second: Mapping[str, float],
    metric: Metric,
    generator: np.random.Generator,
    samples: int = SAMPLES,
) -> Interval:
    """Interval of the metric of `first` less that of `second`, over the games that both have.

    The same games are drawn for both, so that what makes games different does not count.
    """
    shared = sorted(first.keys() & second.keys())
    if not shared:
        raise InputError("the two sides share no game; at least one common game is needed")
    one, other = (as_scores([side[game] for game in shared]) for side in (first, second))
    games = _games(len(shared), generator, samples)
    draws = metric(_strata(one[games])) - metric(_strata(other[games]))
    point = _of(one, metric) - _of(other, metric)
    return interval_around(point, draws, small_sample_factor([one - other]))


def _games(count: int, generator: np.random.Generator, samples: int) -> NDArray[np.int64]:
    return generator.integers(count, size=(samples, count))


def _strata(values: NDArray[np.float64]) -> Strata:
    """Take one run of each game, shape (samples, games)."""
    return Strata(values, np.ones(values.shape[1], dtype=np.int64))


def _of(values: NDArray[np.float64], metric: Metric) -> float:
    return float(metric(_strata(values[None, :]))[0])
