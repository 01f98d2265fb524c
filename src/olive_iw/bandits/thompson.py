"""Thompson sampling: each action as often as it is believed to give the largest next return."""

import math
from typing import final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from olive_iw.bandits.base import ActionStatistics, Counts, Mask, Values
from olive_iw.bandits.draws import best_of, chi_square, normal, open_stream, untried


@final
class Thompson:
    """Tries every unsolved action once, then takes the one with the largest drawn return.

    Returns are taken as normal with unknown mean and variance. A draw is from the posterior's
    predictive distribution: σ² ~ Scaled-Inv-χ²(n + 1, variance), μ ~ N(mean, σ²/n), Q ~ N(μ, σ²).
    """

    def choose(self, statistics: ActionStatistics, generator: np.random.Generator) -> int:
        """Return an unsolved action; see `Bandit.choose`."""
        return int(_choose(*statistics, generator.random()))


@njit(cache=True)
def draw_return(count: int, mean: float, variance: float, stream: NDArray[np.uint64]) -> float:
    """Draw the next return of an action tried at least once.

    Drawing μ and then Q around it is drawing Q ~ N(mean, σ²/n + σ²) at once.
    """
    degrees = count + 1
    drawn_variance = degrees * variance / chi_square(stream, degrees)
    return mean + math.sqrt(drawn_variance * (1.0 + 1.0 / count)) * normal(stream)


@njit(cache=True)
def draw_returns(
    count: Counts, mean: Values, variance: Values, unsolved: Mask, stream: NDArray[np.uint64]
) -> Values:
    """Draw the next return of every unsolved action; shape (actions,), 0 where solved."""
    drawn = np.zeros(count.shape[0])
    for action in range(count.shape[0]):
        if unsolved[action]:
            drawn[action] = draw_return(count[action], mean[action], variance[action], stream)
    return drawn


@njit(cache=True)
def _choose(count: Counts, mean: Values, variance: Values, unsolved: Mask, seed: float) -> int:
    stream = open_stream(seed)
    action = untried(count, unsolved, stream)
    if action >= 0:
        return action
    return best_of(draw_returns(count, mean, variance, unsolved, stream), unsolved, stream)
