"""Top-two Thompson sampling (Russo 2016): the best action, or the one that might be better."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numba import njit

from olive_iw.bandits.base import ActionStatistics, Counts, Mask, Values
from olive_iw.bandits.draws import best_of, open_stream, uniform, untried
from olive_iw.bandits.thompson import draw_returns


@final
@dataclass(frozen=True, slots=True)
class TopTwoThompson:
    """Tries every unsolved action once, then one of the two likeliest to be the best.

    One draw of all returns, as in `Thompson`, gives the leader. It is taken with probability
    `keep_probability`. Otherwise the returns are drawn again until another action wins: the
    challenger, which is taken. If the leader wins `retries` times more, the challenger is the
    best of the others in the last draw.
    """

    keep_probability: float = 0.5
    retries: int = 16

    def choose(self, statistics: ActionStatistics, generator: np.random.Generator) -> int:
        """Return an unsolved action; see `Bandit.choose`."""
        rule = self.keep_probability, self.retries
        return int(_choose(*statistics, *rule, generator.random()))


@njit(cache=True)
def _choose(
    count: Counts,
    mean: Values,
    variance: Values,
    unsolved: Mask,
    keep_probability: float,
    retries: int,
    seed: float,
) -> int:
    stream = open_stream(seed)
    action = untried(count, unsolved, stream)
    if action >= 0:
        return action
    drawn = draw_returns(count, mean, variance, unsolved, stream)
    leader = best_of(drawn, unsolved, stream)
    if unsolved.sum() == 1 or uniform(stream) < keep_probability:
        return leader
    for _ in range(retries):
        drawn = draw_returns(count, mean, variance, unsolved, stream)
        challenger = best_of(drawn, unsolved, stream)
        if challenger != leader:
            return challenger
    others = unsolved.copy()
    others[leader] = False
    return best_of(drawn, others, stream)
