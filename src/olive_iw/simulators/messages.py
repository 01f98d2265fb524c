"""What a planner's process and those that make calls for it say to each other, as bytes."""

import pickle
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from olive_iw.simulators.base import Step

_ASKED = Struct("<q?")
_COUNT = Struct("<Q")


class Request(NamedTuple):
    """One call."""

    state: bytes
    """Where it starts, as `freeze` made it."""
    action: int
    continues: bool
    """Whether it starts where the worker's last call ended, so that nothing must be restored."""


class Answer(NamedTuple):
    """What a call showed."""

    step: Step
    state: bytes | None
    """State after it, as `freeze` made it; None at the end of an episode."""
    colours: list[NDArray[np.uint8]]
    """The simulator's palette and grey levels, where they have changed."""
    seconds: float
    """Processor time of the call."""


def freeze(state: Any) -> bytes:
    """Turn a saved state, or anything else, into bytes."""
    return pickle.dumps(state, pickle.HIGHEST_PROTOCOL)


def thaw(state: bytes) -> Any:
    """Turn bytes back into what they were."""
    return pickle.loads(state)


def request_parts(request: Request) -> list[bytes]:
    """Pieces that make the message of a request; one that continues needs no state."""
    asked = _ASKED.pack(request.action, request.continues)
    return [asked] if request.continues else [asked, request.state]


def read_request(message: bytes) -> Request:
    """Read a message of `request_parts`."""
    action, continues = _ASKED.unpack_from(message)
    return Request(message[_ASKED.size :], action, continues)


def answer_parts(answer: Answer | Exception) -> list[bytes | memoryview]:
    """Pieces that make the message of an answer, or of an error instead of one.

    Arrays and the state are pieces of their own, so that they are copied once, into the message.
    """
    arrays: list[pickle.PickleBuffer] = []
    state = None
    content: Any = answer
    if isinstance(answer, Answer):
        step, state = answer.step, answer.state
        shown = step.screen, step.reward, step.terminal, step.lives, step.ram
        content = shown, state is None, answer.colours, answer.seconds
    head = pickle.dumps(content, pickle.HIGHEST_PROTOCOL, buffer_callback=arrays.append)
    pieces: list[bytes | memoryview] = [head, *(array.raw() for array in arrays)]
    sizes = [_COUNT.pack(len(piece)) for piece in pieces]
    return [_COUNT.pack(len(pieces)), *sizes, *pieces, state or b""]


def read_answer(message: bytes) -> Answer:
    """Read a message of `answer_parts`; raises the error if that is what it holds."""
    (count,) = _COUNT.unpack_from(message)
    start = _COUNT.size * (1 + count)
    pieces = []
    for number in range(count):
        (size,) = _COUNT.unpack_from(message, _COUNT.size * (1 + number))
        pieces.append(memoryview(message)[start : start + size])
        start += size
    content = pickle.loads(pieces[0], buffers=pieces[1:])
    if isinstance(content, Exception):
        raise content
    (screen, reward, terminal, lives, ram), is_end, colours, seconds = content
    step = Step(_sealed(screen), reward, terminal, lives, _sealed(ram))
    return Answer(step, None if is_end else message[start:], colours, seconds)


def _sealed(array: Any) -> Any:
    """Make an array read-only; what is none is for the planner to refuse."""
    if isinstance(array, np.ndarray):
        array.flags.writeable = False
    return array
