"""Functions that come out the same, bit for bit, on every processor.

Exponentials of the C library, of numpy and of vector libraries are right to about the last digit,
and each has another last digit; matrix products add up in an order of their own. These use +, −, ×
and ÷ alone, whose results IEEE 754 fixes, in an order that the source fixes: compiled without
fast-math, so nothing is reordered or fused. `exp` and `log` are within two units of the last digit,
and have no branch, so that loops over them become vector code.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from olive_iw.compiled import njit

Floats: TypeAlias = NDArray[np.float32]

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.693147180369123816490  # its last 32 bits are zero: whole multiples of it are exact
LN2_LOW = 1.90821492927058770002e-10
ROUNDING = 1.5 * 2.0**52
"""Added to a small number it leaves no room for a fraction: the last bits are the nearest whole."""
_EXPONENT = np.int64(52)
"""Where the exponent begins in the 64 bits of a float."""
_ONE = np.int64(1023 << 52)
_ROOT_HALF = np.int64(0x3FE6A09E667F3BCD)
"""Bits of 1.0 and of √½."""


@njit
def exp(x: float) -> float:
    """E to the power of x; 0 below −708, and that of 708 above, where floats end."""
    ends = x < -708.0
    x = min(max(x, -708.0), 708.0)
    rounded = x * LOG2_E + ROUNDING
    halvings = rounded - ROUNDING
    r = (x - halvings * LN2_HIGH) - halvings * LN2_LOW  # within ±ln 2 / 2
    # The series of e^r, summed from its last term on: 1 + r · (1 + r/2 · (1 + r/3 · (…))).
    total = 1.0 / 6227020800.0
    total = total * r + 1.0 / 479001600.0
    total = total * r + 1.0 / 39916800.0
    total = total * r + 1.0 / 3628800.0
    total = total * r + 1.0 / 362880.0
    total = total * r + 1.0 / 40320.0
    total = total * r + 1.0 / 5040.0
    total = total * r + 1.0 / 720.0
    total = total * r + 1.0 / 120.0
    total = total * r + 1.0 / 24.0
    total = total * r + 1.0 / 6.0
    total = total * r + 0.5
    total = total * r + 1.0
    total = total * r + 1.0
    bits = (np.float64(rounded).view(np.int64) << _EXPONENT) + _ONE
    return 0.0 if ends else total * np.int64(bits).view(np.float64)


@njit
def log(x: float) -> float:
    """Natural logarithm of a positive number that is neither tiny (below 1e-307) nor infinite."""
    bits = np.float64(x).view(np.int64)
    power = (bits - _ROOT_HALF) >> _EXPONENT
    mantissa = np.int64(bits - (power << _EXPONENT)).view(np.float64)  # from √½ to √2
    s = (mantissa - 1.0) / (mantissa + 1.0)
    z = s * s
    # ln((1 + s) / (1 − s)) = 2 · (s + s³/3 + s⁵/5 + …)
    total = 1.0 / 23.0
    total = total * z + 1.0 / 21.0
    total = total * z + 1.0 / 19.0
    total = total * z + 1.0 / 17.0
    total = total * z + 1.0 / 15.0
    total = total * z + 1.0 / 13.0
    total = total * z + 1.0 / 11.0
    total = total * z + 1.0 / 9.0
    total = total * z + 1.0 / 7.0
    total = total * z + 1.0 / 5.0
    total = total * z + 1.0 / 3.0
    rest = power * LN2_LOW + 2.0 * s * z * total
    return power * LN2_HIGH + (2.0 * s + rest)


@njit
def sigmoid(x: float) -> float:
    """1 / (1 + e^−x)."""
    return 1.0 / (1.0 + exp(-x))


@njit
def add_product(left: Floats, right: Floats, out: Floats) -> None:
    """Add left @ right to `out`; shapes (M, K), (K, L) and (M, L). Sums run over K in order.

    Four terms are added at a time, one after the other, since `out` is read and written meanwhile.
    """
    terms = left.shape[1]
    whole = terms - terms % 4
    for row in range(left.shape[0]):
        for k in range(0, whole, 4):
            a, b, c, d = left[row, k], left[row, k + 1], left[row, k + 2], left[row, k + 3]
            for column in range(right.shape[1]):
                total = out[row, column] + a * right[k, column]
                total += b * right[k + 1, column]
                total += c * right[k + 2, column]
                out[row, column] = total + d * right[k + 3, column]
        for k in range(whole, terms):
            for column in range(right.shape[1]):
                out[row, column] += left[row, k] * right[k, column]
