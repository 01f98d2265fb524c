"""Bandits whose bonus fits the spread of the returns (Wissow and Asai; Asai and Wissow)."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numba import njit

from olive_iw.bandits.base import INITIAL_VARIANCE, ActionStatistics, Counts, Mask, Values
from olive_iw.bandits.draws import Stream, best_of, one_of, open_stream
from olive_iw.errors import InputError

ROUNDING = 1e-12
"""Squared deviations, summed, up to which they are the rounding of a variance, not a spread."""


@final
@dataclass(frozen=True, slots=True)
class UCB1Normal2:
    """Tries every unsolved action twice, then takes the largest mean + σ·√(2·ln N).

    σ is the standard deviation of an action's returns, N counts the tries of all actions, solved
    ones too. Nothing shrinks the bonus but σ itself, which is 0 where returns do not differ. Ties
    are broken at random.
    """

    second_try: bool = True
    """Try every action once more before σ counts, which is 0 after one return."""
    full_bellman: bool = False
    """Take the greatest return of an action where its mean stands."""

    def choose(self, statistics: ActionStatistics, generator: np.random.Generator) -> int:
        """Return an unsolved action (Wissow and Asai)."""
        count, mean, variance, unsolved, _, high, _ = statistics
        if self.full_bellman:
            mean = _given(high, "high")
        tries = 2 if self.second_try else 1
        return int(_normal2(count, mean, variance, unsolved, tries, generator.random()))


@final
@dataclass(frozen=True, slots=True)
class UCB1Uniform:
    """Tries every unsolved action twice, then takes the largest middle + width·√(6·n·ln N).

    Middle and width are those of the range of an action's returns, N counts the tries of all
    actions, solved ones too. The bonus grows with the action's own tries n: among actions of equal
    ranges it stays with the one tried most. Ties are broken at random.
    """

    second_try: bool = True
    """Try every action once more before its range counts, which is 0 after one return."""

    def choose(self, statistics: ActionStatistics, generator: np.random.Generator) -> int:
        """Return an unsolved action (Asai and Wissow)."""
        low, high = _given(statistics.low, "low"), _given(statistics.high, "high")
        count, unsolved, tries = statistics.count, statistics.unsolved, 2 if self.second_try else 1
        return int(_uniform_range(count, low, high, unsolved, tries, generator.random()))


def _given(row: Values | None, name: str) -> Values:
    if row is None:
        raise InputError(f"this bandit needs the statistic {name!r}, which every tree has")
    return row


@njit(cache=True)
def _too_rarely_tried(count: Counts, unsolved: Mask, tries: int, stream: Stream) -> int:
    """Draw one of the unsolved actions tried least, if that is less than `tries` times; else -1."""
    least = count[unsolved].min()
    return one_of(unsolved & (count == least), stream) if least < tries else -1


@njit(cache=True)
def normal2_scores(count: Counts, mean: Values, variance: Values) -> Values:
    """Scores of actions, shape (actions,); the variance is freed of what it began with."""
    squares = (count + 1) * variance - INITIAL_VARIANCE
    squares = np.where(squares > ROUNDING, squares, 0.0)
    deviation = np.sqrt(squares / np.maximum(count - 1, 1))
    return mean + deviation * math.sqrt(2.0 * math.log(count.sum()))


@njit(cache=True)
def _normal2(
    count: Counts, mean: Values, variance: Values, unsolved: Mask, tries: int, seed: float
) -> int:
    stream = open_stream(seed)
    action = _too_rarely_tried(count, unsolved, tries, stream)
    if action >= 0:
        return action
    return best_of(normal2_scores(count, mean, variance), unsolved, stream)


@njit(cache=True)
def uniform_scores(count: Counts, low: Values, high: Values) -> Values:
    """Scores of actions, shape (actions,); -inf where nothing has returned yet."""
    known = low <= high
    width = np.where(known, high - low, 0.0)
    middle = np.where(known, low + width / 2, -np.inf)
    scores: Values = middle + width * np.sqrt(6.0 * count * math.log(count.sum()))
    return scores


@njit(cache=True)
def _uniform_range(
    count: Counts, low: Values, high: Values, unsolved: Mask, tries: int, seed: float
) -> int:
    stream = open_stream(seed)
    action = _too_rarely_tried(count, unsolved, tries, stream)
    if action >= 0:
        return action
    return best_of(uniform_scores(count, low, high), unsolved, stream)
