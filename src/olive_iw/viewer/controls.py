"""The controls of a play: commands from pages, and the waiting that they end."""

import math
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
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
LOOK_SECONDS = 0.2

Mode: TypeAlias = Literal["play", "pause", "rollout", "decision"]
"""The last two: pause after one rollout, after one decision."""


@dataclass(frozen=True, slots=True)
class Request:
    """Show a decision: of the open episode, or of an episode of a run."""

    decision: int
    run: str | None = None
    episode: str = ""


class RequestedError(Exception):
    """Something else is to be shown, or nothing any more: what is being done may be left."""


@final
class Controls:
    """How the play is to go: set from any thread; the playback's thread waits here."""

    def __init__(self, watched: Callable[[], bool], playing: bool = True) -> None:
        """`watched` says whether anybody looks; without, nothing is played."""
        self._watched = watched
        self._condition = threading.Condition()
        self.mode: Mode = "play" if playing else "pause"
        self.level = USUAL_SPEED
        self._request: Request | None = None
        self.closed = False
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
                decision = _whole({"decision": 0, **fields}, "decision")
                names = ("run", "episode") if kind == "open" else ()
                self._request = Request(decision, *(_name(fields, name) for name in names))
                self.mode = "pause"
            else:
                raise InputError(f"there is no command {kind!r}")
            self._condition.notify_all()

    def close(self) -> None:
        """End every waiting, now and later."""
        with self._condition:
            self.closed = True
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
        while self._questions and not self.closed:
            question, answer = self._questions.popleft()
            if answer.set_running_or_notify_cancel():
                try:
                    answer.set_result(question())
                except Exception as error:  # it is the asker's to hear of
                    answer.set_exception(error)
        if self.closed or self._request is not None:
            raise RequestedError

    def _wait(self, until: Callable[[], bool], seconds: float = math.inf) -> None:
        """Wait until something holds, or so long; questions are answered, and requests raise."""
        end = monotonic() + seconds
        with self._condition:
            self.check()
            while not until() and (left := end - monotonic()) > 0:
                # Pages come and go without a notice here, so look again from time to time.
                self._condition.wait(min(left, LOOK_SECONDS))
                self.check()

    def wait_to_go_on(self) -> None:
        """Return when the play may go on: it plays, or a step was asked for."""
        self._wait(lambda: self.mode != "pause" and self._watched())

    def rest(self, seconds: float) -> None:
        """Wait so long, or until the play is paused."""
        self._wait(lambda: not self.playing, seconds)

    def wait_for_request(self) -> None:
        """Wait until something else is to be shown; raises then."""
        self._wait(lambda: False)

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
