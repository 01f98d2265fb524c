"""Active learning by the decoder's error: the screens that are worst reconstructed."""

import numpy as np
from numpy.typing import NDArray

from olive_iw.selection.base import Scorer, highest


def select(
    images: NDArray[np.uint8], encoder: Scorer, k: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Pick the k images of highest reconstruction error, highest first."""
    return highest(encoder.reconstruction_error(images), k, generator)
