"""Novelty by reward: an atom is new again where it comes with more (p-IW)."""

from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.compiled import njit
from olive_iw.features.base import Atoms
from olive_iw.novelty.base import check_range

Lacks: TypeAlias = NDArray[np.float64]


@final
class RewardTable:
    """Least lack of reward with which each atom was met in this decision; see `NoveltyTable`.

    In place of a depth it is given minus the reward that was collected on the way from the root.
    Twelve bytes an atom, taken from the system when first touched. A new decision costs nothing.
    """

    overflowed = False

    def __init__(self, size: int) -> None:
        """Table for atoms in [0, size)."""
        # Rewards have no smallest step, so lacks and decisions cannot share a code as depths do.
        self._least = np.zeros(size)
        self._met = np.zeros(size, np.int32)  # number of the decision that met each atom last
        self._decision = 0

    def start_decision(self) -> None:
        """Forget every atom."""
        self._decision += 1

    def enter_first(self, atoms: Atoms, depth: float) -> bool:
        """Novel iff some atom was not met with as little lack; it is then known with it."""
        return bool(_enter(self._least, self._met, self._decision, atoms, depth))

    def enter_again(self, atoms: Atoms, depth: float) -> bool:
        """Novel iff no atom, or not every one, was met with less lack."""
        return bool((self.depth_of(atoms) >= depth).any())

    def depth_of(self, atoms: Atoms) -> Lacks:
        """Least lack of each atom, shape (count,); inf if this decision has not met it."""
        return np.where(self._met[atoms] == self._decision, self._least[atoms], np.inf)


@njit
def _enter(least: Lacks, met: NDArray[np.int32], decision: int, atoms: Atoms, depth: float) -> bool:
    check_range(atoms, least.shape[0])
    novel = False
    for atom in atoms:
        if met[atom] != decision or depth < least[atom]:
            met[atom] = decision
            least[atom] = depth
            novel = True
    return novel
