"""The action of the largest mean return: the paper's "max"."""

from typing import final

import numpy as np
from numba import njit

from olive_iw.bandits.base import ActionStatistics, Counts, Mask, Values
from olive_iw.bandits.draws import best_of, open_stream, untried


@final
class Max:
    """Tries every unsolved action once, then takes the largest mean, ties broken at random."""

    def choose(self, statistics: ActionStatistics, generator: np.random.Generator) -> int:
        """Return an unsolved action; see `Bandit.choose`."""
        count, mean, _, unsolved = statistics
        return int(_choose(count, mean, unsolved, generator.random()))


@njit(cache=True)
def _choose(count: Counts, mean: Values, unsolved: Mask, seed: float) -> int:
    stream = open_stream(seed)
    action = untried(count, unsolved, stream)
    return action if action >= 0 else best_of(mean, unsolved, stream)
