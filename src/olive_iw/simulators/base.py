"""What a simulator is: something that can be reset, stepped, saved and restored.

This is the first stage of the flow: a simulator's step shows a screen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Screen: TypeAlias = NDArray[np.uint8]
"""An image, uint8, shape (height, width): palette indices for Atari, grey levels elsewhere."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What one call (or a reset) shows."""

    screen: Screen
    """uint8, shape (height, width), read-only; the same shape in every step of a simulator."""
    reward: float
    """Raw reward of this call; 0.0 after a reset."""
    terminal: bool
    """The episode is over; only `reset` or `restore` may follow."""
    lives: int
    """Lives left; 0 throughout in games that count none."""
    ram: NDArray[np.uint8] | None = None
    """The machine's memory, uint8, shape (bytes,), read-only, where there is one."""


@runtime_checkable
class Simulator(Protocol):
    """A deterministic game whose states can be saved and restored exactly.

    Two optional attributes tell how to read its screens; without them a screen holds grey levels:
    `palette`, uint8, shape (256, 3), the RGB colour of every screen value, and `grey_levels`,
    uint8, shape (256,), its brightness. A simulator may fill them in while it meets new colours,
    but always before it returns a step that shows them.
    """

    @property
    def action_count(self) -> int:
        """Number of actions, 0 to `action_count` - 1."""
        ...

    @property
    def action_names(self) -> Sequence[str]:
        """One name per action."""
        ...

    def reset(self) -> Step:
        """Start a new episode, always in the same state."""
        ...

    def step(self, action: int) -> Step:
        """Do one call."""
        ...

    def save(self) -> Any:
        """Return the current state, immutable and picklable."""
        ...

    def restore(self, state: Any) -> None:
        """Go back to a saved state, so that every later step is what it was then."""
        ...


class SimulatorError(RuntimeError):
    """A simulator broke its contract."""


def read_only(array: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Mark an array as read-only and return it."""
    array.flags.writeable = False
    return array


def grey_levels(simulator: Simulator) -> NDArray[np.uint8]:
    """Brightness of every screen value, uint8, shape (256,); the identity unless it says otherwise.

    The array is the simulator's own: it may be filled in further as new colours are met.
    """
    levels = getattr(simulator, "grey_levels", None)
    return np.arange(256, dtype=np.uint8) if levels is None else np.asarray(levels)
