"""One episode played for somebody to watch: as fast as it goes, or in the game's own time.

In real time the game never waits for the planner, unless a decision comes late. While an action is
held, the planner stands already at the state after it (the game is deterministic) and decides the
next one:

    clock    |---- action 0 ----|---- action 1 ----|---- action 2 ----|
    planner  | decides 1 ..wait | decides 2 ..wait | decides 3 ..wait |

Action 0 is decided before the clock starts, with a whole period.
"""

import time
from dataclasses import dataclass, field
from typing import Any

from olive_iw.agents.episode import Episode, Observer
from olive_iw.agents.parts import Decisions
from olive_iw.planners import Decision, Planner
from olive_iw.settings import AT_LEAST_ONE
from olive_iw.simulators.base import Simulator, frame_skip

FRAMES_PER_SECOND = 60
FRAMES_PER_ACTION = 15
"""Frames for which simulators that have none of their own hold an action."""
MARGIN = 0.015
"""Seconds before the end of a period after which no call begins: for the call that is being made
then, for the choice of the action and for the step to the next root."""
WARM_UP_CALLS = 20
LEAST_SECONDS = 1e-6
"""Budget of a decision that begins late already; its first call is made in any case."""


class Clock:
    """The clock on the wall; tests have one of their own."""

    now = staticmethod(time.perf_counter)
    """Seconds since some moment."""
    sleep = staticmethod(time.sleep)


@dataclass(frozen=True, slots=True)
class Pace:
    """The time of a game that does not wait."""

    frames: int = FRAMES_PER_ACTION
    """Frames of an action."""
    margin: float = MARGIN
    """Seconds at the end of an action in which no call begins."""

    @property
    def period(self) -> float:
        """Seconds that an action lasts."""
        return self.frames / FRAMES_PER_SECOND


def pace_of(simulator: Simulator) -> Pace:
    """Return the pace of a simulator: its frames at 60 a second, or 0.25 s an action."""
    return Pace(frame_skip(simulator) or FRAMES_PER_ACTION)


@dataclass(slots=True)
class Played:
    """An episode, and how long its decisions took."""

    episode: Episode = field(default_factory=Episode)
    pace: Pace | None = None
    """None if the game waited for every decision."""
    calls: list[int] = field(default_factory=list)
    """Calls of each decision."""
    seconds: list[float] = field(default_factory=list)
    """Seconds of each decision."""
    late: list[float] = field(default_factory=list)
    """By how many seconds decisions came late, those that did."""
    frames: int = 0
    """Frames of the actions that were held to their end in real time."""
    clock_seconds: float = 0.0
    """Seconds that these took."""
    began: float = 0.0
    """When the last action began, by the clock."""
    stopped: bool = False
    """Whether it was interrupted."""

    @property
    def frames_per_second(self) -> float:
        """Frames of the game per second of real time; 60 if no decision was late."""
        return self.frames / self.clock_seconds if self.frames else 0.0

    @property
    def ended(self) -> str:
        """Why it ended: as in `Episode`, or "stopped"."""
        over = self.episode.ended == "game over"
        return "stopped" if self.stopped and not over else self.episode.ended

    def fields(self) -> dict[str, Any]:
        """Return what an episode file says besides the episode."""
        return {
            "ended": self.ended,
            "calls_by_decision": self.calls,
            "seconds_by_decision": [round(seconds, 6) for seconds in self.seconds],
            "real_time": self.pace is not None,
            "late_seconds": [round(seconds, 6) for seconds in self.late],
            "frames_per_second": self.frames_per_second if self.frames else None,
        }


def play(
    planner: Planner,
    simulator: Simulator,
    limits: Decisions,
    played: Played,
    *,
    seed: int,
    max_actions: int,
    observer: Observer | None = None,
    clock: Clock | None = None,
) -> None:
    """Play from reset to game over, the most actions or Ctrl-C, and note it in `played`.

    With a pace, each decision has the time that is left of the current action, less the margin,
    and the limits of decisions besides. A late decision delays the game, and is noted. The
    observer is told of a decision when its action begins, and must take no time.
    """
    AT_LEAST_ONE.check("max_actions", max_actions)
    watch = observer or Observer()
    game = _Game(planner, limits, max_actions, played, watch, clock or Clock())
    began = game.clock.now()
    try:
        if played.pace is not None:
            _warm_up(planner, simulator, seed)
        planner.start(simulator, seed)
        if played.pace is None:
            game.as_it_goes()
        else:
            game.in_real_time(played.pace)
    except KeyboardInterrupt:
        played.stopped = True
    episode = played.episode
    # An interruption may have come in the middle of a note.
    count = min(len(episode.actions), len(episode.rewards), len(episode.values))
    for notes in (episode.actions, episode.rewards, episode.values):
        del notes[count:]
    episode.take_counts(planner.ledger, game.clock.now() - began)


def _warm_up(planner: Planner, simulator: Simulator, seed: int) -> None:
    """Play two actions, so that processes are started and code is loaded when the clock starts."""
    planner.start(simulator, seed)
    for _ in range(2):
        if not planner.over:
            planner.advance(planner.decide(WARM_UP_CALLS).action)


@dataclass(frozen=True, slots=True)
class _Game:
    """A play under way."""

    planner: Planner
    limits: Decisions
    max_actions: int
    played: Played
    observer: Observer
    clock: Clock

    def as_it_goes(self) -> None:
        """Decide, act, and so on: the game waits."""
        while self._goes_on:
            decision = self._decide(None)
            self._do(decision, self.clock.now())

    def in_real_time(self, pace: Pace) -> None:
        """Decide the next action while one is held."""
        played, clock = self.played, self.clock
        decision = self._decide(pace.period)
        began = first = clock.now()
        while True:
            self._do(decision, began)
            ends = began + pace.period
            if self._goes_on:
                decision = self._decide(max(LEAST_SECONDS, ends - pace.margin - clock.now()))
                late = clock.now() - ends
                if late > 0:
                    played.late.append(late)
            began = self._wait_until(ends)
            played.clock_seconds = began - first
            played.frames += pace.frames
            if not self._goes_on:
                return

    @property
    def _goes_on(self) -> bool:
        return not self.planner.over and len(self.played.episode.actions) < self.max_actions

    def _decide(self, seconds: float | None) -> Decision:
        """Decide within some seconds, or fewer where the limits say so."""
        played, limits = self.played, self.limits
        given = [limit for limit in (seconds, limits.seconds_per_action) if limit is not None]
        began = self.clock.now()
        decision = self.planner.decide(limits.calls_per_action, min(given, default=None))
        played.seconds.append(self.clock.now() - began)
        played.calls.append(decision.calls)
        played.episode.exhausted += decision.stopped == "exhausted"
        return decision

    def _do(self, decision: Decision, began: float) -> None:
        """Do the action of a decision, which begins at a time of the clock."""
        episode = self.played.episode
        self.played.began = began
        self.observer.on_decision(self.planner, decision, episode)
        step = self.planner.advance(decision.action)
        episode.actions.append(decision.action)
        episode.rewards.append(step.reward)
        episode.values.append(decision.values)
        episode.lives = step.lives
        if step.terminal:
            episode.ended = "game over"

    def _wait_until(self, ends: float) -> float:
        """Wait for the end of a period; return when the next one begins: then, or now if late.

        What a wait takes too long is taken off the next one, so that the game does not fall behind.
        """
        now = self.clock.now()
        if now < ends:
            self.clock.sleep(ends - now)
        return max(now, ends)
