"""The bounded cache and its keys."""

import numpy as np
import pytest

from olive_iw.features.cache import ENTRY_BYTES, AtomCache, screen_key


def test_screen_keys_see_contents_and_shapes():
    screen = np.arange(48, dtype=np.uint8)
    shapes = [(1, 48), (48, 1), (2, 24), (24, 2), (6, 8), (8, 6)]
    keys = [screen_key(screen.reshape(shape)) for shape in shapes]
    assert len(set(keys)) == len(keys)
    assert all(len(key) == 16 for key in keys)
    turned = np.asfortranarray(screen.reshape(6, 8))
    assert screen_key(turned) == screen_key(screen.reshape(6, 8))


def test_trailing_zeros_count():
    keys = {screen_key(np.zeros((1, width), np.uint8)) for width in range(2, 202)}
    assert len(keys) == 200


@pytest.mark.parametrize("shape", [(6, 8), (5, 7), (9, 33)])
def test_every_bit_changes_both_halves_of_the_key(shape):
    rng = np.random.default_rng(0)
    screen = rng.integers(256, size=shape, dtype=np.uint8)
    key = screen_key(screen)
    flips = []
    for place in np.ndindex(shape):
        for bit in range(8):
            screen[place] ^= 1 << bit
            other = screen_key(screen)
            screen[place] ^= 1 << bit
            assert other[:8] != key[:8]
            assert other[8:] != key[8:]
            changed = int.from_bytes(key, "little") ^ int.from_bytes(other, "little")
            flips.append(changed.bit_count())
    assert 60 < np.mean(flips) < 68
    assert min(flips) > 30
    assert screen_key(screen) == key


def test_near_identical_screens_have_different_key_halves():
    """Sprites of few colours everywhere, and pairs of changed pixels that might cancel out."""
    halves = ({}, {})

    def note(screen):
        key = screen_key(screen)
        for half, seen in zip((key[:8], key[8:]), halves, strict=True):
            assert seen.setdefault(half, screen.tobytes()) == screen.tobytes()

    screen = np.zeros((42, 32), np.uint8)
    for row in range(0, 42, 2):
        for column in range(32):
            for colour in (1, 2, 64, 128, 254):
                screen[row : row + 2, column : column + 2] = colour
                note(screen)
                screen[:] = 0
    rng = np.random.default_rng(0)
    for _ in range(20_000):
        places = rng.integers(screen.size, size=2)
        screen.ravel()[places] ^= (1 << rng.integers(8, size=2)).astype(np.uint8)
        note(screen)
        screen[:] = 0
    assert len(halves[0]) == len(halves[1]) > 15_000


def atoms(number):
    return np.full(5, number, np.int32)


SIZE = atoms(0).nbytes + len(b"a") + ENTRY_BYTES


def numbers(cache, *keys):
    found = [cache.get(key) for key in keys]
    return [None if each is None else int(each[0]) for each in found]


def test_hits_are_counted():
    cache = AtomCache(SIZE)
    assert cache.get(b"a") is None
    assert cache.put(b"a", atoms(1)) is cache.get(b"a")
    assert cache.get(b"b") is None
    assert cache.hits == 1


def test_what_is_kept_is_read_only():
    kept = AtomCache(SIZE).put(b"a", atoms(1))
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 2


def test_the_least_recently_used_leave_first():
    cache = AtomCache(3 * SIZE)
    for number, key in enumerate((b"a", b"b", b"c")):
        cache.put(key, atoms(number))
    cache.get(b"a")
    cache.put(b"d", atoms(3))
    assert numbers(cache, b"b", b"a", b"c", b"d") == [None, 0, 2, 3]
    assert cache.used_bytes == 3 * SIZE


def test_atoms_too_large_are_not_kept_and_drop_nothing():
    cache = AtomCache(SIZE)
    cache.put(b"a", atoms(1))
    cache.put(b"b", np.zeros(6, np.int32))
    assert numbers(cache, b"b", b"a") == [None, 1]


def test_putting_again_replaces():
    cache = AtomCache(2 * SIZE)
    cache.put(b"a", atoms(1))
    cache.put(b"a", np.full(6, 2, np.int32))
    assert numbers(cache, b"a") == [2]
    assert (len(cache), cache.used_bytes) == (1, SIZE + 4)


def test_clear_forgets():
    cache = AtomCache(SIZE)
    cache.put(b"a", atoms(1))
    cache.clear()
    assert cache.get(b"a") is None
    assert (len(cache), cache.used_bytes) == (0, 0)
