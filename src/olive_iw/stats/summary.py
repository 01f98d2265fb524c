"""Mean, standard error, maximum and count of the scores of one algorithm on one game."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from olive_iw.errors import InputError

Scores: TypeAlias = Mapping[str, NDArray[np.float64]]
"""Scores of one algorithm: game -> float64, shape (episodes,)."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What is said of the scores of one game."""

    mean: float
    standard_error: float
    """Sample standard deviation / √count; not a number for a single score."""
    maximum: float
    count: int


def as_scores(scores: ArrayLike) -> NDArray[np.float64]:
    """Check and convert: float64, shape (episodes,), at least one, all finite."""
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"scores must be a list of at least one number, not shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError("scores must be finite numbers; found nan or infinity")
    return array


def summarise(scores: ArrayLike) -> Summary:
    """Summary of the scores of one game, shape (episodes,)."""
    array = as_scores(scores)
    error = np.std(array, ddof=1) / np.sqrt(array.size) if array.size > 1 else np.nan
    return Summary(float(array.mean()), float(error), float(array.max()), array.size)


def means(scores: Scores) -> dict[str, float]:
    """Mean score of every game."""
    return {game: summarise(values).mean for game, values in scores.items()}
