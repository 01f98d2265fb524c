"""What a planner's process and its workers say to each other comes back as it was."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from olive_iw.simulators import SimulatorError, Step
from olive_iw.simulators.messages import (
    Answer,
    CallRequest,
    answer_message,
    freeze,
    read_answer,
    read_request,
    request_message,
    thaw,
)

SCREEN = np.arange(12, dtype=np.uint8).reshape(3, 4)


def sent(answer):
    return read_answer(answer_message(answer))


@given(state=st.binary(), action=st.integers(0, 2**40))
def test_a_request_comes_back(state, action):
    request = CallRequest(state, action, continues=False)
    assert read_request(request_message(request)) == request


def test_a_request_that_continues_leaves_its_state_at_home():
    request = CallRequest(b"long" * 1000, 3, continues=True)
    message = request_message(request)
    assert len(message) < 20
    assert read_request(message) == CallRequest(b"", 3, continues=True)


@given(
    screen=arrays.arrays(np.uint8, arrays.array_shapes(min_dims=2, max_dims=2, max_side=9)),
    ram=st.none() | arrays.arrays(np.uint8, st.integers(0, 9)),
    reward=st.floats(allow_nan=False),
    state=st.none() | st.binary(),
    told=st.booleans(),
)
def test_an_answer_comes_back(screen, ram, reward, state, told):
    colours = [np.arange(256, dtype=np.uint8)] if told else []
    answer = Answer(Step(screen, reward, state is None, 3, ram), state, colours, 0.25)
    found = sent(answer)
    np.testing.assert_array_equal(found.step.screen, screen, strict=True)
    assert not found.step.screen.flags.writeable
    assert (found.step.reward, found.step.terminal, found.step.lives) == (reward, state is None, 3)
    assert (found.step.ram is None) == (ram is None)
    if ram is not None:
        np.testing.assert_array_equal(found.step.ram, ram, strict=True)
        assert not found.step.ram.flags.writeable
    assert (found.state, found.seconds) == (state, 0.25)
    assert len(found.colours) == len(colours)
    assert all(map(np.array_equal, found.colours, colours))


def test_a_screen_that_is_not_in_one_piece_comes_back():
    parts = SCREEN[:, ::2], np.asfortranarray(SCREEN), SCREEN[::-1]
    for part in parts:
        found = sent(Answer(Step(part, 0.0, False, 0), b"s", [], 0.0))
        np.testing.assert_array_equal(found.step.screen, part)


@pytest.mark.parametrize("screen", [SCREEN / 2, SCREEN.tolist(), None])
def test_what_is_no_screen_comes_back_for_the_planner_to_refuse(screen):
    found = sent(Answer(Step(screen, 0.0, False, 0), b"s", [], 0.0))
    assert type(found.step.screen) is type(screen)
    assert np.array_equal(found.step.screen, screen)


def test_an_error_is_raised():
    with pytest.raises(SimulatorError, match="no luck"):
        sent(SimulatorError("no luck"))


def test_freezing_and_thawing():
    assert thaw(freeze({"a": (1, 2.5)})) == {"a": (1, 2.5)}
