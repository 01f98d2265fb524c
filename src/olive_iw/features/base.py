"""What features are: a map from a step to the atoms true in it."""

from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from olive_iw.errors import InputError
from olive_iw.simulators.base import Simulator, Step

Atoms: TypeAlias = NDArray[np.int32]
"""Indices of the features true in a state: int32, shape (count,), sorted, unique."""


@runtime_checkable
class Features(Protocol):
    """Binary features of a state, named by atoms in [0, size).

    Features that read screens alone also offer `atoms(screen, previous=None)`.
    """

    @property
    def size(self) -> int:
        """Number of atoms there can be; every atom is in [0, size)."""
        ...

    def prepare(self, simulator: Simulator, first: Step) -> None:
        """Get ready for a simulator, whose `reset` shows `first`.

        Raises `FeaturesError` where these features cannot be computed there.
        """
        ...

    def of_step(self, step: Step, previous: Step | None) -> Atoms:
        """Atoms of a step; `previous` is the step before it, None at the start of an episode."""
        ...


class FeaturesError(InputError):
    """Features were asked for that the simulator cannot give."""
