"""The bounded cache and its keys."""

import numpy as np

from olive_iw.features.cache import AtomCache, digest


def test_digest_sees_contents_shapes_and_order():
    a = np.arange(6, dtype=np.uint8)
    b = a[::-1]
    keys = [
        digest(a),
        digest(b),
        digest(a, b),
        digest(b, a),
        digest(a.reshape(2, 3)),
        digest(a.reshape(3, 2)),
        digest(a[:3], a[3:]),
    ]
    assert len(set(keys)) == len(keys)
    assert all(len(key) == 16 for key in keys)
    assert digest(b) == digest(b.copy())


def test_hits_and_misses_are_counted():
    cache = AtomCache[str](100)
    assert cache.get(b"a") is None
    cache.put(b"a", "value", 10)
    assert cache.get(b"a") == "value"
    assert cache.get(b"b") is None
    assert (cache.hits, cache.misses) == (1, 2)


def test_the_least_recently_used_leave_first():
    cache = AtomCache[int](100)
    for number, key in enumerate((b"a", b"b", b"c")):
        cache.put(key, number, 33)
    cache.get(b"a")
    cache.put(b"d", 3, 33)
    assert cache.get(b"b") is None
    assert [cache.get(key) for key in (b"a", b"c", b"d")] == [0, 2, 3]
    assert cache.used_bytes == 99


def test_values_too_large_are_not_kept_and_drop_nothing():
    cache = AtomCache[int](10)
    cache.put(b"a", 1, 10)
    cache.put(b"b", 2, 11)
    assert cache.get(b"b") is None
    assert cache.get(b"a") == 1


def test_putting_again_replaces():
    cache = AtomCache[int](10)
    cache.put(b"a", 1, 6)
    cache.put(b"a", 2, 7)
    assert cache.get(b"a") == 2
    assert (len(cache), cache.used_bytes) == (1, 7)


def test_clear_forgets():
    cache = AtomCache[int](10)
    cache.put(b"a", 1, 6)
    cache.clear()
    assert cache.get(b"a") is None
    assert (len(cache), cache.used_bytes) == (0, 0)
