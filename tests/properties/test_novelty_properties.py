"""Novelty tables against the paper's definition, with a closed list for every depth."""

from itertools import combinations_with_replacement

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from olive_iw.novelty import UNSEEN, Width1Table, Width2Table

compiling = settings(deadline=None)  # the first example may wait for the compiler

SIZE = 12
LIMIT = 6

atom_sets = st.sets(st.integers(0, SIZE - 1), max_size=5).map(sorted)
entries = st.tuples(st.booleans(), atom_sets, st.integers(0, LIMIT))
decisions = st.lists(st.lists(entries, max_size=25), min_size=1, max_size=8)


class ClosedLists:
    """`db[d]` holds the tuples of nodes entered at depth d (Bandres et al. 2018)."""

    def __init__(self, width):
        self.width = width
        self.db = {depth: set() for depth in range(LIMIT + 1)}

    def tuples(self, atoms):
        return set(combinations_with_replacement(atoms, self.width))

    def known(self, depths):
        return set().union(*(self.db[depth] for depth in depths))

    def enter_first(self, atoms, depth):
        novel = bool(self.tuples(atoms) - self.known(range(depth + 1)))
        self.db[depth] |= self.tuples(atoms)
        return novel

    def enter_again(self, atoms, depth):
        return bool(self.tuples(atoms) - self.known(range(depth)))

    def depth_of(self, key):
        return min((depth for depth, keys in self.db.items() if key in keys), default=UNSEEN)


def check(table, width, decisions):
    for decision in decisions:
        table.start_decision()
        lists = ClosedLists(width)
        for first, atoms, depth in decision:
            array = np.array(atoms, np.int32)
            if first:
                assert table.enter_first(array, depth) == lists.enter_first(atoms, depth)
            else:
                assert table.enter_again(array, depth) == lists.enter_again(atoms, depth)
        everything = np.arange(SIZE, dtype=np.int32)
        expected = [lists.depth_of((atom,) * width) for atom in range(SIZE)]
        assert table.depth_of(everything).tolist() == expected


@compiling
@given(decisions)
def test_width_1(decisions):
    check(Width1Table(SIZE, LIMIT), 1, decisions)


@compiling
@given(decisions)
def test_width_2(decisions):
    check(Width2Table(SIZE, LIMIT, capacity=256), 2, decisions)


@compiling
@given(decisions)
def test_width_2_in_a_crowded_table(decisions):
    # 78 pairs in a table that takes 96: long walks over stale and fresh slots.
    table = Width2Table(SIZE, LIMIT, capacity=128)
    check(table, 2, decisions)
    assert not table.overflowed


@compiling
@given(st.lists(st.lists(entries, max_size=10), min_size=2, max_size=8))
def test_width_1_when_codes_begin_again(decisions):
    # Codes of so deep a table fit int32 for three decisions.
    check(Width1Table(SIZE, 2**29), 1, decisions)


class BoundedPairs:
    """Pairs and their depths, at most so many of them."""

    def __init__(self, limit):
        self.limit = limit
        self.depths = {}
        self.overflowed = False

    def enter_first(self, atoms, depth):
        novel = False
        for pair in combinations_with_replacement(atoms, 2):
            if pair not in self.depths and len(self.depths) == self.limit:
                self.overflowed = True
            elif depth < self.depths.get(pair, UNSEEN):
                self.depths[pair] = depth
                novel = True
        return novel

    def enter_again(self, atoms, depth):
        unknown = -1 if len(self.depths) == self.limit else UNSEEN
        pairs = combinations_with_replacement(atoms, 2)
        return any(depth <= self.depths.get(pair, unknown) for pair in pairs)


@compiling
@given(decisions, st.sampled_from([4, 16, 64]))
def test_width_2_when_full(decisions, capacity):
    table = Width2Table(SIZE, LIMIT, capacity=capacity)
    for decision in decisions:
        table.start_decision()
        pairs = BoundedPairs(table.pair_limit)
        for first, atoms, depth in decision:
            array = np.array(atoms, np.int32)
            if first:
                assert table.enter_first(array, depth) == pairs.enter_first(atoms, depth)
            else:
                assert table.enter_again(array, depth) == pairs.enter_again(atoms, depth)
        assert table.pair_count == len(pairs.depths)
        assert table.overflowed == pairs.overflowed
