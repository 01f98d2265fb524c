"""The grey 128×128 image that patches and networks look at."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from olive_iw.simulators.base import Screen

IMAGE_SIZE = 128


def grey_image(screen: Screen, grey_levels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Turn a screen of any size into a grey uint8 image of shape (128, 128).

    `grey_levels`, uint8, shape (256,), gives the brightness of every screen value. Each pixel of
    the image is the mean over the area it covers, so that no thin object is lost.
    """
    if screen.shape == (IMAGE_SIZE, IMAGE_SIZE):
        return np.take(grey_levels, screen)
    return _area_resize(np.ascontiguousarray(screen), grey_levels, IMAGE_SIZE)


@njit(cache=True)
def _area_weights(source: int, target: int) -> tuple[np.ndarray, np.ndarray]:
    """First source index, shape (target,), and weights, shape (target, taps), of each cell."""
    taps = int(np.ceil(source / target)) + 1
    first = np.zeros(target, np.int64)
    weights = np.zeros((target, taps), np.float32)
    scale = source / target
    for cell in range(target):
        low, high = cell * scale, (cell + 1) * scale
        first[cell] = int(low)
        for tap in range(taps):
            index = first[cell] + tap
            if index < source:
                overlap = min(high, index + 1.0) - max(low, float(index))
                weights[cell, tap] = max(0.0, overlap) / scale
    return first, weights


@njit(cache=True)
def _area_resize(screen: np.ndarray, levels: np.ndarray, size: int) -> np.ndarray:
    height, width = screen.shape
    row_first, row_weights = _area_weights(height, size)
    column_first, column_weights = _area_weights(width, size)
    image = np.empty((size, size), np.uint8)
    line = np.empty(width, np.float32)
    for row in range(size):
        line[:] = 0
        for tap in range(row_weights.shape[1]):
            weight = row_weights[row, tap]
            if weight > 0:
                source = screen[row_first[row] + tap]
                for column in range(width):
                    line[column] += weight * levels[source[column]]
        for column in range(size):
            total = np.float32(0.5)
            for tap in range(column_weights.shape[1]):
                weight = column_weights[column, tap]
                if weight > 0:
                    total += weight * line[column_first[column] + tap]
            image[row, column] = np.uint8(min(total, np.float32(255)))
    return image
