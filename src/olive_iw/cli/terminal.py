"""A play as a terminal shows it: the game's frames in time, drawn by a thread of their own.

Every character is two pixels, the upper half block on its background. A second simulator does what
is played, so that the planner's own is left alone. Frames that come too late are dropped, and
counted. Where no pictures can be shown there is a line.
"""

import queue
import sys
import threading
from collections.abc import Callable, Sequence
from typing import IO, NamedTuple, Self, final

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from olive_iw.agents import Episode, Observer
from olive_iw.agents.real_time import FRAMES_PER_SECOND, Clock, Played
from olive_iw.planners import Decision, Planner
from olive_iw.reports.film import enlarge
from olive_iw.runs.replay import Picture, aspect, picture
from olive_iw.simulators.base import Simulator, shows_frames

ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J"
"""Another page of the terminal, without a cursor; the first one is left as it is."""
LEAVE = "\x1b[0m\x1b[?25h\x1b[?1049l"
CLEAR = "\x1b[2J"
PATIENCE = 0.001
"""Seconds that the drawing thread waits for the planner's to let it run (Python's default: 0.005);
a frame lasts 0.017."""

HALF_BLOCK = "▀"
COLOURS = "\x1b[38;2;{};{};{};48;2;{};{};{}m"
"""Of the block and of its background."""
PLAIN = "\x1b[0m"
WIDEST = 80
TALLEST = 30
"""Most columns and rows of a picture: pixels of 80×60, the 4:3 of a television."""

Size = Callable[[], tuple[int, int]]
"""Columns and rows of the terminal now."""


def can_show(console: Console) -> bool:
    """Whether pictures can be drawn on what a console writes to."""
    return (
        console.file.isatty()
        and not console.is_dumb_terminal
        and not console.legacy_windows
        and console.encoding.startswith("utf")
    )


def fitting_size(shape: float, columns: int, rows: int) -> tuple[int, int]:
    """Columns and rows of the largest picture that fits, at least 1×1.

    `shape` is the width of the picture by its height; half a character is about a square.
    """
    columns, rows = min(columns, WIDEST), min(rows, TALLEST)
    wide = min(columns, round(2 * rows * shape))
    tall = min(rows, round(wide / shape / 2))
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
    lines = []
    for row, starts in zip(pairs, map(np.flatnonzero, changes), strict=True):
        lengths = np.diff(starts, append=len(row)).tolist()
        runs = zip(row[starts].tolist(), lengths, strict=True)
        blocks = [COLOURS.format(*pair) + HALF_BLOCK * length for pair, length in runs]
        lines.append("".join(blocks) + PLAIN)
    return lines


class Shot(NamedTuple):
    """An action to show."""

    action: int
    began: float
    """When, by the clock."""
    calls: int
    """Of the decision for it."""
    late: int
    """Decisions that were late until then."""


