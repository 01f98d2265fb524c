"""Moments to go back to are few, however long the episode, and always near enough."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olive_iw.viewer.shown_episode import MOST, MOST_NODES, RECENT, Bookmarks, PastMoment


def moment(decision, nodes=50):
    bookmark = SimpleNamespace(tree=SimpleNamespace(size=nodes))
    return PastMoment(bookmark, score=decision, seconds=0, difference="")


def test_a_long_episode_has_few_bookmarks():
    marks = Bookmarks()
    for decision in range(18_001):
        marks.keep(decision, moment(decision))
        assert len(marks) <= MOST
        assert all(near in marks for near in range(max(0, decision - RECENT + 1), decision + 1))
    gaps = [decision - marks.before(decision)[0] for decision in range(18_001)]
    assert max(gaps) < 256


def test_a_short_episode_keeps_all():
    marks = Bookmarks()
    for decision in range(MOST):
        marks.keep(decision, moment(decision))
    assert all(decision in marks for decision in range(MOST))


@pytest.mark.parametrize("nodes", [200, 1_000, 3_000])
def test_large_trees_have_fewer_bookmarks(nodes):
    marks = Bookmarks()
    for decision in range(2_000):
        marks.keep(decision, moment(decision, nodes))
        assert marks.nodes <= MOST_NODES
        assert 0 in marks
        assert decision in marks


def test_a_tree_beyond_all_bounds_is_kept_with_the_first():
    marks = Bookmarks()
    for decision in range(50):
        marks.keep(decision, moment(decision, 10 * MOST_NODES))
        assert len(marks) == 1 + (decision > 0)
        assert decision in marks


@given(st.lists(st.integers(0, 3_000), max_size=5))
def test_going_to_and_fro_keeps_few_and_the_first(visits):
    """As an episode is shown: from the nearest moment on, keeping each one on the way."""
    marks = Bookmarks()
    marks.keep(0, moment(0))
    for target in visits:
        nearest, found = marks.before(target)
        assert found.score == nearest <= target
        for decision in range(nearest, target + 1):
            if decision not in marks:
                marks.keep(decision, moment(decision))
            assert len(marks) <= MOST
        assert 0 in marks
        assert target in marks
