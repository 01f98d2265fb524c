"""The grey 128×128 image that patches and networks look at."""

from functools import cache

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
    height, width = screen.shape
    rows, columns = _area_weights(height, IMAGE_SIZE), _area_weights(width, IMAGE_SIZE)
    return _area_resize(np.ascontiguousarray(screen), grey_levels, *rows, *columns)


@cache
def _area_weights(source: int, target: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """First source index, shape (target,), and weights, shape (target, taps), of each cell.

    A cell's weights add up to 1, and all its taps lie within the source.
    """
    count = min(source, int(np.ceil(source / target)) + 1)
    edges = np.arange(target + 1) * (source / target)
    first = np.minimum(edges[:-1].astype(np.int64), source - count)
    taps = first[:, np.newaxis] + np.arange(count)
    overlap = np.minimum(edges[1:, np.newaxis], taps + 1) - np.maximum(edges[:-1, np.newaxis], taps)
    weights = np.maximum(overlap, 0.0)
    return first, (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


@njit(cache=True)
def _area_resize(
    screen: NDArray[np.uint8],
    levels: NDArray[np.uint8],
    row_first: NDArray[np.int64],
    row_weights: NDArray[np.float32],
    column_first: NDArray[np.int64],
    column_weights: NDArray[np.float32],
) -> NDArray[np.uint8]:
    height, width = screen.shape
    grey = np.empty((height, width), np.float32)
    for row in range(height):
        for column in range(width):
            grey[row, column] = levels[screen[row, column]]
    image = np.empty((len(row_first), len(column_first)), np.uint8)
    line = np.empty(width, np.float32)
    for row in range(image.shape[0]):
        line[:] = 0
        for tap in range(row_weights.shape[1]):
            weight = row_weights[row, tap]
            source = grey[row_first[row] + tap]
            for column in range(width):
                line[column] += weight * source[column]
        for column in range(image.shape[1]):
            total = np.float32(0.5)
            for tap in range(column_weights.shape[1]):
                total += column_weights[column, tap] * line[column_first[column] + tap]
            image[row, column] = np.uint8(total)
    return image
