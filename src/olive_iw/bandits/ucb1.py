"""UCB1 (Auer, Cesa-Bianchi and Fischer 2002): mean plus a bound on its error."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numba import njit

from olive_iw.bandits.base import ActionStatistics, Counts, Mask, Values
from olive_iw.bandits.draws import best_of, open_stream, untried


@final
@dataclass(frozen=True, slots=True)
class UCB1:
    """Tries every unsolved action once, then takes the largest mean + √(2·ln N / n).

    N counts the tries of all actions, solved ones too; ties are broken at random.
    """

    normalised: bool = False
    """Scale the unsolved actions' means to [0, 1] first (equal ones to 0), as the paper's code."""

    def choose(self, statistics: ActionStatistics, generator: np.random.Generator) -> int:
        """Return an unsolved action; see `Bandit.choose`."""
        count, mean, _, unsolved = statistics
        return int(_choose(count, mean, unsolved, self.normalised, generator.random()))


def normalised_ucb1() -> UCB1:
    """UCB1 with the means scaled to [0, 1] first, the range that its bound is made for."""
    return UCB1(normalised=True)


@njit(cache=True)
def _choose(count: Counts, mean: Values, unsolved: Mask, normalised: bool, seed: float) -> int:
    stream = open_stream(seed)
    action = untried(count, unsolved, stream)
    if action >= 0:
        return action
    if normalised:
        low, high = mean[unsolved].min(), mean[unsolved].max()
        mean = (mean - low) * (1.0 / (high - low) if high > low else 0.0)
    bound = np.sqrt(2.0 * math.log(count.sum()) / np.maximum(count, 1))
    return best_of(mean + bound, unsolved, stream)
