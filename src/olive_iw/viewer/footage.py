"""Recorded episodes shown from their actions alone, without planning."""

from typing import Any, final

from olive_iw.runs.records import EpisodeRecord
from olive_iw.runs.replay import simulator_of
from olive_iw.simulators.base import Step
from olive_iw.viewer.episode_source import EpisodeSource
from olive_iw.viewer.page_messages import Match, Message, Moment, RootActions, RootScreen
from olive_iw.viewer.pictures import screen_address

STATE_EVERY = 32
"""A recorded episode is walked again from one of every so many states."""


@final
class Footage:
    """Steps of a recorded episode at any decision."""

    def __init__(self, record: EpisodeRecord) -> None:
        self.simulator = simulator_of(record)
        self._actions = record.actions
        self._steps: dict[int, Step] = {0: self.simulator.reset()}
        self._states: dict[int, Any] = {0: self.simulator.save()}
        self._end = len(self._actions)

    def at(self, decision: int) -> Step:
        """Return what the root of a decision showed; the last step if the game ended before."""
        decision = min(decision, self._end)
        near = max(known for known in self._states if known <= decision)
        step = self._steps[near]
        self.simulator.restore(self._states[near])
        for place in range(near, decision):
            step = self.simulator.step(self._actions[place])
            if step.terminal:
                self._end = place + 1
                return step
            if (place + 1) % STATE_EVERY == 0:
                self._states[place + 1], self._steps[place + 1] = self.simulator.save(), step
        return step


@final
class ShownRecord:
    """A recorded episode as it is shown without trees, its features being gone."""

    def __init__(self, source: EpisodeSource) -> None:
        assert source.record is not None, "an episode without trees was recorded"
        self.source = source
        self.decision = 0
        self.decided = False
        self.over = False
        self._record = source.record
        self._footage = Footage(source.record)

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

    def frame(self) -> list[Message]:
        """Everything that may have changed."""
        decision, root = self.decision, self.root
        score = float(sum(self._record.rewards[:decision]))
        return [
            Moment(decision, "over" if self.over else "shown", score, root.lives),
            RootScreen(screen_address(self._footage.simulator, root)),
            self._actions(),
            Match("none", ""),
        ]

    def node(self, decision: int, node: int) -> None:
        """Say nothing: there is no tree."""

    def _actions(self) -> RootActions:
        """Read the values that were recorded with the decision."""
        record, recorded = self._record, self.source.recorded_action(self.decision)
        count = self._footage.simulator.action_count
        values: list[float | None] = [None] * count
        if record.values is not None and recorded is not None:
            values = list(record.values[self.decision])
        unknown = [None] * count
        return RootActions([0] * count, unknown, unknown, values, chosen=None, recorded=recorded)
