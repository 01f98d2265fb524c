"""Successive halving (Karnin, Koren and Somekh 2013), made anytime and free of state.

Of K unsolved actions, round r = 0, 1, … of a phase looks at the best ⌈K / 2^r⌉ by mean, and each
of them must have been tried q·(2^(r+1) − 1) times: q in round 0, and twice as often as in the
round before in each later one. A phase ends with the round in which two are left (one, if there
is only one). The doubling trick then starts the next phase, with all K and twice the quota q.

The statistics say where in this schedule a node is: the quota is the largest power of two that no
unsolved action falls short of, and the first round that somebody falls short of is the current
one. Tries from earlier phases count, so a phase costs only what it adds; and since a phase starts
with all actions, none waits for ever, also when others become solved and K shrinks.
"""

from typing import final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from olive_iw.bandits.base import ActionStatistics, Counts, Mask, Values
from olive_iw.bandits.draws import open_stream, uniform, untried


@final
class SuccessiveHalving:
    """Tries every unsolved action once, then better halves of them ever more often."""

    def choose(self, statistics: ActionStatistics, generator: np.random.Generator) -> int:
        """Return an unsolved action; see `Bandit.choose`."""
        count, mean, _, unsolved = statistics
        return int(_choose(count, mean, unsolved, generator.random()))


@njit(cache=True)
def _choose(count: Counts, mean: Values, unsolved: Mask, seed: float) -> int:
    stream = open_stream(seed)
    action = untried(count, unsolved, stream)
    if action >= 0:
        return action
    ranking = _ranking(count, mean, unsolved, stream)
    quota = 1
    while quota * 2 <= count[ranking].min():
        quota *= 2
    survivors = ranking.shape[0]
    target = quota
    while survivors > 2:
        survivors = (survivors + 1) // 2
        target = 2 * target + quota
        least_tried = ranking[np.argmin(count[ranking[:survivors]])]
        if count[least_tried] < target:
            return int(least_tried)
    return int(ranking[np.argmin(count[ranking])])  # round 0 of the next phase


@njit(cache=True)
def _ranking(
    count: Counts, mean: Values, unsolved: Mask, stream: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Unsolved actions, best mean first, among equals most tried, then at random.

    So survivors stay survivors; the sorts keep the order of what they find equal.
    """
    ranking = np.flatnonzero(unsolved)
    for last in range(ranking.shape[0] - 1, 0, -1):
        other = int(uniform(stream) * (last + 1))
        ranking[last], ranking[other] = ranking[other], ranking[last]
    ranking = ranking[np.argsort(-count[ranking], kind="mergesort")]
    return ranking[np.argsort(-mean[ranking], kind="mergesort")]
