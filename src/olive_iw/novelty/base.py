"""What a novelty table is, and how it forgets without being swept.

A table knows, for every tuple of atoms, the smallest depth at which this decision has met it. It
stores depths as codes that grow with the decision and fall with the depth, so that "seen less
deep in this decision" is one comparison, and what older decisions left is always smaller.
"""

from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.compiled import njit
from olive_iw.errors import InputError
from olive_iw.features.base import Atoms, AtomsError

UNSEEN = int(np.iinfo(np.int32).max)
"""Depth of a tuple that this decision has not met: larger than any."""


class NoveltyTable(Protocol):
    """Smallest depth of every tuple of atoms in this decision (Bandres et al. 2018)."""

    overflowed: bool
    """Whether some tuple of this decision could not be stored, and counted as not new."""

    def start_decision(self) -> None:
        """Forget everything; to be called before each decision, the first too."""

    def enter_first(self, atoms: Atoms, depth: Any) -> bool:
        """Enter a node for the first time in this decision.

        Novel iff some tuple was not met at this depth or less deep; the table then knows it.
        """

    def enter_again(self, atoms: Atoms, depth: Any) -> bool:
        """Enter a node another time: novel iff some tuple was not met less deep than this."""

    def depth_of(self, atoms: Atoms) -> NDArray[Any]:
        """Depth at which each single atom was first met, shape (count,); `UNSEEN` if not."""


@final
class DecisionCodes:
    """Codes of depths 0 to `depth_limit`: decision · (depth_limit + 1) + depth_limit − depth.

    They fit int32 for 2³¹ / (depth_limit + 1) decisions (21 million for a limit of 100). Then
    they begin again, and the table must be cleared once.
    """

    def __init__(self, depth_limit: int) -> None:
        if not 1 <= depth_limit < 2**30:
            raise InputError(f"the depth limit must be from 1 to 2**30 - 1, not {depth_limit}")
        self._limit = depth_limit
        self.oldest = 0
        """Smallest code of this decision, 0 before the first; smaller ones are stale."""

    def start_decision(self) -> bool:
        """Go to the next decision; True if the codes begin again and the table must be cleared."""
        self.oldest += self._limit + 1  # beyond every code of the decision before
        if self.oldest + self._limit <= np.iinfo(np.int32).max:
            return False
        self.oldest = self._limit + 1
        return True

    def code(self, depth: int) -> int:
        """Code of a depth in this decision."""
        if not 0 <= depth <= self._limit:
            raise InputError(f"depth {depth} is outside the table's limits, 0 to {self._limit}")
        if self.oldest == 0:
            raise InputError("start_decision() must come before the first node is entered")
        return self.oldest + self._limit - depth

    def depths(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Depths of stored codes, `UNSEEN` where stale."""
        fresh = (codes >= self.oldest) & (codes > 0)
        return np.where(fresh, self.oldest + self._limit - codes, UNSEEN).astype(np.int32)


@njit
def check_range(atoms: Atoms, size: int) -> None:
    """Refuse atoms outside [0, size): each is an index, also where features do not sort them."""
    outside = False
    for atom in atoms:  # to the end: faster than stopping early
        outside |= bool(np.uint32(atom) >= np.uint32(size))
    if outside:
        raise AtomsError("the features gave an atom outside [0, size)")
