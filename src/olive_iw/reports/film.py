"""Films of episodes: mp4 with every frame at 60 frames a second, and small GIFs."""

import io
import math
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import imageio_ffmpeg
from PIL import Image

from olive_iw.errors import InputError
from olive_iw.reports.overlay import PANEL_HEIGHT, enlarge, panel, shown_size
from olive_iw.runs.records import EpisodeRecord, read_episode
from olive_iw.runs.replay import Make, make_from_file, replay, simulator_of
from olive_iw.simulators.base import shows_frames

FRAMES_PER_SECOND = 60
GIF_EVERY = 6
"""A GIF keeps every sixth frame: ten a second, which its hundredths of a second can express."""


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
    make: Make = make_from_file,
) -> Film:
    """Replay an episode and write an mp4: 60 frames a second, each frame of the game one frame.

    With `overlay`, a panel below shows score, action, and the value of every action as a bar.
    """
    out = _target(out, ".mp4")
    warnings: list[str] = []
    images = _images(read_episode(episode_path), make, warnings, max_actions, overlay=overlay)
    first = next(images, None)
    if first is None:
        raise InputError(f"{episode_path}: has no action to show")
    aside = out.with_name(f".{out.stem}.part.mp4")
    count = 0
    try:
        with closing(_writer(aside, first.size)) as writer:
            for image in chain([first], images):
                writer.send(image.tobytes())
                count += 1
        aside.replace(out)
    finally:
        aside.unlink(missing_ok=True)
    return Film(out, count, first.size, tuple(warnings))


def _target(out: Path | str, suffix: str) -> Path:
    out = Path(out)
    if out.suffix.lower() != suffix:
        raise InputError(f"{out}: the name of the file must end in {suffix}")
    out.parent.mkdir(parents=True, exist_ok=True)
    return out


def _writer(path: Path, size: tuple[int, int]) -> Generator[None, bytes | None]:
    writer: Generator[None, bytes | None] = imageio_ffmpeg.write_frames(
        str(path),
        size,
        fps=FRAMES_PER_SECOND,
        codec="libx264",
        macro_block_size=2,
        quality=None,
        output_params=["-crf", "18", "-preset", "fast", "-movflags", "+faststart"],
    )
    writer.send(None)
    return writer


def _images(
    record: EpisodeRecord,
    make: Make,
    warnings: list[str],
    max_actions: int | None,
    *,
    overlay: bool = False,
    every: int = 1,
) -> Iterator[Image.Image]:
    """Replay an episode and show one of `every` frames, enlarged.

    The first reward that differs from the record is told in `warnings`.
    """
    simulator = simulator_of(record, make)
    score, seen = 0.0, 0
    replayed = islice(replay(record, simulator, with_frames=True), max_actions)
    for index, (step, frames) in enumerate(replayed):
        reward = step.reward
        if reward != record.rewards[index] and not warnings:
            warnings.append(
                f"the replay differs from the record at action {index}: "
                f"reward {reward:g}, recorded {record.rewards[index]:g}"
            )
        score += reward
        height, width = frames[0].shape[:2]
        size = shown_size(height, width, shows_frames(simulator))
        below = None
        if overlay:
            values = None if record.values is None else record.values[index]
            below = panel(size[0], simulator.action_names, record.actions[index], score, values)
        before, image = None, None
        for frame in frames:
            seen += 1
            if (seen - 1) % every:
                continue
            if image is None or frame is not before:  # a held frame is enlarged once
                image, before = _stack(enlarge(frame, size), below), frame
            yield image


def _stack(image: Image.Image, below: Image.Image | None) -> Image.Image:
    if below is None:
        return image
    both = Image.new("RGB", (image.width, image.height + PANEL_HEIGHT))
    both.paste(image, (0, 0))
    both.paste(below, (0, image.height))
    return both


def write_gif(
    episode_path: Path | str,
    out: Path | str,
    *,
    max_bytes: int = 3_000_000,
    max_seconds: float = 10.0,
    max_actions: int | None = None,
    make: Make = make_from_file,
) -> Film:
    """Write a GIF of at most `max_bytes` from the first `max_seconds` of an episode.

    Ten frames a second in real time. If that is too large, fewer and then smaller frames.
    """
    out = _target(out, ".gif")
    if not (math.isfinite(max_seconds) and max_seconds > 0):
        raise InputError(f"max_seconds = {max_seconds:g} is not possible; more than 0 is")
    warnings: list[str] = []
    record = read_episode(episode_path)
    images = _images(record, make, warnings, max_actions, every=GIF_EVERY)
    frames = list(islice(images, max(1, int(max_seconds * FRAMES_PER_SECOND / GIF_EVERY))))
    if not frames:
        raise InputError(f"{episode_path}: has no action to show")
    for every, shrink in ((1, 1.0), (2, 1.0), (2, 0.6), (3, 0.4), (5, 0.3)):
        kept = [_shrink(frame, 0.6 * shrink) for frame in frames[::every]]
        content = _encode(kept, milliseconds=1000 * GIF_EVERY * every // FRAMES_PER_SECOND)
        if len(content) <= max_bytes:
            out.write_bytes(content)
            return Film(out, len(kept), kept[0].size, tuple(warnings))
    raise InputError(
        f"{episode_path}: no GIF of {max_seconds:g} s fits in {max_bytes:,} bytes; "
        "allow more bytes or fewer seconds"
    )


def _shrink(image: Image.Image, factor: float) -> Image.Image:
    size = (max(2, round(image.width * factor)), max(2, round(image.height * factor)))
    small = image.resize(size, Image.Resampling.BOX)
    return small.quantize(64, dither=Image.Dither.NONE)


def _encode(frames: list[Image.Image], milliseconds: int) -> bytes:
    content = io.BytesIO()
    more = {"append_images": frames[1:], "duration": milliseconds, "loop": 0, "optimize": True}
    frames[0].save(content, "GIF", save_all=True, **more)
    return content.getvalue()
