"""Novelty of width 1: single atoms."""

from typing import final

import numpy as np
from numpy.typing import NDArray

from olive_iw.compiled import njit
from olive_iw.features.base import Atoms
from olive_iw.novelty.base import DecisionCodes, check_range


@final
class Width1Table:
    """Smallest depth of each atom in this decision; see `NoveltyTable`.

    Four bytes an atom, taken from the system when first touched. A new decision costs nothing.
    """

    overflowed = False

    def __init__(self, size: int, depth_limit: int = 100) -> None:
        """Table for atoms in [0, size) and depths from 0 to `depth_limit`."""
        self._codes = DecisionCodes(depth_limit)
        self._table = np.zeros(size, np.int32)  # pages never touched take no memory

    def start_decision(self) -> None:
        """Forget every atom."""
        if self._codes.start_decision():
            self._table = np.zeros_like(self._table)

    def enter_first(self, atoms: Atoms, depth: int) -> bool:
        """Novel iff depth < D[atom] for some atom; those entries become depth."""
        return bool(_enter_first(self._table, atoms, self._codes.code(depth)))

    def enter_again(self, atoms: Atoms, depth: int) -> bool:
        """Novel iff depth <= D[atom] for some atom."""
        return bool(_enter_again(self._table, atoms, self._codes.code(depth)))

    def depth_of(self, atoms: Atoms) -> NDArray[np.int32]:
        """D[atom] of each atom, shape (count,); `UNSEEN` if this decision has not met it."""
        return self._codes.depths(self._table[atoms])


# Indices, all of which `check_range` looks at, are made unsigned below because signed ones cost a
# test for negative indexing each.


@njit
def _enter_first(table: NDArray[np.int32], atoms: Atoms, code: int) -> bool:
    check_range(atoms, table.shape[0])
    novel = False
    new = np.int32(code)
    for atom in atoms:  # a smaller entry is deeper, or of an older decision
        index = np.uint32(atom)
        if new > table[index]:
            table[index] = new
            novel = True
    return novel


@njit
def _enter_again(table: NDArray[np.int32], atoms: Atoms, code: int) -> bool:
    check_range(atoms, table.shape[0])
    new = np.int32(code)
    novel = False
    for atom in atoms:
        if new >= table[np.uint32(atom)]:
            novel = True
            break
    return novel
