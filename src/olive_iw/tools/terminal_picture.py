"""A picture as text: every character is two pixels, the upper half block on its background."""

import numpy as np
from numpy.typing import NDArray

from olive_iw.reports.overlay import enlarge
from olive_iw.runs.replay import Picture

HALF_BLOCK = "▀"
COLOURS = "\x1b[38;2;{};{};{};48;2;{};{};{}m"
"""Of the block and of its background."""
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

    Colours are named only where one of the two changes along a line.
    """
    pairs = np.concatenate([pixels[0::2], pixels[1::2]], axis=2)
    changes = np.ones(pairs.shape[:2], np.bool_)
    changes[:, 1:] = (pairs[:, 1:] != pairs[:, :-1]).any(axis=2)
    return [_line(*row) + PLAIN for row in zip(pairs, changes, strict=True)]


def _line(pairs: NDArray[np.uint8], changes: NDArray[np.bool_]) -> str:
    starts = np.flatnonzero(changes)
    lengths = np.diff(starts, append=len(pairs))
    runs = zip(pairs[starts].tolist(), lengths.tolist(), strict=True)
    return "".join(COLOURS.format(*pair) + HALF_BLOCK * length for pair, length in runs)
