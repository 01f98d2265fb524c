"""UCB1 (Auer, Cesa-Bianchi and Fischer 2002): mean plus a bound on its error."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numba import njit

from olive_iw.bandits.base import Counts, Mask, Values
from olive_iw.bandits.draws import best_of, open_stream
from olive_iw.bandits.statistics import untried


@final
@dataclass(frozen=True, slots=True)
class UCB1:
    """Tries every unsolved action once, then takes the largest mean + √(2·ln N / n).

    N counts the tries of all actions, solved ones too; ties are broken at random.
    """

    normalised: bool = False
    """Scale the means of the unsolved actions to [0, 1] first (all to 0 if they are equal), the
    range that the bound is made for. The paper prints the formula without, its code scales."""

    def choose(
        self,
        count: Counts,
        mean: Values,
        variance: Values,
        unsolved: Mask,
        generator: np.random.Generator,
    ) -> int:
        """Return an unsolved action; see `Bandit.choose`."""
        return int(_choose(count, mean, unsolved, self.normalised, generator.random()))


@njit(cache=True)
def _choose(count: Counts, mean: Values, unsolved: Mask, normalised: bool, seed: float) -> int:
    stream = open_stream(seed)
    action = untried(count, unsolved, stream)
    if action >= 0:
        return action
    low, scale = _scaling(mean, unsolved) if normalised else (0.0, 1.0)
    log_total = math.log(count.sum())
    score = np.zeros(count.shape[0])
    for action in range(count.shape[0]):
        if unsolved[action]:
            bound = math.sqrt(2.0 * log_total / count[action])
            score[action] = (mean[action] - low) * scale + bound
    return best_of(score, unsolved, stream)


@njit(cache=True)
def _scaling(mean: Values, unsolved: Mask) -> tuple[float, float]:
    """Offset and factor that bring the unsolved actions' means to [0, 1]."""
    low, high = math.inf, -math.inf
    for action in range(mean.shape[0]):
        if unsolved[action]:
            low, high = min(low, mean[action]), max(high, mean[action])
    return low, (1.0 / (high - low) if high > low else 0.0)
