"""Films of episodes: mp4 with every frame at 60 frames a second, and small GIFs.

A panel below the frames can show the score, the action, and the values of all actions as bars.
"""

import io
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from olive_iw.errors import InputError, needing
from olive_iw.files import naming
from olive_iw.runs.records import EpisodeRecord, read_episode
from olive_iw.runs.replay import Picture, replay, simulator_of
from olive_iw.settings import AT_LEAST_ONE
from olive_iw.simulators.base import shows_frames

FRAMES_PER_SECOND = 60
GIF_EVERY = 6
"""A GIF keeps every sixth frame: ten a second, which its hundredths of a second can express."""
LONGEST_GIF = 3600.0
"""Seconds, of which all frames are in memory at once."""
PANEL_HEIGHT = 88
PENALISED = -10_000.0
"""Values below this come from risk aversion (a lost life); they are marked, not drawn to scale."""
_INK, _DIM, _PAPER = (235, 235, 235), (110, 110, 118), (24, 24, 28)
_BAR, _CHOSEN, _DANGER = (86, 180, 233), (240, 228, 66), (213, 94, 0)
_LETTERS = {"NOOP": "·", "UP": "U", "DOWN": "D", "LEFT": "L", "RIGHT": "R", "FIRE": "F"}


@dataclass(frozen=True, slots=True)
class Film:
    """What was written."""

    path: Path
    frames: int
    size: tuple[int, int]
    """Width and height in pixels."""
    warnings: tuple[str, ...] = ()


def write_video(
    episode_path: Path | str,
    out: Path | str,
    overlay: bool = False,
    *,
    max_actions: int | None = None,
) -> Film:
    """Replay an episode and write an mp4: 60 frames a second, each frame of the game one frame.

    With `overlay`, a panel below shows score, action, and the value of every action as a bar.
    """
    with needing("video", "a video"):
        import imageio_ffmpeg

    out = _target(out, ".mp4")
    warnings: list[str] = []
    images = _images(read_episode(episode_path), warnings, max_actions, overlay=overlay)
    first = next(images)
    # A film that is stopped half-way should not look like a whole one.
    aside = out.with_name(f".{out.stem}.part.mp4")
    writer = imageio_ffmpeg.write_frames(
        str(aside),
        first.size,
        fps=FRAMES_PER_SECOND,
        codec="libx264",
        macro_block_size=2,
        quality=None,
        output_params=["-crf", "18", "-preset", "fast", "-movflags", "+faststart"],
    )
    count = 0
    try:
        with naming(out), closing(writer):
            writer.send(None)
            for image in chain([first], images):
                writer.send(image.tobytes())
                count += 1
        aside.replace(out)
    finally:
        aside.unlink(missing_ok=True)
    return Film(out, count, first.size, tuple(warnings))


def write_gif(
    episode_path: Path | str,
    out: Path | str,
    *,
    max_bytes: int = 3_000_000,
    max_seconds: float = 10.0,
    max_actions: int | None = None,
) -> Film:
    """Write a GIF of at most `max_bytes` from the first `max_seconds` of an episode.

    Ten frames a second in real time. If that is too large, fewer and then smaller frames.
    """
    out = _target(out, ".gif")
    if not (math.isfinite(max_seconds) and max_seconds > 0):
        raise InputError(f"max_seconds = {max_seconds:g} is not possible; more than 0 is")
    warnings: list[str] = []
    images = _images(read_episode(episode_path), warnings, max_actions, every=GIF_EVERY)
    most = int(min(max_seconds, LONGEST_GIF) * FRAMES_PER_SECOND / GIF_EVERY)
    frames = list(islice(images, max(1, most)))
    for every, shrink in ((1, 1.0), (2, 1.0), (2, 0.6), (3, 0.4), (5, 0.3)):
        first, *others = [_shrink(frame, 0.6 * shrink) for frame in frames[::every]]
        duration = 1000 * GIF_EVERY * every // FRAMES_PER_SECOND
        gif, more = io.BytesIO(), {"append_images": others, "duration": duration, "loop": 0}
        first.save(gif, "GIF", save_all=True, optimize=True, **more)
        content = gif.getvalue()
        if len(content) <= max_bytes:
            with naming(out):
                out.write_bytes(content)
            return Film(out, 1 + len(others), first.size, tuple(warnings))
    raise InputError(
        f"{episode_path}: no GIF of {max_seconds:g} s fits in {max_bytes:,} bytes; "
        "allow more bytes or fewer seconds"
    )


def _target(out: Path | str, suffix: str) -> Path:
    out = Path(out)
    if out.suffix.lower() != suffix:
        raise InputError(f"{out}: the name of the file must end in {suffix}")
    out.parent.mkdir(parents=True, exist_ok=True)
    return out


