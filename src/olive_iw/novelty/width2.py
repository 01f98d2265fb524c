"""Novelty of width 2: unordered pairs of atoms, an atom with itself included."""

from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.compiled import njit
from olive_iw.errors import InputError
from olive_iw.features.base import Atoms
from olive_iw.novelty.base import DecisionCodes, check_range

Slots: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Pairs, first atom · size + second, and their codes, shape (capacity,) each."""

DEFAULT_CAPACITY = 2**22
"""Slots of a table: 12 bytes each, 50 MB, room for 3.1 million pairs a decision."""


@final
class Width2Table:
    """Smallest depth of each pair of atoms in this decision; see `NoveltyTable`.

    A hash table with linear probing: 8 bytes for the pair and 4 for its code in each of
    `capacity` slots. Slots of older decisions count as empty. Three quarters of the slots may be
    used in one decision; pairs that come after that and are not in the table count as not new,
    and `overflowed` says so. A node of n atoms costs n·(n + 1)/2 look-ups: meant for features of
    which some hundreds are true at a time (RAM, patches, a network's), not for B-PROST.
    """

    def __init__(self, size: int, depth_limit: int = 100, capacity: int = DEFAULT_CAPACITY) -> None:
        """Table for atoms in [0, size), depths from 0 to `depth_limit`, 2^k >= 4 slots."""
        if capacity < 4 or capacity & (capacity - 1):
            raise InputError(f"the capacity must be a power of two, at least 4, not {capacity}")
        if not 0 < size < 2**31:
            raise InputError(f"the number of atoms must be from 1 to 2**31 - 1, not {size}")
        self._codes = DecisionCodes(depth_limit)
        self._size = size
        self._slots = np.zeros(capacity, np.int64), np.zeros(capacity, np.int32)
        # Fuller than three quarters, walks along the slots would become long.
        self.pair_limit = capacity // 4 * 3
        """Pairs that one decision can store."""
        self.pair_count = 0
        """Pairs stored in this decision."""
        self.overflowed = False

    def start_decision(self) -> None:
        """Forget every pair."""
        if self._codes.start_decision():
            self._slots[1][:] = 0
        self.pair_count = 0
        self.overflowed = False

    def enter_first(self, atoms: Atoms, depth: int) -> bool:
        """Novel iff depth < D[pair] for some pair; those entries become depth."""
        decision = self._codes.oldest, self._codes.code(depth)
        room = self.pair_count, self.pair_limit
        novel, self.pair_count, overflowed = _enter_first(
            self._slots, self._size, atoms, decision, room
        )
        self.overflowed |= overflowed
        return bool(novel)

    def enter_again(self, atoms: Atoms, depth: int) -> bool:
        """Novel iff depth <= D[pair] for some pair."""
        decision = self._codes.oldest, self._codes.code(depth)
        full = self.pair_count >= self.pair_limit
        return bool(_enter_again(self._slots, self._size, atoms, decision, full))

    def depth_of(self, atoms: Atoms) -> NDArray[np.int32]:
        """Depth of each atom's pair with itself, shape (count,); `UNSEEN` if it was not met."""
        return self.depth_of_pairs(atoms, atoms)

    def depth_of_pairs(self, first: Atoms, second: Atoms) -> NDArray[np.int32]:
        """D[pair] of the pairs (first[i], second[i]), shape (count,); `UNSEEN` if not met."""
        codes = _codes_of(self._slots, self._size, first, second, self._codes.oldest)
        return self._codes.depths(codes)


@njit
def _slot(slots: Slots, pair: int, oldest: int) -> int:
    """Slot that holds the pair, or the empty one where it would go.

    Nothing leaves the table within a decision and a quarter of it stays empty, so a walk along
    the slots from the pair's own ends at one or the other.
    """
    pairs, codes = slots
    mask = np.uint64(pairs.shape[0] - 1)
    # 2^64 by the golden ratio: neighbouring pairs come far from each other.
    mixed = np.uint64(pair) * np.uint64(0x9E3779B97F4A7C15)
    slot = (mixed >> np.uint64(32)) & mask
    while codes[slot] >= oldest and pairs[slot] != pair:
        slot = (slot + np.uint64(1)) & mask
    return np.int64(slot)  # type: ignore[return-value]


@njit
def _enter_first(
    slots: Slots, size: int, atoms: Atoms, decision: tuple[int, int], room: tuple[int, int]
) -> tuple[bool, int, bool]:
    """Whether some pair is novel; how many pairs are stored now; whether one could not be."""
    check_range(atoms, size)
    pairs, codes = slots
    oldest, code = decision
    used, limit = room
    novel = False
    overflowed = False
    for i in range(atoms.shape[0]):
        row = np.int64(atoms[i]) * size
        for j in range(i, atoms.shape[0]):
            slot = _slot(slots, row + atoms[j], oldest)
            if codes[slot] >= code:
                continue
            if codes[slot] < oldest:  # left by an older decision: free
                if used == limit:
                    overflowed = True
                    continue
                pairs[slot] = row + atoms[j]
                used += 1
            codes[slot] = code
            novel = True
    return novel, used, overflowed


@njit
def _enter_again(
    slots: Slots, size: int, atoms: Atoms, decision: tuple[int, int], full: bool
) -> bool:
    check_range(atoms, size)
    codes = slots[1]
    oldest, code = decision
    for i in range(atoms.shape[0]):
        row = np.int64(atoms[i]) * size
        for j in range(i, atoms.shape[0]):
            slot = _slot(slots, row + atoms[j], oldest)
            stored = codes[slot] >= oldest
            if code >= codes[slot] and (stored or not full):
                return True
    return False


@njit
def _codes_of(
    slots: Slots, size: int, first: Atoms, second: Atoms, oldest: int
) -> NDArray[np.int32]:
    check_range(first, size)
    check_range(second, size)
    found = np.empty(first.shape[0], np.int32)
    for index in range(first.shape[0]):
        low, high = min(first[index], second[index]), max(first[index], second[index])
        found[index] = slots[1][_slot(slots, np.int64(low) * size + high, oldest)]
    return found
