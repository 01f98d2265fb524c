"""A bounded memory of what was computed before.

Most screens of an episode (about 70% in Breakout) are equal, byte for byte, to an earlier one, so
what is computed from their bytes alone can be looked up: the result is exactly the same.
"""

from collections import OrderedDict
from hashlib import sha256
from typing import Generic, TypeVar, final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from olive_iw.simulators.base import Screen

Value = TypeVar("Value")


def digest(*arrays: NDArray[np.generic]) -> bytes:
    """Key of 16 bytes for the contents of some arrays, their shapes and their order.

    Two different contents have the same key with a chance of 2^-128: never. It is the same
    everywhere and always, so it may be written to files.
    """
    hasher = sha256(usedforsecurity=False)  # twice as fast as blake2b where the processor helps
    for array in arrays:
        hasher.update(repr(array.shape).encode())
        hasher.update(np.ascontiguousarray(array).data)
    return hasher.digest()[:16]


def screen_key(screen: Screen) -> bytes:
    """Key of 16 bytes for a screen's contents and shape, for use within a process.

    Five times as fast as `digest`, but not cryptographic: somebody who tried could make two
    screens with one key. Each word of 8 pixels goes, one-to-one, through two mixers of 64 bits
    that share no constant: so two screens that differ within one word never have the same key,
    and others, which were not made for it, with a chance of about 2^-128.
    """
    return _mixed(np.ascontiguousarray(screen)).tobytes()


_STREAMS = 4
"""Mixers of a kind that run side by side: each has to wait for its last product."""

_SPREAD = np.uint64(0xD1342543DE82EF95)
_FIRST = np.uint64(0xAF251AF3B0F025B5)
_SECOND = np.uint64(0x9FB21C651E98DF25)


@njit(cache=True)
def _mixed(screen: Screen) -> NDArray[np.uint64]:
    """Mix a C-contiguous screen into two words, shape (2,)."""
    first = np.full(_STREAMS, np.uint64(screen.shape[0]), np.uint64)
    second = np.full(_STREAMS, np.uint64(screen.shape[1]), np.uint64)
    pixels = screen.ravel()
    whole = pixels.shape[0] // (8 * _STREAMS) * (8 * _STREAMS)
    _mix(pixels[:whole].view(np.uint64), first, second)
    rest = np.zeros(8 * _STREAMS, np.uint8)
    rest[: pixels.shape[0] - whole] = pixels[whole:]
    _mix(rest.view(np.uint64), first, second)
    key = np.zeros(2, np.uint64)
    for stream in range(_STREAMS):
        key[0] = _scattered(key[0] + first[stream])
        key[1] = _scattered(key[1] + second[stream])
    return key


@njit(cache=True)
def _mix(words: NDArray[np.uint64], first: NDArray[np.uint64], second: NDArray[np.uint64]) -> None:
    """Take words, a multiple of the streams in number, into the mixers, shape (streams,) each."""
    for start in range(0, words.shape[0], _STREAMS):
        for stream in range(_STREAMS):
            word = words[np.uint64(start + stream)] * _SPREAD
            first[stream] = _rotated(first[stream] + word, 31) * _FIRST
            second[stream] = _rotated(second[stream] ^ word, 27) * _SECOND


@njit(cache=True)
def _rotated(word: np.uint64, bits: int) -> np.uint64:
    return np.uint64((word << np.uint64(bits)) | (word >> np.uint64(64 - bits)))


@njit(cache=True)
def _scattered(word: np.uint64) -> np.uint64:
    """Change about half the bits of the result with any bit of the word (SplitMix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(word ^ (word >> np.uint64(31)))


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
