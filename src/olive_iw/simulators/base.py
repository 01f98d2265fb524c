"""What a simulator is: something that can be reset, stepped, saved and restored.

This is the first stage of the flow: a simulator's step shows a screen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol, TypeAlias, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from olive_iw.errors import InputError, SimulatorError, shown

Screen: TypeAlias = NDArray[np.uint8]
"""An image, uint8, shape (height, width): palette indices for Atari, grey levels elsewhere."""
Numbers: TypeAlias = NDArray[np.float64]
"""What is observed where that is no image, float64, shape (components,)."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What one call (or a reset) shows."""

    screen: Screen
    """uint8, shape (height, width), read-only; the same shape in every step of a simulator.
    `NO_SCREEN` where there is no picture."""
    reward: float
    """Raw reward of this call; 0.0 after a reset."""
    terminal: bool
    """The episode is over; only `reset` or `restore` may follow."""
    lives: int
    """Lives left; 0 throughout in games that count none."""
    ram: NDArray[np.uint8] | None = None
    """The machine's memory, uint8, shape (bytes,), read-only, where there is one."""
    values: Numbers | None = None
    """What is observed as numbers, float64, shape (components,), read-only, where it is: with or
    without a picture of it; the same shape in every step."""


@runtime_checkable
class Simulator(Protocol):
    """A deterministic game whose states can be saved and restored exactly.

    It may be able to do more: see `HasPalette`, `HasGreyLevels` and `HasFrames`.
    """

    @property
    def action_count(self) -> int:
        """Number of actions, 0 to `action_count` - 1."""

    @property
    def action_names(self) -> Sequence[str]:
        """One name per action."""

    def reset(self) -> Step:
        """Start a new episode, always in the same state."""

    def step(self, action: int) -> Step:
        """Do one call."""

    def save(self) -> Any:
        """Return the current state, immutable and picklable."""

    def restore(self, state: Any) -> None:
        """Go back to a saved state, so that every later step is what it was then."""


MEMBERS = ("action_count", "action_names", "reset", "step", "save", "restore")
"""What a simulator must have."""


@runtime_checkable
class HasPalette(Protocol):
    """A simulator whose screens have colours.

    It may fill the array in while it meets new colours, but always before it returns a step that
    shows them.
    """

    palette: NDArray[np.uint8]
    """RGB colour of every screen value, uint8, shape (256, 3)."""


@runtime_checkable
class HasGreyLevels(Protocol):
    """A simulator whose screens hold other values than grey levels; filled in like a palette."""

    grey_levels: NDArray[np.uint8]
    """Brightness of every screen value, uint8, shape (256,)."""


@runtime_checkable
class HasFrames(Protocol):
    """A simulator that holds an action for several frames, 60 a second, and can show them."""

    frame_skip: int
    """Frames of a call."""

    def step_frames(self, action: int) -> tuple[Step, list[NDArray[np.uint8]]]:
        """Do one call; also return each frame's picture, uint8, shape (height, width, 3)."""


@runtime_checkable
class HasChance(Protocol):
    """A simulator with dice, which its saved states hold: a search foresees how they fall."""

    def reseed(self, seed: int) -> None:
        """Let the dice fall otherwise from here on, as a seed (64 bits) says."""


LARGEST_REWARD = 1e100
"""Of a call, up or down; those of an episode must add up to a number."""


