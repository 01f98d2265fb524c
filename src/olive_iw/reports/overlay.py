"""Enlarging frames to the right shape, and a panel below them: score, action, values as bars."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from olive_iw.runs.replay import Picture

PANEL_HEIGHT = 88
PENALISED = -10_000.0
"""Values below this come from risk aversion (a lost life); they are marked, not drawn to scale."""
_INK, _DIM, _PAPER = (235, 235, 235), (110, 110, 118), (24, 24, 28)
_BAR, _CHOSEN, _DANGER = (86, 180, 233), (240, 228, 66), (213, 94, 0)
_LETTERS = {"NOOP": "·", "UP": "U", "DOWN": "D", "LEFT": "L", "RIGHT": "R", "FIRE": "F"}


def shown_size(
    height: int, width: int, is_atari: bool, scale: int | None = None
) -> tuple[int, int]:
    """Size (width, height) to show a frame at, both even.

    The Atari's pixels are wide: its whole screen fills the 4:3 of a television. Others are square.
    """
    scale = scale or (2 if height > 150 else 3)
    tall = height * scale
    wide = tall * 4 / 3 if is_atari else width * scale
    return 2 * round(wide / 2), 2 * math.ceil(tall / 2)


def enlarge(frame: Picture, size: tuple[int, int]) -> Image.Image:
    """Enlarge without blur: whole multiples first, then the area average down to the size."""
    height, width = frame.shape[:2]
    multiple = (width * math.ceil(size[0] / width), height * math.ceil(size[1] / height))
    image = Image.fromarray(np.ascontiguousarray(frame)).resize(multiple, Image.Resampling.NEAREST)
    return image if multiple == size else image.resize(size, Image.Resampling.BOX)


def short_name(action: str) -> str:
    """Abbreviate an action: RIGHTFIRE -> RF, NOOP -> a dot."""
    letters, rest = "", action.upper()
    while rest:
        known = next((word for word in _LETTERS if rest.startswith(word)), None)
        if known is None:
            return action[:2].title()
        letters, rest = letters + _LETTERS[known], rest[len(known) :]
    return letters


def panel(
    width: int,
    names: Sequence[str],
    action: int,
    score: float,
    values: Sequence[float | None] | None,
) -> Image.Image:
    """Draw the panel, `width` × `PANEL_HEIGHT` pixels."""
    image = Image.new("RGB", (width, PANEL_HEIGHT), _PAPER)
    draw = ImageDraw.Draw(image)
    draw.text((10, 12), f"score {score:g}", _INK, ImageFont.load_default(20))
    draw.text((10, 48), names[action].lower(), _CHOSEN, ImageFont.load_default(16))
    _bars(draw, (width // 3, width - 10), names, action, values)
    return image


def _bars(
    draw: ImageDraw.ImageDraw,
    across: tuple[int, int],
    names: Sequence[str],
    action: int,
    values: Sequence[float | None] | None,
) -> None:
    left, right = across
    pitch = min((right - left) / len(names), 48.0)
    top, base = 10, PANEL_HEIGHT - 22
    font = ImageFont.load_default(max(8, min(12, int(pitch / 2))))
    known = values if values is not None and len(values) == len(names) else [None] * len(names)
    heights = bar_heights(known)
    for index, name in enumerate(names):
        start, end = left + index * pitch + 1, left + (index + 1) * pitch - 2
        colour = _CHOSEN if index == action else _BAR
        height = heights[index]
        value = known[index]
        if np.isnan(height):
            draw.line((start, base, end, base), _DIM)
        else:
            if value is not None and value < PENALISED:
                colour = _DANGER
            draw.rectangle((start, base - 2 - height * (base - 2 - top), end, base), colour)
        draw.text(
            ((start + end) / 2, base + 3),
            short_name(name),
            _CHOSEN if index == action else _DIM,
            font,
            anchor="ma",
        )


def bar_heights(values: Sequence[float | None]) -> NDArray[np.float64]:
    """Heights from 0 (least) to 1 (greatest), shape (actions,); nan where there is no value.

    All equal values stand half high. Penalised values lie at 0 and do not set the scale.
    """
    numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    ordinary = numbers[numbers >= PENALISED]
    if ordinary.size == 0:
        return np.where(np.isnan(numbers), np.nan, 0.0)
    low, high = float(ordinary.min()), float(ordinary.max())
    if low == high:
        return np.where(np.isnan(numbers), np.nan, np.where(numbers < PENALISED, 0.0, 0.5))
    return np.clip((numbers - low) / (high - low), 0.0, 1.0)
