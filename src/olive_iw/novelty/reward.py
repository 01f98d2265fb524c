"""Novelty by reward: an atom is new again where it comes with more (p-IW)."""

from typing import final

import numpy as np
from numpy.typing import NDArray

from olive_iw.compiled import njit
from olive_iw.features.base import Atoms
from olive_iw.novelty.base import check_range


@final
class RewardTable:
    """Greatest reward, collected on the way from the root, of a state that showed each atom.

    Twelve bytes an atom, taken from the system when first touched. A new decision costs nothing.
    """

    def __init__(self, size: int) -> None:
        """Table for atoms in [0, size)."""
        self._best = np.zeros(size)
        self._met = np.zeros(size, np.int32)  # number of the decision that met each atom last
        self._decision = 0
        self.memory_bytes = self._best.nbytes + self._met.nbytes

    def start_decision(self) -> None:
        """Forget every atom."""
        self._decision += 1

    def enter_first(self, atoms: Atoms, reward: float) -> bool:
        """Novel iff reward > best[atom] for some atom, or one was not met; these become reward."""
        return bool(_enter(self._best, self._met, self._decision, atoms, reward))

    def enter_again(self, atoms: Atoms, reward: float) -> bool:
        """Novel iff reward >= best[atom] for some atom, or one was not met."""
        return bool((self.best_of(atoms) <= reward).any())

    def best_of(self, atoms: Atoms) -> NDArray[np.float64]:
        """best[atom] of each atom, shape (count,); -inf if this decision has not met it."""
        return np.where(self._met[atoms] == self._decision, self._best[atoms], -np.inf)


@njit
def _enter(
    best: NDArray[np.float64], met: NDArray[np.int32], decision: int, atoms: Atoms, reward: float
) -> bool:
    check_range(atoms, best.shape[0])
    novel = False
    for atom in atoms:
        if met[atom] != decision or reward > best[atom]:
            met[atom] = decision
            best[atom] = reward
            novel = True
    return novel
