"""Plays or replays an episode in a thread of its own, and tells the hub what there is to see."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from time import perf_counter
from typing import Any, TypeAlias, final

from olive_iw.errors import InputError, SimulatorError
from olive_iw.runs.replay import aspect
from olive_iw.viewer.controls import SPEEDS, Controls, RequestedError
from olive_iw.viewer.hub import Hub
from olive_iw.viewer.page_messages import Control, Note, Setup
from olive_iw.viewer.run_library import EpisodeSource
from olive_iw.viewer.search_view import STATUSES
from olive_iw.viewer.shown_episode import Shown, shown_of

FRAME_SECONDS = 0.05
"""Frames of a running search are at least so far apart."""

OpenSource: TypeAlias = Callable[[str, str], EpisodeSource]
"""From the ids of a run and an episode to a source."""


@final
class Playback:
    """Drives a shown episode by the controls: search, decide, act, and go wherever a page asks."""

    def __init__(
        self, hub: Hub, open_source: OpenSource | None = None, playing: bool = True
    ) -> None:
        """`open_source` opens what a page asks for; without it a live play is all there is."""
        self.controls = Controls(lambda: hub.watched, playing)
        self.shown: Shown | None = None
        """What is shown; only this playback's thread may use it."""
        self._hub = hub
        self._open = open_source
        self._published = 0.0
        self._hurry_to: int | None = None
        self._thread = threading.Thread(target=self._run, name="olive-iw playback", daemon=True)

    def start(self, sources: Iterable[EpisodeSource]) -> None:
        """Begin with the first source that can be shown, or wait until a page opens one.

        A record opens as first decided. A live play that cannot be shown is an error.
        """
        self.command_done()
        for source in sources:
            try:
                self._show_source(source)
            except (InputError, SimulatorError):
                if source.record is None:
                    raise
                continue
            if source.record is not None:
                self.controls.command({"type": "goto", "decision": 0})
            break
        self._thread.start()

    def close(self) -> None:
        """Stop, and wait for the thread."""
        self.controls.close()
        if self._thread.is_alive():
            self._thread.join(timeout=10)
        if self.shown is not None:
            self.shown.close()

    def command_done(self) -> None:
        """Tell the pages how the controls stand."""
        self._hub.publish(Control(self.controls.playing, self.controls.level))

    def node(self, decision: int, node: int) -> "Future[dict[str, Any] | None]":
        """Ask for the details of a node; the answer comes from the playback's thread."""
        return self.controls.ask(
            lambda: None if self.shown is None else self.shown.node(decision, node)
        )

    def _show_source(self, source: EpisodeSource) -> Shown:
        if self.shown is not None:
            self.shown.close()
        self.shown = shown_of(source, self._between)
        planner = source.planning.planner
        step = "rollout" if planner is None or planner.rolls_out else "node"
        setup = Setup(
            game=source.game,
            label=" · ".join(filter(None, (source.spec.label, source.spec.parts.caveat))),
            seed=source.spec.seed,
            calls_per_action=source.spec.decisions.calls_per_action,
            actions=list(source.simulator.action_names),
            aspect=aspect(source.simulator, self.shown.root.screen),
            statuses=STATUSES,
            speeds=[speed.title.replace("rollout", step) for speed in SPEEDS],
            trees=planner is not None,
            why_no_trees=source.planning.why_not,
            run=source.run,
            episode=source.episode,
            total=source.total,
            step=step,
            prunes=planner is None or planner.prunes,
        )
        self._hub.publish(setup, *self.shown.frame())
        return self.shown

    def _run(self) -> None:
        while not self.controls.closed:
            with suppress(RequestedError):
                try:
                    self._obey()
                    if self.shown is not None:
                        self._play(self.shown)
                except RequestedError:
                    raise
                except Exception as error:  # a page that waits for a dead thread would say nothing
                    known = isinstance(error, (InputError, SimulatorError))
                    text = str(error) if known else f"{type(error).__name__}: {error}"
                    self._hub.publish(Note(text, error=True))
                    self._hurry_to = None
                self.controls.wait_for_request()

    def _obey(self) -> None:
        """Go where a page asked to."""
        request = self.controls.take_request()
        if request is None:
            return
        self.command_done()
        shown, wanted = self.shown, (request.run, request.episode)
        if request.run is not None and (
            shown is None or wanted != (shown.source.run, shown.source.episode)
        ):
            if self._open is None:
                raise InputError("a live play has no recorded episodes")
            shown = self._show_source(self._open(request.run, request.episode))
        if shown is not None:
            self._go_to(shown, request.decision)

    def _go_to(self, shown: Shown, decision: int) -> None:
        """Recompute up to a decision, from the nearest moment that is remembered."""
        decision = shown.source.nearest(decision)
        if not (shown.decided and shown.decision == decision):
            if shown.decided and shown.decision < decision:
                shown.advance()
            shown.return_before(decision)
            self._hurry_to = decision
            self._hub.publish(*shown.preview(decision))
            while shown.decision < decision and not shown.over:
                shown.decide()
                shown.advance()
            if not shown.over:
                shown.decide()
            self._hurry_to = None
        self._hub.publish(Note(""), *shown.frame())

    def _play(self, shown: Shown) -> None:
        while True:
            if shown.over:
                self.controls.wait_for_request()
            self.controls.wait_to_go_on()
            if shown.decided:
                shown.advance()
                self._hub.publish(*shown.frame())
                if shown.over:
                    continue
            shown.decide()
            self._show(shown, self.controls.following or self.controls.speed.per_decision > 0)
            if self.controls.step_done("decision"):
                self.command_done()
            self.controls.rest(self.controls.speed.per_decision)

    def _show(self, shown: Shown, at_once: bool) -> None:
        """Publish a frame, if it is time for one or it is wanted at once."""
        if at_once or self._due():
            self._hub.publish(*shown.frame())
            self._published = perf_counter()

    def _due(self) -> bool:
        return perf_counter() - self._published >= FRAME_SECONDS

    def _between(self) -> None:
        """Between two rollouts: show them if it is time, and wait if the play is paused."""
        shown, controls = self.shown, self.controls
        assert shown is not None, "a playback starts with a source"
        controls.check()
        if self._hurry_to is not None:
            if self._due() and self._hurry_to > shown.decision:
                self._published = perf_counter()
                text = f"recomputing decision {shown.decision} on the way to {self._hurry_to}"
                self._hub.publish(Note(text))
            return
        controls.step_done("rollout")
        self._show(shown, controls.following)
        controls.rest(controls.speed.per_rollout)
        controls.wait_to_go_on()
