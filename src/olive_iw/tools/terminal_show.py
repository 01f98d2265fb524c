"""A play as a terminal shows it: the game's frames in time, drawn by a thread of their own.

A second simulator does what is played, so that the planner's own is left alone. Frames that come
too late are dropped, and counted.
"""

import queue
import sys
import threading
from collections.abc import Callable, Sequence
from typing import IO, NamedTuple, Self, final

import numpy as np
from rich.console import Console

from olive_iw.agents import Episode, Observer
from olive_iw.planners import Decision, Planner
from olive_iw.runs.replay import Picture, aspect, picture
from olive_iw.simulators.base import Simulator, Step, shows_frames
from olive_iw.tools.play import FRAMES_PER_SECOND, Clock, Played
from olive_iw.tools.terminal_picture import fitting_size, scaled, text_lines

ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J"
"""Another page of the terminal, without a cursor; the first one is left as it is."""
LEAVE = "\x1b[0m\x1b[?25h\x1b[?1049l"
CLEAR = "\x1b[2J"
PATIENCE = 0.001
"""Seconds that the drawing thread waits for the planner's to let it run (Python's default: 0.005);
a frame lasts 0.017."""

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
        self.shown = 0
        self.dropped = 0
        self._simulator = simulator
        self._size = size
        first = simulator.reset()
        self._frames = [picture(simulator, first)]
        self._count = 1
        self._next = 0
        self._began = 0.0
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
        self._status = self._status_of(shot, step)

    def _status_of(self, shot: Shot, step: Step) -> str:
        self._actions += 1
        self._score += step.reward
        return (
            f"score {self._score:g} · {step.lives} lives · action {self._actions}: "
            f"{self._simulator.action_names[shot.action]} · {shot.calls} calls"
            + (f" · {shot.late} late" if shot.late else "")
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
        shape = aspect(self._simulator, frame)
        pixels = scaled(frame, *fitting_size(shape, columns, rows - 1))
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
                text = self.projector.draw(self._clock.now())
                if text:
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
