"""Any unsolved action, each equally likely: what Rollout-IW does."""

from typing import final

import numpy as np
from numba import njit

from olive_iw.bandits.base import ActionStatistics, Mask
from olive_iw.bandits.draws import one_of, open_stream


@final
class Uniform:
    """Chooses uniformly among the unsolved actions, whatever they returned."""

    def choose(self, statistics: ActionStatistics, generator: np.random.Generator) -> int:
        """Return an unsolved action; see `Bandit.choose`."""
        return int(_choose(statistics.unsolved, generator.random()))


@njit(cache=True)
def _choose(unsolved: Mask, seed: float) -> int:
    return one_of(unsolved, open_stream(seed))
