"""The distributions that intervals and tests ask for: Student's t, and Mann and Whitney's U.

scipy has them too, but nothing else here needs it, and it would be a quarter of the installation.
The tests compare the two.
"""

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
EXACT_UP_TO = 8
"""Where the smaller sample has no more values and none are equal, p is exact, as scipy's is."""


@lru_cache(maxsize=1024)
def student_quantile(share: float, freedom: float = math.inf) -> float:
    """Quantile of Student's t; of the normal distribution if the freedom is as good as infinite.

    With t = √freedom · tan θ the density by θ is a multiple of cos^(freedom − 1) θ.
    """
    if freedom > 1e7:
        return NormalDist().inv_cdf(share)

    def density(theta: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.exp(0.5 * (freedom - 1.0) * np.log1p(-(np.sin(theta) ** 2)))
        return found

    log_scale = math.lgamma((freedom + 1.0) / 2.0) - math.lgamma(freedom / 2.0)
    wanted = abs(share - 0.5) * math.sqrt(math.pi) / math.exp(log_scale)
    theta, step = 0.0, math.inf
    while step > 1e-13 * theta:  # Newton's method, which comes nearer from below alone
        area = 0.5 * theta * float(_WEIGHTS @ density(0.5 * theta * (_NODES + 1.0)))
        step = (wanted - area) / float(density(np.array(theta)))
        theta += step
    return math.copysign(math.sqrt(freedom) * math.tan(theta), share - 0.5)


def mann_whitney_p(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Two-sided p-value of the U test of samples of shapes (n,) and (m,), not all equal.

    Exact for few values without ties; otherwise normal, with corrections for ties and continuity.
    """
    n, m = first.size, second.size
    ordered = np.sort(second)
    below = np.searchsorted(ordered, first, "left") + np.searchsorted(ordered, first, "right")
    u = float(below.sum()) / 2.0
    # Two-sided: whichever sample is the greater one.
    u = max(u, n * m - u)
    _, alike = np.unique(np.concatenate([first, second]), return_counts=True)
    if min(n, m) <= EXACT_UP_TO and alike.max() == 1:
        return min(1.0, 2.0 * sum(_arrangements(n, m)[int(u) :]) / math.comb(n + m, n))
    total = n + m
    ties = float((alike.astype(np.float64) ** 3 - alike).sum()) / (total * (total - 1.0))
    deviation = math.sqrt(n * m / 12.0 * (total + 1.0 - ties))
    return min(1.0, math.erfc((u - n * m / 2.0 - 0.5) / deviation / math.sqrt(2.0)))


@lru_cache(maxsize=64)
def _arrangements(n: int, m: int) -> list[int]:
    """In how many orders of n and m values U is 0, 1, …, n · m.

    They are the coefficients of the product of (1 − q^(m + i)) / (1 − q^i), i from 1 to n.
    """
    counts = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):
            counts[u] -= counts[u - m - i]
        for u in range(i, n * m + 1):
            counts[u] += counts[u - i]
    return counts


def coin_p(wins: int, losses: int) -> float:
    """Two-sided p-value of so many wins and losses, if each were a coin's."""
    tosses = wins + losses
    as_few = sum(math.comb(tosses, count) for count in range(min(wins, losses) + 1))
    return min(1.0, 2 * as_few / (1 << tosses))
