"""Random draws inside compiled code.

Handing a `numpy.random.Generator` to compiled code costs 12 µs a call, ten times what a choice
costs. So a bandit takes one number from the generator it is given, and its compiled code makes as
many draws as it needs out of that number with SplitMix64 (Steele, Lea and Flood 2014).
"""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from olive_iw.arithmetic import log
from olive_iw.bandits.base import Counts, Mask, Values
from olive_iw.compiled import njit

Stream: TypeAlias = NDArray[np.uint64]
"""State of a SplitMix64 generator, shape (1,)."""

_INCREMENT = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)


@njit
def open_stream(seed: float) -> Stream:
    """Stream for one choice; `seed` is a `Generator.random()`, all of whose 53 bits count."""
    stream = np.empty(1, np.uint64)
    stream[0] = np.uint64(seed * 9007199254740992.0)
    stream[0] = _next(stream)  # neighbouring seeds must not give neighbouring states
    return stream


@njit
def _next(stream: Stream) -> np.uint64:
    stream[0] += _INCREMENT
    bits = stream[0]
    bits = (bits ^ (bits >> np.uint64(30))) * _MULTIPLIER_1
    bits = (bits ^ (bits >> np.uint64(27))) * _MULTIPLIER_2
    return np.uint64(bits ^ (bits >> np.uint64(31)))


@njit
def uniform(stream: Stream) -> float:
    """Draw from [0, 1)."""
    return (_next(stream) >> np.uint64(11)) * (1.0 / 9007199254740992.0)  # 53 bits · 2^-53


@njit
def normal(stream: Stream) -> float:
    """Draw from N(0, 1), by Marsaglia's polar method."""
    while True:
        x = 2.0 * uniform(stream) - 1.0
        y = 2.0 * uniform(stream) - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:  # y would give a second number, but nothing here can keep it
            return x * math.sqrt(-2.0 * log(square) / square)


@njit
def chi_square(stream: Stream, degrees: int) -> float:
    """Draw from χ² with at least 2 degrees of freedom, by Marsaglia and Tsang (2000)."""
    offset = 0.5 * degrees - 1.0 / 3.0
    slope = 1.0 / math.sqrt(9.0 * offset)
    while True:
        x = normal(stream)
        root = 1.0 + slope * x
        if root > 0.0:
            cube = root * root * root
            chance = 1.0 - uniform(stream)
            if chance < 1.0 - 0.0331 * x * x * x * x:  # spares most draws the logarithms
                return 2.0 * offset * cube
            if log(chance) < 0.5 * x * x + offset * (1.0 - cube + log(cube)):
                return 2.0 * offset * cube


@njit
def one_of(candidates: Mask, stream: Stream) -> int:
    """Draw the index of a true entry, each equally likely; -1 if there is none."""
    chosen = -1
    met = 0
    for index in range(candidates.shape[0]):
        if candidates[index]:
            met += 1
            # The n-th candidate takes the place of the choice with chance 1/n: one pass, all equal.
            if met == 1 or uniform(stream) * met < 1.0:
                chosen = index
    return chosen


@njit
def best_of(score: Values, candidates: Mask, stream: Stream) -> int:
    """Index of the candidate with the largest score, ties broken at random."""
    best = score[candidates].max()
    return one_of(candidates & (score == best), stream)


@njit
def first_try(count: Counts, unsolved: Mask, seed: float) -> tuple[int, Stream]:
    """Draw an unsolved action never tried, -1 if there is none; also return the stream opened."""
    stream = open_stream(seed)
    return one_of(unsolved & (count == 0), stream), stream
