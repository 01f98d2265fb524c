"""Active learning by the encoder's doubt: the screens whose bits are least decided."""

import numpy as np
from numpy.typing import NDArray

from olive_iw.selection.base import Scorer, highest


def select(
    images: NDArray[np.uint8], encoder: Scorer, k: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Pick the k images of highest total latent entropy, highest first."""
    return highest(encoder.latent_entropy(images), k, generator)
