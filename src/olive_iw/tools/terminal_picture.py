"""A picture as text: every character is two pixels, the upper half block on its background."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from olive_iw.reports.overlay import enlarge
from olive_iw.runs.replay import Picture

HALF_BLOCK = "▀"
PLAIN = "\x1b[0m"
WIDEST = 80
TALLEST = 30
"""Most columns and rows of a picture: pixels of 80×60, the 4:3 of a television."""


def fitting_size(aspect: float, columns: int, rows: int) -> tuple[int, int]:
    """Columns and rows of the largest picture that fits, at least 1×1.

    `aspect` is the width of the picture by its height; half a character is about a square.
    """
    columns, rows = min(columns, WIDEST), min(rows, TALLEST)
    wide = min(columns, round(2 * rows * aspect))
    tall = min(rows, round(wide / aspect / 2))
    return max(1, wide), max(1, tall)


def scaled(frame: Picture, columns: int, rows: int) -> Picture:
    """Scale a frame to `2 * rows` × `columns` pixels, each the mean of what it covers."""
    return np.asarray(enlarge(frame, (columns, 2 * rows)))


def text_lines(pixels: Picture) -> list[str]:
    """Lines of text that show pixels, shape (2 × rows, columns, 3); each stands for itself.

    A colour is named only where it changes along a line.
    """
    upper, lower = pixels[0::2], pixels[1::2]
    upper_changes, lower_changes = _changes(upper), _changes(lower)
    return [
        "".join(_line(*row)) + PLAIN
        for row in zip(upper, lower, upper_changes, lower_changes, strict=True)
    ]


def _changes(pixels: Picture) -> NDArray[np.bool_]:
    """Where a pixel differs from the one to its left, bool (rows, columns); the first one does."""
    changes = np.ones(pixels.shape[:2], np.bool_)
    changes[:, 1:] = (pixels[:, 1:] != pixels[:, :-1]).any(axis=2)
    return changes


def _line(
    upper: NDArray[np.uint8],
    lower: NDArray[np.uint8],
    upper_changes: NDArray[np.bool_],
    lower_changes: NDArray[np.bool_],
) -> Iterator[str]:
    starts = np.flatnonzero(upper_changes | lower_changes)
    lengths = np.diff(starts, append=len(upper))
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        if upper_changes[start]:
            yield "\x1b[38;2;{};{};{}m".format(*upper[start].tolist())
        if lower_changes[start]:
            yield "\x1b[48;2;{};{};{}m".format(*lower[start].tolist())
        yield HALF_BLOCK * length
