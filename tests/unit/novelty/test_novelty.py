"""Novelty tables: cases by hand, forgetting, limits and memory."""

import numpy as np
import pytest

from olive_iw.errors import InputError
from olive_iw.novelty import UNSEEN, Width1Table, Width2Table, make_novelty_table

WIDTHS = [1, 2]


def atoms(*values):
    return np.array(values, np.int32)


def started(table):
    table.start_decision()
    return table


@pytest.mark.parametrize("width", WIDTHS)
def test_first_entry_is_novel_only_with_something_less_deep(width):
    table = started(make_novelty_table(width, 10))
    assert table.enter_first(atoms(1, 2), 3)
    assert not table.enter_first(atoms(1, 2), 3)
    assert not table.enter_first(atoms(1, 2), 4)
    assert not table.enter_first(atoms(2), 3)
    assert table.enter_first(atoms(1, 2), 2)
    assert table.depth_of(atoms(1, 2, 3)).tolist() == [2, 2, UNSEEN]


@pytest.mark.parametrize("width", WIDTHS)
def test_entering_again_is_novel_at_the_same_depth_and_changes_nothing(width):
    table = started(make_novelty_table(width, 10))
    table.enter_first(atoms(1, 2), 3)
    assert table.enter_again(atoms(1, 2), 3)
    assert table.enter_again(atoms(1, 2), 2)
    assert not table.enter_again(atoms(1, 2), 4)
    assert table.enter_again(atoms(1, 5), 4)
    assert table.depth_of(atoms(1, 5)).tolist() == [3, UNSEEN]


def test_a_node_stays_novel_until_another_shows_its_atoms_less_deep():
    table = started(Width1Table(10))
    table.enter_first(atoms(0, 4), 5)
    table.enter_first(atoms(4, 7), 2)
    assert table.enter_again(atoms(0, 4), 5)
    table.enter_first(atoms(0, 9), 3)
    assert not table.enter_again(atoms(0, 4), 5)


def test_the_first_atom_counts():
    table = started(Width1Table(10))
    table.enter_first(atoms(3, 4), 1)
    assert table.enter_first(atoms(0, 3), 1)
    table.enter_first(atoms(3), 0)
    assert table.enter_again(atoms(0, 3), 1)


def test_width_2_sees_pairs_of_known_atoms():
    one, two = started(Width1Table(10)), started(Width2Table(10))
    for table in (one, two):
        table.enter_first(atoms(1, 2), 0)
        table.enter_first(atoms(3, 4), 0)
    assert not one.enter_first(atoms(2, 3), 1)
    assert two.enter_first(atoms(2, 3), 1)
    assert two.depth_of_pairs(atoms(2, 3, 1), atoms(3, 2, 4)).tolist() == [1, 1, UNSEEN]
    assert two.pair_count == 3 + 3 + 1


@pytest.mark.parametrize("width", WIDTHS)
def test_no_atoms_are_never_novel(width):
    table = started(make_novelty_table(width, 10))
    assert not table.enter_first(atoms(), 0)
    assert not table.enter_again(atoms(), 0)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_new_decision_forgets(width):
    table = started(make_novelty_table(width, 10))
    table.enter_first(atoms(1, 2), 0)
    table.start_decision()
    assert (table.depth_of(atoms(1, 2)) == UNSEEN).all()
    assert table.enter_again(atoms(1, 2), 100)
    assert table.enter_first(atoms(1, 2), 100)


@pytest.mark.parametrize("width", WIDTHS)
def test_forgets_also_when_the_codes_begin_again(width):
    # Codes of so deep a table fit int32 for a few decisions only.
    limit = 2**29
    table = make_novelty_table(width, 10, depth_limit=limit)
    for _ in range(20):
        table.start_decision()
        assert (table.depth_of(atoms(1, 2)) == UNSEEN).all()
        assert table.enter_first(atoms(1, 2), limit)
        assert table.enter_first(atoms(1, 2), 7)
        assert not table.enter_first(atoms(1, 2), 7)
        assert table.depth_of(atoms(1, 2)).tolist() == [7, 7]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("depth", [-1, 6])
def test_depths_outside_the_limits_are_refused(width, depth):
    table = started(make_novelty_table(width, 10, depth_limit=5))
    assert table.enter_first(atoms(1), 5)
    with pytest.raises(InputError, match="0 to 5"):
        table.enter_first(atoms(1), depth)
    with pytest.raises(InputError, match="0 to 5"):
        table.enter_again(atoms(1), depth)


@pytest.mark.parametrize("width", WIDTHS)
def test_atoms_outside_the_table_are_refused(width):
    table = started(make_novelty_table(width, 10))
    unsorted = np.array([3, 10**9, -5, 4], np.int32)
    for wrong in (atoms(3, 10), atoms(-1, 3), unsorted):
        with pytest.raises(IndexError, match="outside"):
            table.enter_first(wrong, 0)
        with pytest.raises(IndexError, match="outside"):
            table.enter_again(wrong, 0)


@pytest.mark.parametrize("width", WIDTHS)
def test_entering_before_the_first_decision_is_refused(width):
    with pytest.raises(InputError, match="start_decision"):
        make_novelty_table(width, 10).enter_first(atoms(1), 0)


def test_width_1_takes_four_bytes_an_atom():
    assert Width1Table(20_598_848)._table.nbytes == 4 * 20_598_848


def test_width_2_memory_does_not_depend_on_the_number_of_atoms():
    for atoms_there_are in (10, 2**31 - 1):
        slots = Width2Table(atoms_there_are)._slots
        assert sum(array.nbytes for array in slots) == 12 * 2**22


def test_a_full_width_2_table_takes_no_more_pairs_and_says_so():
    table = started(Width2Table(1000, capacity=16))
    assert table.pair_limit == 12
    assert table.enter_first(atoms(1, 2, 3, 4), 5)  # 10 pairs
    assert not table.overflowed
    assert table.enter_first(atoms(7, 8), 5)  # 3 pairs, of which 2 fit
    assert table.overflowed
    assert table.pair_count == 12
    assert not table.enter_first(atoms(50, 60), 0)
    assert not table.enter_again(atoms(50, 60), 0)
    assert table.enter_first(atoms(1, 2), 4)  # what is stored is still brought up to date
    assert table.depth_of_pairs(atoms(1), atoms(2)).tolist() == [4]
    table.start_decision()
    assert not table.overflowed
    assert table.pair_count == 0
    assert table.enter_first(atoms(50, 60), 9)


def test_large_atoms_make_distinct_pairs():
    table = started(Width2Table(2**31 - 1))
    last = 2**31 - 2
    assert table.enter_first(atoms(0, last), 1)
    assert table.depth_of_pairs(atoms(0, last, last), atoms(last, last, last - 1)).tolist() == [
        1,
        1,
        UNSEEN,
    ]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_novelty_table(3, 10), "width 1 and 2"),
        (lambda: Width2Table(10, capacity=12), "power of two"),
        (lambda: Width2Table(0), "number of atoms"),
        (lambda: Width1Table(10, depth_limit=0), "depth limit"),
        (lambda: Width1Table(10, depth_limit=2**31), "depth limit"),
    ],
)
def test_bad_tables_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