def check_call(simulator: Simulator, name: str, action: int, over: bool) -> None:
    """Raise `SimulatorError` unless a simulator, called `name`, can do this action now."""
    last = simulator.action_count - 1
    if not 0 <= action <= last:
        raise SimulatorError(f"{name} has no action {action}; actions are 0 to {last}")
    if over:
        raise SimulatorError(f"{name} is over; reset or restore before the next step")


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Mark an array as read-only and return it."""
    array.flags.writeable = False
    return array


NO_SCREEN: Screen = read_only(np.zeros((1, 1), np.uint8))
"""Screen of simulators without pictures, whose steps have values: a single black pixel."""


# Members and abilities are looked up by name: a wrapper that passes attributes on has them too,
# which isinstance() of a protocol does not see from Python 3.12 on.


def missing_members(thing: object) -> list[str]:
    """Name what something lacks to be a simulator."""
    return [name for name in MEMBERS if not hasattr(thing, name)]


def palette(simulator: object) -> NDArray[np.uint8] | None:
    """Colours of a simulator with `HasPalette`; None for others, whose screens are grey."""
    return _table(simulator, "palette", (256, 3))


def grey_levels(simulator: object) -> NDArray[np.uint8]:
    """Brightness of every screen value, uint8, shape (256,); the identity unless it says otherwise.

    The array is the simulator's own: it may be filled in further as new colours are met.
    """
    levels = _table(simulator, "grey_levels", (256,))
    return np.arange(256, dtype=np.uint8) if levels is None else levels


def frame_skip(simulator: object) -> int | None:
    """Frames of a call of a simulator with `HasFrames`; None for others."""
    return simulator.frame_skip if shows_frames(simulator) else None


def shows_frames(simulator: object) -> TypeGuard[HasFrames]:
    """Whether a simulator has `HasFrames`."""
    return hasattr(simulator, "step_frames")


def reseed(simulator: object, seed: int) -> None:
    """Let the dice of a simulator with `HasChance` fall otherwise; `InputError` for others."""
    if not hasattr(simulator, "reseed"):
        raise InputError(
            f"{type(simulator).__name__} has no method reseed, as simulators with chance need for "
            "reseed_search; leave that out"
        )
    simulator.reseed(seed)


def _table(simulator: object, name: str, shape: tuple[int, ...]) -> NDArray[np.uint8] | None:
    """Return what a simulator says of all screen values; compiled code relies on its shape."""
    table: NDArray[np.uint8] | None = getattr(simulator, name, None)
    if table is None or (
        isinstance(table, np.ndarray) and table.dtype == np.uint8 and table.shape == shape
    ):
        return table
    found = f"{getattr(table, 'dtype', type(table).__name__)} of shape {np.shape(table)}"
    raise SimulatorError(
        f"{type(simulator).__name__}.{name} is {found}; it must be uint8 of shape {shape}"
    )


def screen_problem(screen: Any) -> str | None:
    """Say what keeps something from being a screen; None if nothing does."""
    found = type(screen).__name__
    if isinstance(screen, np.ndarray):
        if screen.dtype == np.uint8 and screen.ndim == 2 and screen.size > 0:
            return None
        found = f"{screen.dtype} of shape {screen.shape}"
    hint = ": turn colours into grey levels, or into indices of a palette"
    return (
        f"is {found}; it must be a uint8 array of shape (height, width)"
        f"{hint if np.ndim(screen) == 3 else ', not empty'}"
    )


def check_step(step: Step, first: Step | None, simulator: Simulator, method: str) -> None:
    """Raise `SimulatorError` if what a method of a simulator returned breaks the contract.

    Planners look at every step so, lest they plan on nonsense. `first` is the episode's first
    step, None if this is it.
    """
    if (
        first is not None
        and type(step) is Step
        and type(step.screen) is np.ndarray
        and step.screen.dtype == np.uint8
        and step.screen.shape == first.screen.shape
        and type(step.reward) is float
        and -LARGEST_REWARD <= step.reward <= LARGEST_REWARD  # nor is it no number
        and (step.values is first.values or _shape(step.values) == _shape(first.values))
    ):
        return  # nearly always, so that only this much is looked at
    name = f"{type(simulator).__name__}.{method}"
    if not isinstance(step, Step):
        raise SimulatorError(f"{name} returned {type(step).__name__}, not a Step")
    if problem := screen_problem(step.screen):
        raise SimulatorError(f"{name} shows a screen that {problem}")
    if first is not None and step.screen.shape != first.screen.shape:
        before = first.screen.shape
        raise SimulatorError(
            f"{name} shows a screen of shape {step.screen.shape}; reset() showed {before}"
        )
    if first is not None and _shape(step.values) != _shape(first.values):
        count, at_first = (0 if it.values is None else np.size(it.values) for it in (step, first))
        raise SimulatorError(
            f"{name} shows {count} numbers; reset() showed {at_first}; their count must stay"
        )
    if not isinstance(step.reward, Real) or not abs(step.reward) <= LARGEST_REWARD:
        hint = f"it must be a number from -{LARGEST_REWARD:g} to {LARGEST_REWARD:g}"
        raise SimulatorError(f"{name} gave the reward {shown(step.reward)}; {hint}")


def _shape(values: Any) -> tuple[int, ...] | None:
    return values.shape if isinstance(values, np.ndarray) else None


def numbers_problem(values: Any) -> str | None:
    """Say what keeps something from being the values of a step; None if nothing does."""
    if values is None:
        return None
    found = type(values).__name__
    if isinstance(values, np.ndarray):
        if values.dtype == np.float64 and values.ndim == 1 and values.size > 0:
            return "are not read-only" if values.flags.writeable else None
        found = f"{values.dtype} of shape {values.shape}"
    return f"are {found}; they must be a float64 array of shape (components,), not empty"