@final
class Projector:
    """What to write to a terminal at any time; only what changed is written."""

    def __init__(self, simulator: Simulator, size: Size) -> None:
        """Show a simulator of its own, from its reset on."""
        self.shown = self.dropped = 0
        self._simulator, self._size = simulator, size
        self._frames = [picture(simulator, simulator.reset())]
        self._count, self._next, self._began = 1, 0, 0.0
        self._actions, self._score = 0, 0.0
        self._status = "thinking"
        self._terminal = (0, 0)
        self._pixels: Picture | None = None
        self._written = ""

    def take(self, shots: Sequence[Shot]) -> None:
        """Go on to the last of some actions; frames before it that are still to come are dropped.

        Before the first action there is a still picture, which is no frame.
        """
        for shot in shots:
            if self._actions:
                self.dropped += self._count - self._next
            self._begin(shot, seen=shot is shots[-1])

    def _begin(self, shot: Shot, seen: bool) -> None:
        simulator = self._simulator
        if seen and shows_frames(simulator):
            step, self._frames = simulator.step_frames(shot.action)
            self._count = len(self._frames)
        else:
            step = simulator.step(shot.action)
            self._frames = [picture(simulator, step)]
            self._count = simulator.frame_skip if shows_frames(simulator) else 1
        self._next, self._began = 0, shot.began
        self._actions += 1
        self._score += step.reward
        late = f" · {shot.late} late" if shot.late else ""
        lives = f" · {step.lives} lives" if step.lives else ""  # there are games without
        self._status = (
            f"score {self._score:g}{lives} · action {self._actions}: "
            f"{simulator.action_names[shot.action]} · {shot.calls} calls{late}"
        )

    def due(self) -> float | None:
        """When the next frame is to be drawn; None if there is none until the next action."""
        if self._next >= len(self._frames):
            return None
        return self._began + self._next / FRAMES_PER_SECOND

    def draw(self, now: float) -> str:
        """Return what to write so that the terminal shows the frame of this moment."""
        place = min(int((now - self._began) * FRAMES_PER_SECOND + 1e-6), len(self._frames) - 1)
        if place < self._next:
            return ""
        if self._actions:
            self.dropped += place - self._next
            self.shown += 1
        self._next = place + 1
        return self._changed(self._frames[place])

    def _changed(self, frame: Picture) -> str:
        """Draw the lines that differ from those on the terminal."""
        columns, rows = terminal = self._size()
        size = fitting_size(aspect(self._simulator, frame), columns, rows - 1)
        pixels = scaled(frame, *size)
        out = []
        if terminal != self._terminal or self._pixels is None:
            out.append(CLEAR)
            changed = np.arange(len(pixels) // 2)
            self._written = ""
        else:
            differ = (pixels != self._pixels).any(axis=(1, 2))
            changed = np.flatnonzero(differ[0::2] | differ[1::2])
        both = np.stack([2 * changed, 2 * changed + 1], axis=1).ravel()
        for row, line in zip(changed.tolist(), text_lines(pixels[both]), strict=True):
            out.append(f"\x1b[{row + 1};1H{line}")
        if self._status != self._written:
            out.append(f"\x1b[{len(pixels) // 2 + 1};1H{self._status[: columns - 1]}\x1b[K")
        self._terminal, self._pixels, self._written = terminal, pixels, self._status
        return "".join(out)


@final
class TerminalShow(Observer):
    """Shows a play in a terminal. Use as a context manager around it."""

    def __init__(self, played: Played, simulator: Simulator, out: IO[str], size: Size) -> None:
        """Draw a simulator of its own on `out`, doing what is played."""
        self.projector = Projector(simulator, size)
        self._played, self._out, self._clock = played, out, Clock()
        self._shots: queue.SimpleQueue[Shot | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._draw, name="terminal show", daemon=True)
        self._error: Exception | None = None

    def __enter__(self) -> Self:
        self._write(ENTER)
        self._patience = sys.getswitchinterval()
        sys.setswitchinterval(PATIENCE)
        self._thread.start()
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        try:
            self._shots.put(None)
            self._thread.join()
        finally:
            sys.setswitchinterval(self._patience)
            self._write(LEAVE)
        if kind is None and self._error is not None:
            raise self._error

    @property
    def drawn(self) -> tuple[int, int]:
        """Frames that were shown, and dropped."""
        return self.projector.shown, self.projector.dropped

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        """Let the thread show an action."""
        played = self._played
        self._shots.put(Shot(decision.action, played.began, decision.calls, len(played.late)))

    def _draw(self) -> None:
        try:
            while True:
                shots = self._taken()
                if None in shots:
                    return
                self.projector.take([shot for shot in shots if shot is not None])
                if text := self.projector.draw(self._clock.now()):
                    self._write(text)
        except Exception as error:
            # The play goes on without pictures; `__exit__` tells.
            self._error = error

    def _taken(self) -> list[Shot | None]:
        """Wait for an action or for the next frame's time; return the actions that came."""
        due = self.projector.due()
        wait = None if due is None else max(0.0, due - self._clock.now())
        try:
            found = [self._shots.get(timeout=wait)]
        except queue.Empty:
            return []
        while not self._shots.empty():
            found.append(self._shots.get())
        return found

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


@final
class PlayProgress(Observer):
    """Draws a line about a play. Use as a context manager around it."""

    drawn = None
    """It shows no frames."""

    def __init__(self, played: Played, max_actions: int, console: Console) -> None:
        self._played = played
        self._bar = Progress(
            TextColumn("{task.fields[state]}"),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task("", total=max_actions, state="thinking")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        """Say how far the play has come."""
        actions, late = len(episode.actions), len(self._played.late)
        state = f"score {episode.score:g} · {actions} actions · {decision.calls} calls"
        state += f" · {late} late" if late else ""
        self._bar.update(self._task, completed=actions, state=state)
