"""Recorded episodes shown from their actions alone, without planning."""

from typing import Any, final

from olive_iw.runs.records import EpisodeRecord
from olive_iw.runs.replay import begin, simulator_of
from olive_iw.simulators.base import Step
from olive_iw.viewer.node_details import numbers, screen_address
from olive_iw.viewer.page_messages import Match, Message, Moment, RootActions, RootScreen
from olive_iw.viewer.run_library import EpisodeSource

STATE_EVERY = 32
"""A recorded episode is walked again from one of every so many states."""


@final
class Footage:
    """Steps of a recorded episode at any decision."""

    def __init__(self, record: EpisodeRecord) -> None:
        self.simulator = simulator_of(record)
        self._record = record
        first = begin(record, self.simulator)
        self._known: dict[int, tuple[Step, Any]] = {0: (first, self.simulator.save())}
        """By decision: the step before it, and the simulator's state."""
        self._end = len(record.actions)

    def at(self, decision: int) -> Step:
        """Return what the root of a decision showed; the last step if the game ended before."""
        decision = min(decision, self._end)
        near = max(known for known in self._known if known <= decision)
        step, state = self._known[near]
        self.simulator.restore(state)
        for place in range(near + 1, decision + 1):
            step = self.simulator.step(self._record.actions[place - 1])
            if step.terminal:
                self._end = place
                return step
            if place % STATE_EVERY == 0:
                self._known[place] = step, self.simulator.save()
        return step

    def messages(self, decision: int, stage: str) -> list[Message]:
        """Say what the root of a decision showed."""
        step, score = self.at(decision), float(sum(self._record.rewards[:decision]))
        root = RootScreen(screen_address(self.simulator, step), numbers(self.simulator, step))
        return [Moment(decision, stage, score, step.lives), root]


@final
class ShownRecord:
    """A recorded episode as it is shown without trees, its features being gone."""

    def __init__(self, source: EpisodeSource) -> None:
        assert source.record is not None, "an episode without trees was recorded"
        self.source = source
        self._record = source.record
        self._footage = Footage(source.record)
        self.return_before(0)

    def close(self) -> None:
        """Do nothing: there is nothing to give back."""

    @property
    def root(self) -> Step:
        """What the current root shows."""
        return self._footage.at(self.decision)

    def decide(self) -> None:
        """Take the decision as recorded."""
        self.decided = True

    def advance(self) -> None:
        """Go on to the next decision."""
        self.return_before(self.decision + 1)
        self.over = self.root.terminal or self.decision == self.source.total

    def return_before(self, decision: int) -> None:
        """Go to a decision."""
        self.decision, self.decided, self.over = decision, False, False

    def preview(self, decision: int) -> list[Message]:
        """Say nothing: no decision has to be waited for."""
        return []

    def node(self, decision: int, node: int) -> None:
        """Say nothing: there is no tree."""

    def frame(self) -> list[Message]:
        """Everything that may have changed, with the values that were recorded."""
        shown = self._footage.messages(self.decision, "over" if self.over else "shown")
        values, recorded = self._record.values, self.source.recorded_action(self.decision)
        count = self._footage.simulator.action_count
        unknown = [None] * count
        known = unknown if values is None or recorded is None else list(values[self.decision])
        actions = RootActions([0] * count, unknown, unknown, known, chosen=None, recorded=recorded)
        return [*shown, actions, Match("none", "")]
