"""The controls of a play: commands from pages, and the waiting that they end."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, Literal, TypeAlias, final, get_args

from olive_iw.errors import InputError


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast a play goes; seconds."""

    title: str
    per_rollout: float = 0.0
    per_decision: float = 0.0


SPEEDS = (
    Speed("2 rollouts a second", per_rollout=0.5, per_decision=1.0),
    Speed("10 rollouts a second", per_rollout=0.1, per_decision=0.5),
    Speed("1 decision a second", per_decision=1.0),
    Speed("5 decisions a second", per_decision=0.2),
    Speed("as fast as it goes"),
)
USUAL_SPEED = 2


@dataclass(frozen=True, slots=True)
class Request:
    """Show a decision: of the open episode, or of an episode of a run."""

    decision: int
    run: str | None = None
    episode: str = ""


Mode: TypeAlias = Literal["play", "pause", "rollout", "decision"]
"""The last two: pause after one rollout, after one decision."""


class RequestedError(Exception):
    """Something else is to be shown: what is being done may be left."""


class ClosedError(Exception):
    """The viewer is being closed."""


@final
class Controls:
    """Set from any thread; the playback's thread waits here."""

    def __init__(self, watched: Callable[[], bool], playing: bool = True) -> None:
        """`watched` says whether anybody looks; without, nothing is played."""
        self._watched = watched
        self._condition = threading.Condition()
        self.mode: Mode = "play" if playing else "pause"
        self.level = USUAL_SPEED
        self._request: Request | None = None
        self._closed = False
        self._questions: deque[tuple[Callable[[], Any], Future[Any]]] = deque()

    @property
    def playing(self) -> bool:
        """Whether the play goes on by itself."""
        return self.mode == "play"

    @property
    def speed(self) -> Speed:
        """The chosen speed."""
        return SPEEDS[self.level]

    @property
    def following(self) -> bool:
        """Whether a rollout is to be shown in any case: the play is slow, or about to wait."""
        return self.mode == "pause" or (self.playing and self.speed.per_rollout > 0)

    def command(self, fields: dict[str, Any]) -> None:
        """Obey a command of a page; `InputError` if it is none."""
        kind: Any = fields.get("type")
        with self._condition:
            if kind in get_args(Mode):
                self.mode = kind
            elif kind == "speed":
                self.level = _whole(fields, "level", len(SPEEDS) - 1)
            elif kind in ("goto", "open"):
                request = Request(_whole({"decision": 0, **fields}, "decision"))
                if kind == "open":
                    request = replace(
                        request, run=_name(fields, "run"), episode=_name(fields, "episode")
                    )
                self.mode, self._request = "pause", request
            else:
                raise InputError(f"there is no command {kind!r}")
            self._condition.notify_all()

    def close(self) -> None:
        """End every waiting, for good."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()

    def take_request(self) -> Request | None:
        """Return what is to be shown, once."""
        with self._condition:
            request, self._request = self._request, None
            return request

    def ask(self, question: Callable[[], Any]) -> "Future[Any]":
        """Have a question answered by the playback's thread, which alone may read its planner."""
        answer: Future[Any] = Future()
        with self._condition:
            self._questions.append((question, answer))
            self._condition.notify_all()
        return answer

    def check(self) -> None:
        """Answer what was asked; raise if something else is to be shown."""
        if self._closed:
            raise ClosedError
        while self._questions:
            question, answer = self._questions.popleft()
            if answer.set_running_or_notify_cancel():
                try:
                    answer.set_result(question())
                except Exception as error:  # it is the asker's to hear of
                    answer.set_exception(error)
        if self._request is not None:
            raise RequestedError

    def wait_to_go_on(self) -> None:
        """Return when the play may go on: it plays, or a step was asked for."""
        with self._condition:
            while True:
                self.check()
                if self.mode != "pause" and self._watched():
                    return
                # Pages come and go without a notice here, so look again from time to time.
                self._condition.wait(None if self._watched() else 0.2)

    def rest(self, seconds: float) -> None:
        """Wait so long, or until a command changes things."""
        end = monotonic() + seconds
        with self._condition:
            while self.playing and (left := end - monotonic()) > 0:
                self.check()
                self._condition.wait(left)

    def wait_for_request(self) -> None:
        """Wait until something else is to be shown; raises then."""
        with self._condition:
            while True:
                self.check()
                self._condition.wait()

    def step_done(self, kind: Literal["rollout", "decision"]) -> bool:
        """Note that a rollout or a decision is done; True if it was the step asked for."""
        with self._condition:
            done = self.mode in ("rollout", kind)
            if done:
                self.mode = "pause"
            return done


def _whole(fields: dict[str, Any], name: str, largest: int = 10**9) -> int:
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= largest:
        raise InputError(f"{name} = {value!r} is not possible; it must be from 0 to {largest}")
    return value


def _name(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise InputError(f"{name} = {value!r} is not possible; it must be a name")
    return value
