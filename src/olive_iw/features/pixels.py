"""Pixels: an atom for every pixel of the small grey image and its grey level, as N-CPL has them."""

from typing import final

import numpy as np
from numpy.typing import NDArray

from olive_iw.features.base import Atoms, check_screen
from olive_iw.features.image import small_image
from olive_iw.simulators.base import Screen, Simulator, Step, grey_levels

SIDE = 84


@final
class Pixels:
    """Grey level of each pixel of the 84×84 image: 1,806,336 atoms, 7,056 of them true."""

    size = SIDE * SIDE * 256

    def __init__(self) -> None:
        self._levels: NDArray[np.uint8] = np.arange(256, dtype=np.uint8)
        self._first = np.arange(SIDE * SIDE, dtype=np.int32) * 256

    def prepare(self, simulator: Simulator, first: Step) -> None:
        """Read screens with the brightness of a simulator's colours."""
        check_screen(first.screen, simulator)
        self._levels = grey_levels(simulator)

    def of_step(self, step: Step, previous: Step | None) -> Atoms:
        """Atoms of a step's screen."""
        return self.atoms(step.screen)

    def atoms(self, screen: Screen, previous: Screen | None = None) -> Atoms:
        """Atoms of a screen of any size: pixel · 256 + grey level."""
        # int32 + uint8 stays int32, as atoms are.
        return self._first + small_image(screen, self._levels, SIDE, "bilinear").ravel()
