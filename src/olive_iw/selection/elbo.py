"""Active learning as in the paper: the screens that the network finds least likely."""

import numpy as np
from numpy.typing import NDArray

from olive_iw.selection.base import Scorer, highest


def select(
    images: NDArray[np.uint8], encoder: Scorer, k: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Pick the k images of lowest ELBO, lowest first."""
    return highest(-encoder.elbo(images), k, generator)
