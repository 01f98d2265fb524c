"""A bounded memory of what was computed before.

Most screens of an episode (about 70% in Breakout) are equal, byte for byte, to an earlier one, so
what is computed from their bytes alone can be looked up: the result is exactly the same.
"""

from collections import OrderedDict
from typing import final

import numpy as np
from xxhash import xxh3_128_digest

from olive_iw.features.base import Atoms, check_screen
from olive_iw.simulators.base import Screen

ENTRY_BYTES = 200
"""What an entry takes beside its key and atoms: headers of both, links."""


def screen_key(screen: Screen) -> bytes:
    """Key of 16 bytes for a screen's contents and shape, for use within a process.

    Two different screens have the same key with a chance of 2^-128, unless somebody made them for
    it: the hash (XXH3) is fast, not cryptographic.
    """
    check_screen(screen)
    return xxh3_128_digest(np.ascontiguousarray(screen).data, screen.shape[1])


@final
class AtomCache:
    """Atoms by key, at most `limit_bytes` of them; the least recently used leave first.

    `hits` counts how often `get` has found something.
    """

    def __init__(self, limit_bytes: int) -> None:
        """Empty cache; a limit of 0 keeps nothing."""
        self.limit_bytes = limit_bytes
        self.used_bytes = 0
        self.hits = 0
        self._entries: OrderedDict[bytes, Atoms] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: bytes) -> Atoms | None:
        """Return the atoms of a key, None if they are not (or no longer) there."""
        atoms = self._entries.get(key)
        if atoms is not None:
            self.hits += 1
            self._entries.move_to_end(key)
        return atoms

    def put(self, key: bytes, atoms: Atoms) -> Atoms:
        """Keep atoms, which are read-only from now on, and drop others for them; return them.

        Atoms too large for the cache are not kept.
        """
        atoms.flags.writeable = False  # every node that shows this screen holds the same array
        if key in self._entries:
            self.used_bytes -= _size(key, self._entries.pop(key))
        if _size(key, atoms) <= self.limit_bytes:
            self._entries[key] = atoms
            self.used_bytes += _size(key, atoms)
        # Bytes, not entries: a colourful screen has far more atoms than a plain one.
        while self.used_bytes > self.limit_bytes:
            self.used_bytes -= _size(*self._entries.popitem(last=False))
        return atoms

    def clear(self) -> None:
        """Forget all atoms; the counts of hits and misses stay."""
        self._entries.clear()
        self.used_bytes = 0


def _size(key: bytes, atoms: Atoms) -> int:
    return atoms.nbytes + len(key) + ENTRY_BYTES
