"""Replaying an episode file in a fresh simulator, without any planning."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from olive_iw.errors import InputError
from olive_iw.runs.records import EpisodeRecord
from olive_iw.simulators import check_name, make_simulator
from olive_iw.simulators.atari import FRAME_SKIP
from olive_iw.simulators.base import Simulator, Step, palette, shows_frames

OPTIONS = ("frame_skip", "action_set", "action_levels", "pool_frames", "mode", "difficulty", "seed")
"""Options of a simulator that an episode's file may give."""
TELEVISION = 4 / 3
"""Shape in which Atari's narrow pixels were meant to be seen."""
Picture = NDArray[np.uint8]
"""RGB, uint8, shape (height, width, 3)."""


def simulator_of(record: EpisodeRecord) -> Simulator:
    """Make the simulator that the episode was played in; no code is loaded for what files name."""
    check_name(record.game)
    options: dict[str, Any] = dict(record.simulator_options)
    for name in options:
        if name not in OPTIONS:
            raise InputError(f"the simulator's option {name!r} is none of {', '.join(OPTIONS)}")
    if record.frame_skip not in (None, FRAME_SKIP):
        options.setdefault("frame_skip", record.frame_skip)
    return make_simulator(record.game, **options)


def begin(record: EpisodeRecord, simulator: Simulator) -> Step:
    """Go to where the episode begins: the reset, unless it has start actions."""
    step = simulator.reset()
    for action in record.start_actions:
        step = simulator.step(action)
    return step


def replay(
    record: EpisodeRecord, simulator: Simulator, with_frames: bool = False
) -> Iterator[tuple[Step, list[Picture]]]:
    """Do the recorded actions from the episode's start, one by one, until its or the game's end.

    Yields each action's step, and what was shown while it lasted, if frames were asked for.
    """
    begin(record, simulator)
    for action in record.actions:
        frames: list[Picture] = []
        if with_frames and shows_frames(simulator):
            step, frames = simulator.step_frames(action)
        else:
            step = simulator.step(action)
            if with_frames:
                frames = [picture(simulator, step)] * FRAME_SKIP  # as long as one of Atari's
        yield step, frames
        if step.terminal:
            return


def aspect(simulator: Simulator, screen: NDArray[np.uint8]) -> float:
    """Width of a screen or its picture as it should look, divided by its height."""
    height, width = screen.shape[:2]
    return TELEVISION if shows_frames(simulator) else float(width / height)


def picture(simulator: Simulator, step: Step) -> Picture:
    """Colour a screen by the simulator's palette; without one, values are grey levels."""
    colours = palette(simulator)
    if colours is None:
        return np.repeat(step.screen[:, :, None], 3, axis=2)
    coloured: Picture = colours[step.screen]
    return coloured
