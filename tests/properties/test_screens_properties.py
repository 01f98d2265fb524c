import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from olive_iw.agents.screens import Reservoir, ScreenSet

streams = st.lists(st.integers(0, 15), max_size=40)


def image(number):
    return np.full((128, 128), number, np.uint8)


def numbers(images):
    return images[:, 0, 0].tolist()


@given(stream=streams, limit=st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_screen_set_is_the_first_distinct_ones(stream, limit):
    screens = ScreenSet(limit)
    kept = [number for number in stream if screens.add(image(number))]
    assert kept == list(dict.fromkeys(stream))[:limit]
    assert numbers(screens.images) == kept
    assert all((image(number) in screens) == (number in kept) for number in range(16))


@given(stream=streams, taken=streams)
@settings(max_examples=60, deadline=None)
def test_candidates_are_the_distinct_ones_not_in_the_set(stream, taken):
    met, screens = ScreenSet(), ScreenSet(100)
    for number in stream:
        met.add(image(number))
    for number in taken:
        screens.add(image(number))
    fresh = [number for number in dict.fromkeys(stream) if number not in taken]
    assert numbers(met.not_in(screens)) == fresh


@given(stream=streams, limit=st.integers(1, 12), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_reservoir_holds_distinct_offered_screens_whatever_is_repeated(stream, limit, seed):
    sample = Reservoir(limit, np.random.default_rng(seed))
    once = Reservoir(limit, np.random.default_rng(seed))
    for number in stream:
        sample.offer(image(number))
    for number in dict.fromkeys(stream):
        once.offer(image(number))
    held = numbers(sample.images)
    assert len(set(held)) == len(held) == min(limit, len(set(stream)))
    assert set(held) <= set(stream)
    assert sample.seen == len(set(stream))
    assert held == numbers(once.images)
