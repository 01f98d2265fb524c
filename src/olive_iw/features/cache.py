"""A bounded memory of what was computed before.

Most screens of an episode (about 70% in Breakout) are equal, byte for byte, to an earlier one, so
what is computed from their bytes alone can be looked up: the result is exactly the same.
"""

from collections import OrderedDict
from typing import Generic, TypeVar, final

import numpy as np
from xxhash import xxh3_128_digest

from olive_iw.features.base import check_screen
from olive_iw.simulators.base import Screen

Value = TypeVar("Value")


def screen_key(screen: Screen) -> bytes:
    """Key of 16 bytes for a screen's contents and shape, for use within a process.

    Two different screens have the same key with a chance of 2^-128, unless somebody made them for
    it: the hash (XXH3) is fast, not cryptographic.
    """
    check_screen(screen)
    return xxh3_128_digest(np.ascontiguousarray(screen).data, screen.shape[1])


@final
class AtomCache(Generic[Value]):
    """Values by key, at most `limit_bytes` of them; the least recently used leave first.

    `hits` and `misses` count what `get` found and did not find.
    """

    def __init__(self, limit_bytes: int) -> None:
        """Empty cache; a limit of 0 keeps nothing."""
        self.limit_bytes = limit_bytes
        self.used_bytes = 0
        self.hits = 0
        self.misses = 0
        self._entries: OrderedDict[bytes, tuple[Value, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: bytes) -> Value | None:
        """Return the value of a key, None if it is not (or no longer) there."""
        entry = self._entries.get(key)
        if entry is None:
            self.misses += 1
            return None
        self.hits += 1
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: bytes, value: Value, size: int) -> None:
        """Keep a value of `size` bytes, and drop others for it; one too large is not kept."""
        if key in self._entries:
            self.used_bytes -= self._entries.pop(key)[1]
        if size > self.limit_bytes:
            return
        self._entries[key] = (value, size)
        self.used_bytes += size
        while self.used_bytes > self.limit_bytes:
            _, (_, dropped) = self._entries.popitem(last=False)
            self.used_bytes -= dropped

    def clear(self) -> None:
        """Forget every value; the counts of hits and misses stay."""
        self._entries.clear()
        self.used_bytes = 0
