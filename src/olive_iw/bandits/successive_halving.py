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

from olive_iw.bandits.base import Counts, Mask, Values
from olive_iw.bandits.draws import open_stream, uniform
from olive_iw.bandits.statistics import untried


@final
class SuccessiveHalving:
    """Tries every unsolved action once, then better halves of them ever more often.

    Among the actions that fall short in the current round, takes one tried least often. Actions
    of equal mean stand in order of their tries, most first, so that survivors stay survivors;
    further ties are broken at random.
    """

    def choose(
        self,
        count: Counts,
        mean: Values,
        variance: Values,
        unsolved: Mask,
        generator: np.random.Generator,
    ) -> int:
        """Return an unsolved action; see `Bandit.choose`."""
        return int(_choose(count, mean, unsolved, generator.random()))


@njit(cache=True)
def _choose(count: Counts, mean: Values, unsolved: Mask, seed: float) -> int:
    stream = open_stream(seed)
    action = untried(count, unsolved, stream)
    if action >= 0:
        return action
    ranking = _ranking(count, mean, unsolved, stream)
    least = count[_least_tried(count, ranking)]
    quota = 1
    while quota * 2 <= least:
        quota *= 2
    survivors = ranking.shape[0]
    target = quota
    while survivors > 2:
        survivors = (survivors + 1) // 2
        target = 2 * target + quota
        action = _least_tried(count, ranking[:survivors])
        if count[action] < target:
            return action
    return _least_tried(count, ranking)  # round 0 of the next phase


@njit(cache=True)
def _ranking(
    count: Counts, mean: Values, unsolved: Mask, stream: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Unsolved actions, best first: a shuffle, then an insertion sort that keeps ties' order."""
    ranking = np.flatnonzero(unsolved)
    for last in range(ranking.shape[0] - 1, 0, -1):
        other = int(uniform(stream) * (last + 1))
        ranking[last], ranking[other] = ranking[other], ranking[last]
    for end in range(1, ranking.shape[0]):
        action = ranking[end]
        place = end
        while place > 0 and _better(count, mean, action, ranking[place - 1]):
            ranking[place] = ranking[place - 1]
            place -= 1
        ranking[place] = action
    return ranking


@njit(cache=True)
def _better(count: Counts, mean: Values, action: int, other: int) -> bool:
    if mean[action] != mean[other]:
        return bool(mean[action] > mean[other])
    return bool(count[action] > count[other])


@njit(cache=True)
def _least_tried(count: Counts, ranking: NDArray[np.int64]) -> int:
    """First of the ranked actions with the fewest tries."""
    least = ranking[0]
    for action in ranking[1:]:
        if count[action] < count[least]:
            least = action
    return int(least)
