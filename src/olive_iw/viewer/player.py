"""Plays or replays an episode in a thread of its own, and tells the hub what there is to see."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from time import perf_counter
from typing import Any, final

from olive_iw.errors import InputError
from olive_iw.simulators.base import SimulatorError
from olive_iw.viewer.controls import ClosedError, Controls, GoTo, Open, RequestedError
from olive_iw.viewer.episode_source import EpisodeSource
from olive_iw.viewer.hub import Hub
from olive_iw.viewer.messages import Control, Message, Note
from olive_iw.viewer.show import Show

FRAME_SECONDS = 0.05
"""Frames of a running search are at least so far apart."""

OpenSource = Callable[[str, str], EpisodeSource]
"""From the ids of a run and an episode to a course."""


@final
class Player:
    """Drives a show by the controls: search, decide, act, and go wherever a page asks."""

    def __init__(self, hub: Hub, controls: Controls, open_source: OpenSource) -> None:
        self.controls = controls
        self.show: Show | None = None
        """What is shown; only this player's thread may use it."""
        self._hub = hub
        self._open = open_source
        self._published = 0.0
        self._hurry_to: int | None = None
        self._thread = threading.Thread(target=self._run, name="olive-iw player", daemon=True)

    def start(self, course: EpisodeSource | None) -> None:
        """Begin with a course, or wait until a page opens one."""
        if course is not None:
            self._set_course(course)
        self._thread.start()

    def close(self) -> None:
        """Stop, and wait for the thread."""
        self.controls.close()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def command_done(self) -> None:
        """Tell the pages how the controls stand."""
        self._publish(Control(self.controls.playing, self.controls.level))

    def node(self, decision: int, node: int) -> "Future[dict[str, Any] | None]":
        """Ask for the details of a node; the answer comes from the player's thread."""
        return self.controls.ask(
            lambda: None if self.show is None else self.show.node(decision, node)
        )

    def _publish(self, *messages: Message) -> None:
        self._hub.publish(*messages)

    def _set_course(self, course: EpisodeSource) -> Show:
        if self.show is not None:
            self.show.close()
        self.show = show = Show(course, on_step=self._on_step)
        control = Control(self.controls.playing, self.controls.level)
        self._publish(show.setup(), Note(""), control, *show.frame())
        return show

    def _run(self) -> None:
        while True:
            try:
                self._obey()
                if self.show is None:
                    self.controls.wait_for_request()
                else:
                    self._play(self.show)
            except RequestedError:
                continue
            except ClosedError:
                return
            except (InputError, SimulatorError) as error:
                self._fail(str(error))
            except Exception as error:  # a page that waits for a dead thread would say nothing
                self._fail(f"{type(error).__name__}: {error}")

    def _fail(self, text: str) -> None:
        self._publish(Note(text, error=True))
        self._hurry_to = None
        try:
            self.controls.wait_for_request()
        except (RequestedError, ClosedError):
            return

    def _obey(self) -> None:
        """Go where a page asked to."""
        request = self.controls.take_request()
        if request is None:
            return
        self.command_done()
        show = self.show
        if isinstance(request, Open):
            wanted = (request.run, request.episode)
            if show is None or wanted != (show.course.run, show.course.episode):
                show = self._set_course(self._open(*wanted))
            request = GoTo(request.decision)
        if show is not None:
            self._go_to(show, request.decision)

    def _go_to(self, show: Show, decision: int) -> None:
        """Recompute up to a decision, from the nearest moment that is remembered."""
        decision = show.possible(decision)
        if show.decided and show.decision == decision:
            self._publish(Note(""), *show.frame())
            return
        if show.decided and show.decision < decision:
            show.advance()
        show.return_before(decision)
        self._hurry_to = decision
        self._publish(*show.preview(decision))
        while show.decision < decision and not show.over:
            show.decide()
            show.advance()
        if not show.over:
            show.decide()
        self._hurry_to = None
        self._publish(Note(""), *show.frame())

    def _play(self, show: Show) -> None:
        while True:
            if show.over:
                self.controls.wait_for_request()
            self.controls.wait_to_go_on()
            if show.decided:
                show.advance()
                self._publish(*show.frame())
                if show.over:
                    continue
            show.decide()
            self._show_decision(show)
            if self.controls.step_done("decision"):
                self.command_done()
            self.controls.rest(self.controls.speed.per_decision)

    def _show_decision(self, show: Show) -> None:
        if self._due() or self.controls.following or self.controls.speed.per_decision:
            self._publish(*show.frame())
            self._published = perf_counter()

    def _due(self) -> bool:
        return perf_counter() - self._published >= FRAME_SECONDS

    def _on_step(self) -> None:
        """Between two rollouts: show them if it is time, and wait if the play is paused."""
        show, controls = self.show, self.controls
        assert show is not None, "a player starts with a course"
        controls.check()
        if self._hurry_to is not None:
            if self._due() and self._hurry_to > show.decision:
                self._published = perf_counter()
                text = f"recomputing decision {show.decision} on the way to {self._hurry_to}"
                self._publish(Note(text))
            return
        controls.step_done("rollout")
        if self._due() or controls.following:
            self._publish(*show.frame())
            self._published = perf_counter()
        controls.rest(controls.speed.per_rollout)
        controls.wait_to_go_on()
