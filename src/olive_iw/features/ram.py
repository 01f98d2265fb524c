"""The machine's memory: which byte holds which value."""

from typing import final

import numpy as np

from olive_iw.features.base import Atoms, FeaturesError
from olive_iw.simulators.base import Simulator, Step

BYTES = 128
VALUES = 256


@final
class Ram:
    """One atom for each of the 128 bytes of an Atari machine: byte · 256 + value."""

    size = BYTES * VALUES

    def __init__(self) -> None:
        self._first_of_byte = np.arange(BYTES, dtype=np.int32) * VALUES

    def prepare(self, simulator: Simulator, first: Step) -> None:
        """Check that the simulator shows its memory."""
        self.of_step(first, None)  # which raises where there is none

    def of_step(self, step: Step, previous: Step | None) -> Atoms:
        """Atoms of a step's memory, shape (128,)."""
        if step.ram is None:
            raise FeaturesError(
                "this simulator shows no memory: the features 'ram' are for Atari games, "
                "use 'patches' instead"
            )
        if step.ram.dtype != np.uint8 or step.ram.shape != (BYTES,):
            raise FeaturesError(
                f"ram features need {BYTES} bytes, not {step.ram.dtype} of shape {step.ram.shape}"
            )
        return self._first_of_byte + step.ram