def _images(
    record: EpisodeRecord,
    warnings: list[str],
    max_actions: int | None,
    *,
    overlay: bool = False,
    every: int = 1,
) -> Iterator[Image.Image]:
    """Replay an episode and show one of `every` frames, enlarged.

    The first reward that differs from the record is told in `warnings`.
    """
    if max_actions is not None:
        AT_LEAST_ONE.check("max_actions", max_actions)
    if not record.actions:
        raise InputError(f"{record.path}: has no action to show")
    simulator = simulator_of(record)
    score, seen = 0.0, 0
    most = len(record.actions) if max_actions is None else min(max_actions, len(record.actions))
    replayed = islice(replay(record, simulator, with_frames=True), most)
    for index, (step, frames) in enumerate(replayed):
        reward = step.reward
        if reward != record.rewards[index] and not warnings:
            warnings.append(
                f"the replay differs from the record at action {index}: "
                f"reward {reward:g}, recorded {record.rewards[index]:g}"
            )
        score += reward
        height, width = frames[0].shape[:2]
        wide, tall = shown_size(height, width, shows_frames(simulator))
        sheet = Image.new("RGB", (wide, tall + PANEL_HEIGHT * overlay))
        if overlay:
            values = None if record.values is None else record.values[index]
            below = panel(wide, simulator.action_names, record.actions[index], score, values)
            sheet.paste(below, (0, tall))
        before, image = None, sheet
        for frame in frames:
            seen += 1
            if (seen - 1) % every:
                continue
            if frame is not before:  # a held frame is enlarged once
                image, before = sheet.copy(), frame
                image.paste(enlarge(frame, (wide, tall)), (0, 0))
            yield image


def shown_size(height: int, width: int, is_atari: bool) -> tuple[int, int]:
    """Size (width, height) to show a frame at, both even.

    The Atari's pixels are wide: its whole screen fills the 4:3 of a television. Others are square.
    """
    scale = 2 if height > 150 else 3
    tall = height * scale
    wide = tall * 4 / 3 if is_atari else width * scale
    return 2 * round(wide / 2), 2 * math.ceil(tall / 2)


def enlarge(frame: Picture, size: tuple[int, int]) -> Image.Image:
    """Enlarge without blur: whole multiples first, then the area average down to the size."""
    height, width = frame.shape[:2]
    multiple = (width * math.ceil(size[0] / width), height * math.ceil(size[1] / height))
    image = Image.fromarray(np.ascontiguousarray(frame)).resize(multiple, Image.Resampling.NEAREST)
    return image if multiple == size else image.resize(size, Image.Resampling.BOX)


def _shrink(image: Image.Image, factor: float) -> Image.Image:
    size = (max(2, round(image.width * factor)), max(2, round(image.height * factor)))
    small = image.resize(size, Image.Resampling.BOX)
    return small.quantize(64, dither=Image.Dither.NONE)


def short_name(action: str) -> str:
    """Abbreviate an action: RIGHTFIRE -> RF, NOOP -> a dot."""
    words = re.findall("|".join(_LETTERS), action.upper())
    if "".join(words) != action.upper():
        return action[:2].title()
    return "".join(_LETTERS[word] for word in words)


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
    left, right, top, base = width // 3, width - 10, 10, PANEL_HEIGHT - 22
    pitch = min((right - left) / len(names), 48.0)
    font = ImageFont.load_default(max(8, min(12, int(pitch / 2))))
    known = values if values is not None and len(values) == len(names) else [None] * len(names)
    heights = bar_heights(known)
    for index, (name, value) in enumerate(zip(names, known, strict=True)):
        start, end = left + index * pitch + 1, left + (index + 1) * pitch - 2
        chosen = index == action
        if value is None:
            draw.line((start, base, end, base), _DIM)
        else:
            colour = _DANGER if value < PENALISED else _CHOSEN if chosen else _BAR
            above = base - 2 - heights[index] * (base - 2 - top)
            draw.rectangle((start, above, end, base), colour)
        middle, shade = (start + end) / 2, _CHOSEN if chosen else _DIM
        draw.text((middle, base + 3), short_name(name), shade, font, anchor="ma")
    return image


def bar_heights(values: Sequence[float | None]) -> NDArray[np.float64]:
    """Heights from 0 (least) to 1 (greatest), shape (actions,); nan where there is no value.

    All equal values stand half high. Penalised values lie at 0 and do not set the scale.
    """
    numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    ordinary = numbers[numbers >= PENALISED]
    low, high = (ordinary.min(), ordinary.max()) if ordinary.size else (0.0, 1.0)
    scaled = np.full_like(numbers, 0.5) if low == high else (numbers - low) / (high - low)
    heights = np.where(numbers < PENALISED, 0.0, np.clip(scaled, 0.0, 1.0))
    return np.where(np.isnan(numbers), np.nan, heights)
