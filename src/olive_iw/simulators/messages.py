"""Messages between a planner and the processes that make calls for it, as bytes."""

import pickle
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from olive_iw.simulators.base import Step


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


def request_message(request: CallRequest) -> bytes:
    """Message of a request; one that continues needs no state."""
    return freeze((request.action, None if request.continues else request.state))


def read_request(message: bytes) -> CallRequest:
    """Read a message of `request_message`."""
    action, state = thaw(message)
    return CallRequest(state or b"", action, continues=state is None)


def answer_message(answer: Answer | Exception) -> bytes:
    """Message of an answer, or of an error instead of one."""
    if isinstance(answer, Exception):
        return freeze(answer)
    step, *rest = answer
    arrays = _packed(step.screen), _packed(step.ram)
    return freeze((arrays, (step.reward, step.terminal, step.lives), step.values, rest))


def read_answer(message: bytes) -> Answer:
    """Read a message of `answer_message`; raises the error if that is what it holds."""
    content = thaw(message)
    if isinstance(content, Exception):
        raise content
    (screen, ram), (reward, terminal, lives), values, rest = content
    shown = _unpacked(screen), reward, terminal, lives, _unpacked(ram), values
    return Answer(Step(*shown), *rest)


def _packed(array: Any) -> Any:
    """Shape and bytes of what a step should hold: pickling an array costs ten times as much.

    Anything else stays as it is; the planner will refuse it.
    """
    is_plain = type(array) is np.ndarray and array.dtype == np.uint8
    return (array.shape, array.tobytes()) if is_plain else array


def _unpacked(packed: Any) -> Any:
    if not isinstance(packed, tuple):
        return packed
    return np.frombuffer(packed[1], np.uint8).reshape(packed[0])
