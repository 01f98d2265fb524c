"""Passive learning: screens at random."""

import numpy as np
from numpy.typing import NDArray

from olive_iw.selection.base import Scorer, check_count


def select(
    images: NDArray[np.uint8], encoder: Scorer, k: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Pick k images uniformly without replacement, in the order drawn."""
    check_count(k)
    return generator.permutation(len(images))[:k].astype(np.int64)
