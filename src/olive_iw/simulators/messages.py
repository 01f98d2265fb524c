"""What a planner's process and those that make calls for it say to each other, as bytes."""

import pickle
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from olive_iw.simulators.base import Step

_ASKED = Struct("<q?")
_SIZES = Struct("<QQ")


class CallRequest(NamedTuple):
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


def request_parts(request: CallRequest) -> list[bytes]:
    """Pieces that make the message of a request; one that continues needs no state."""
    asked = _ASKED.pack(request.action, request.continues)
    return [asked] if request.continues else [asked, request.state]


def read_request(message: bytes) -> CallRequest:
    """Read a message of `request_parts`."""
    action, continues = _ASKED.unpack_from(message)
    return CallRequest(message[_ASKED.size :], action, continues)


def answer_parts(answer: Answer | Exception) -> list[bytes | memoryview]:
    """Pieces that make the message of an answer, or of an error instead of one.

    Screen and state are pieces of their own: they are copied once, and pickling an array costs ten
    times as much as its bytes.
    """
    if isinstance(answer, Exception):
        head = freeze(answer)
        return [_SIZES.pack(len(head), 0), head]
    step, state = answer.step, answer.state
    screen, pixels = step.screen, memoryview(b"")
    shape: Any = screen
    if _is_plain(screen):
        shape, pixels = screen.shape, np.ascontiguousarray(screen).data.cast("B")
    ram = step.ram.tobytes() if step.ram is not None and _is_plain(step.ram) else step.ram
    shown = shape, step.reward, step.terminal, step.lives, ram
    head = freeze((shown, state is None, answer.colours, answer.seconds))
    return [_SIZES.pack(len(head), len(pixels)), head, pixels, state or b""]


def read_answer(message: bytes) -> Answer:
    """Read a message of `answer_parts`; raises the error if that is what it holds."""
    head, pixels = _SIZES.unpack_from(message)
    start = _SIZES.size + head
    content = pickle.loads(memoryview(message)[_SIZES.size : start])
    if isinstance(content, Exception):
        raise content
    (screen, reward, terminal, lives, ram), is_end, colours, seconds = content
    if isinstance(screen, tuple):
        screen = np.frombuffer(message, np.uint8, pixels, start).reshape(screen)
    if isinstance(ram, bytes):
        ram = np.frombuffer(ram, np.uint8)
    state = None if is_end else message[start + pixels :]
    return Answer(Step(screen, reward, terminal, lives, ram), state, colours, seconds)


def _is_plain(array: Any) -> bool:
    """Whether this is what a step should hold; the planner will refuse what is not."""
    return type(array) is np.ndarray and array.dtype == np.uint8
