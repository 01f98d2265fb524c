"""What features are: a map from a step to the atoms true in it."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from olive_iw.errors import InputError
from olive_iw.simulators.base import NO_SCREEN, Screen, Simulator, Step, screen_problem

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

    def prepare(self, simulator: Simulator, first: Step) -> None:
        """Get ready for a simulator, whose `reset` shows `first`.

        Raises `FeaturesError` where these features cannot be computed there.
        """

    def of_step(self, step: Step, previous: Step | None) -> Atoms:
        """Atoms of a step; `previous` is the step before it, None at the start of an episode."""


@runtime_checkable
class BitFeatures(Features, Protocol):
    """Features whose atoms are true bits: place · bits_per_place + bit.

    A planner may read each place's bits in groups (see `check_grain`), or flip some of them.
    """

    @property
    def bits_per_place(self) -> int:
        """Bits of each place; places lie row by row."""


@runtime_checkable
class NoisyFeatures(Features, Protocol):
    """Features that can be drawn at random, so that a screen looks different every time."""

    def noisy_atoms(self, screen: Screen, generator: np.random.Generator) -> Atoms:
        """Atoms of a screen as they come out this time."""
        ...


class Guidance(NamedTuple):
    """What a policy network says of a state."""

    atoms: Atoms
    prior: NDArray[np.float32]
    """Share of each action, shape (actions,); an action without a share is never tried."""
    value: float
    """Return to expect from here; 0 if nothing is known."""


@runtime_checkable
class GuidingFeatures(Features, Protocol):
    """Features that come with a policy, and perhaps a value: a planner asks `of_path` instead."""

    def of_path(self, steps: Sequence[Step]) -> Guidance:
        """Judge the last of some steps that follow each other; up to three come before it."""
        ...


@runtime_checkable
class CachedFeatures(Features, Protocol):
    """Features that look up what they computed before; a planner counts how often (its ledger).

    It asks `isinstance(features, CachedFeatures)` once, and reads `cache_hits` before and after.
    """

    @property
    def cache_hits(self) -> int:
        """Screens whose atoms were looked up so far."""


MOST_GRAIN = 10
"""Bits of a group at most: each group has 2^grain values."""


def grains(bits: int) -> tuple[int, ...]:
    """Sizes of groups in which the bits of a place can be read, ascending."""
    return tuple(grain for grain in range(1, MOST_GRAIN + 1) if bits % grain == 0)


def check_grain(grain: int, bits: int) -> None:
    """Raise `InputError` unless the bits of a place can be read in groups of `grain`."""
    if grain not in grains(bits):
        choices = ", ".join(map(str, grains(bits)))
        raise InputError(f"grain = {grain} is not possible with {bits} bits; it must be {choices}")


class FeaturesError(InputError):
    """Features were asked for that the simulator cannot give."""


class AtomsError(FeaturesError, IndexError):
    """Features gave something else than atoms."""


def check_atoms(atoms: Atoms, features: Features) -> Atoms:
    """Return what features gave; `AtomsError` unless it is an array of whole numbers in a row."""
    if isinstance(atoms, np.ndarray) and atoms.ndim == 1 and atoms.dtype.kind in "iu":
        return atoms
    found = type(atoms).__name__
    if isinstance(atoms, np.ndarray):
        found = f"{atoms.dtype} of shape {atoms.shape}"
    raise AtomsError(
        f"the features {type(features).__name__} gave {found}; "
        "atoms are a sorted int32 array of shape (count,): np.array([…], np.int32)"
    )


def check_screen(screen: Screen, simulator: object = None) -> None:
    """Raise `FeaturesError` unless this is a screen: compiled code reads it unchecked.

    A simulator without pictures may say `why_no_picture`.
    """
    problem = screen_problem(screen)
    if problem is not None:
        raise FeaturesError(f"a screen {problem}")
    if screen is NO_SCREEN:  # a picture may have a single pixel
        why = getattr(simulator, "why_no_picture", "") or "it shows none"
        raise FeaturesError(
            f"there are no pictures, which these features are of ({why}): plan on numbers with "
            "value-iw"
        )
