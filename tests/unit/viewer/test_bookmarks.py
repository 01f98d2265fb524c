"""Moments to go back to are few, however long the episode, and always near enough."""

from hypothesis import given
from hypothesis import strategies as st

from olive_iw.viewer.bookmarks import MOST, RECENT, Bookmarks, PastMoment


def moment(decision):
    return PastMoment(None, score=decision, seconds=0, difference="")


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
