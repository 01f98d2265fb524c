"""Films of episodes: mp4 with every frame at 60 frames a second, and small GIFs."""

import io
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import imageio_ffmpeg
from PIL import Image

from olive_iw.errors import InputError
from olive_iw.reports.overlay import PANEL_HEIGHT, enlarge, panel, shown_size
from olive_iw.runs.records import EpisodeRecord, read_episode
from olive_iw.runs.replay import Make, Picture, ReplayedAction, replay, simulator_of
from olive_iw.simulators import make_simulator

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
    make: Make = make_simulator,
) -> Film:
    """Replay an episode and write an mp4: 60 frames a second, each frame of the game one frame.

    With `overlay`, a panel below shows score, action, and the value of every action as a bar.
    """
    out = _target(out, ".mp4")
    record = read_episode(episode_path)
    shots = _Shots(record, make, overlay=overlay, max_actions=max_actions)
    aside = out.with_name(f".{out.stem}.part.mp4")
    writer = None
    count = 0
    try:
        for image in shots:
            if writer is None:
                writer = _writer(aside, image.size)
            writer.send(image.tobytes())
            count += 1
        if writer is None:
            raise InputError(f"{episode_path}: has no action to show")
        writer.close()
        writer = None
        aside.replace(out)
    finally:
        if writer is not None:
            writer.close()
        aside.unlink(missing_ok=True)
    return Film(out, count, shots.size, tuple(shots.warnings))


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


class _Shots:
    """The images of a film, one by one; warnings are complete when all were taken."""

    def __init__(
        self,
        record: EpisodeRecord,
        make: Make,
        *,
        overlay: bool = False,
        max_actions: int | None = None,
        every: int = 1,
    ) -> None:
        self.size = (0, 0)
        self.warnings: list[str] = []
        self._record = record
        self._overlay = overlay
        self._max_actions = max_actions
        self._make = make
        self._every = every
        self._seen = 0

    def __iter__(self) -> Iterator[Image.Image]:
        simulator = simulator_of(self._record, self._make)
        score = 0.0
        done = replay(self._record, simulator, with_frames=True)
        for action in islice(done, self._max_actions):
            self._check(action)
            score += action.step.reward
            below = self._panel(action, simulator.action_names, score) if self._overlay else None
            yield from self._images(action, below)

    def _check(self, done: ReplayedAction) -> None:
        recorded = self._record.rewards[done.index]
        if done.step.reward != recorded and not self.warnings:
            self.warnings.append(
                f"the replay differs from the record at action {done.index}: "
                f"reward {done.step.reward:g}, recorded {recorded:g}"
            )

    def _images(self, done: ReplayedAction, below: Image.Image | None) -> Iterator[Image.Image]:
        height, width = done.frames[0].shape[:2]
        size = shown_size(height, width, done.is_atari)
        before: Picture | None = None
        image: Image.Image | None = None
        for frame in done.frames:
            self._seen += 1
            if (self._seen - 1) % self._every:
                continue
            if image is None or frame is not before:  # a held frame is enlarged once
                image, before = _stack(enlarge(frame, size), below), frame
                self.size = image.size
            yield image

    def _panel(self, done: ReplayedAction, names: Sequence[str], score: float) -> Image.Image:
        height, width = done.frames[0].shape[:2]
        values = None if self._record.values is None else self._record.values[done.index]
        wide = shown_size(height, width, done.is_atari)[0]
        return panel(wide, names, done.action, score, values)


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
    make: Make = make_simulator,
) -> Film:
    """Write a GIF of at most `max_bytes` from the first `max_seconds` of an episode.

    Ten frames a second in real time. If that is too large, fewer and then smaller frames.
    """
    out = _target(out, ".gif")
    record = read_episode(episode_path)
    shots = _Shots(record, make, max_actions=max_actions, every=GIF_EVERY)
    frames = list(islice(shots, int(max_seconds * FRAMES_PER_SECOND / GIF_EVERY)))
    if not frames:
        raise InputError(f"{episode_path}: has no action to show")
    for every, shrink in ((1, 1.0), (2, 1.0), (2, 0.6), (3, 0.4), (5, 0.3)):
        kept = [_shrink(frame, 0.6 * shrink) for frame in frames[::every]]
        content = _encode(kept, milliseconds=1000 * GIF_EVERY * every // FRAMES_PER_SECOND)
        if len(content) <= max_bytes:
            out.write_bytes(content)
            return Film(out, len(kept), kept[0].size, tuple(shots.warnings))
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
    frames[0].save(
        content,
        format="GIF",
        save_all=True,
        append_images=frames[1:],
        duration=milliseconds,
        loop=0,
        optimize=True,
    )
    return content.getvalue()
