"""An episode as it is shown: the planner's state between and within decisions, as messages."""

from collections.abc import Callable
from contextlib import ExitStack
from time import perf_counter
from typing import Any, TypeAlias, final

from olive_iw.features.binary_vae import BinaryVae
from olive_iw.planners import Decision, Planner
from olive_iw.simulators.base import Step
from olive_iw.viewer.bookmarks import Bookmarks, PastMoment
from olive_iw.viewer.episode_source import EpisodeSource
from olive_iw.viewer.footage import Footage, ShownRecord
from olive_iw.viewer.node_details import node_details
from olive_iw.viewer.page_messages import Match, Message, Moment, RootScreen
from olive_iw.viewer.pictures import network_view, screen_address
from olive_iw.viewer.search_recorder import SearchRecorder
from olive_iw.viewer.tree_view import TreeSnapshot, root_actions


@final
class ShownEpisode:
    """A planner in an episode, and where it stands: before, within or after a search."""

    def __init__(
        self, source: EpisodeSource, planner: Planner, between: Callable[[], None]
    ) -> None:
        """`between` is called between rollouts; it may end the search by an exception."""
        self.source = source
        self.decision = 0
        self.made: Decision | None = None
        """The decision at the current root, once it is made."""
        self.over = False
        self._planner = planner
        self._between = between
        self._score = 0.0
        self._seconds = 0.0
        self._resumed = 0.0
        self._difference = ""
        self._visits = 0
        self._pictured = -1
        self._footage = None if source.record is None else Footage(source.record)
        self._bookmarks = Bookmarks()
        self._recorder = SearchRecorder(planner, self._step)
        self._watching = ExitStack()
        self._watching.enter_context(planner.watched_by(self._recorder))
        planner.start(source.simulator, source.planning.seed)
        self._arrive()

    def close(self) -> None:
        """Look on no longer."""
        self._watching.close()
        self._planner.close()

    @property
    def decided(self) -> bool:
        """Whether the current root was searched to the end."""
        return self.made is not None

    @property
    def root(self) -> Step:
        """What the current root shows."""
        return self._planner.root

    # Going on, and back

    def decide(self) -> None:
        """Search from the current root; `between` may interrupt it by an exception."""
        self._begun = True
        self._recorder.begin()
        self._resumed = perf_counter()
        self.made = self._planner.decide(self.source.calls_of_decision(self._planner.ledger.calls))
        self._seconds += perf_counter() - self._resumed
        recorded, action = self.source.recorded_action(self.decision), self.made.action
        if recorded is not None and recorded != action and not self._difference:
            names = self.source.simulator.action_names
            self._difference = (
                f"decision {self.decision} chose {names[action]}, but {names[recorded]} was "
                "recorded; from there on the recorded actions are followed"
            )

    def advance(self) -> None:
        """Do the action for good: the recorded one, where there is a record."""
        assert self.made is not None, "an action follows a decision"
        action = self.source.recorded_action(self.decision)
        step = self._planner.advance(self.made.action if action is None else action)
        self._check_reward(step)
        self._score += step.reward
        self.decision += 1
        self.over = step.terminal or self.decision == self.source.total
        self._arrive()

    def return_before(self, decision: int) -> None:
        """Go back (or on) to the nearest remembered moment that is not after a decision."""
        moment, known = self._bookmarks.before(decision)
        if moment <= self.decision <= decision and not (self._begun or self.over):
            return
        self._planner.return_to(known.bookmark)
        self.decision, self.over = moment, self._planner.over
        self._score, self._difference = known.score, known.difference
        self._visits += 1
        self._arrive()

    def _arrive(self) -> None:
        """Stand before a decision: remember the moment, or be as it is remembered."""
        self.made, self._begun = None, False
        self._recorder.begin()
        if self.decision not in self._bookmarks:
            now = self._planner.bookmark(), self._score, self._seconds, self._difference
            self._bookmarks.keep(self.decision, PastMoment(*now))
        _, self._arrived = self._bookmarks.before(self.decision)
        self._seconds = self._arrived.seconds

    def _check_reward(self, step: Step) -> None:
        record = self.source.record
        if record is not None and step.reward != record.rewards[self.decision]:
            expected = record.rewards[self.decision]
            self._difference = self._difference or (
                f"action {self.decision} gave a reward of {step.reward:g}, but {expected:g} was "
                "recorded: the game itself went another way"
            )

    def _step(self) -> None:
        self._seconds += perf_counter() - self._resumed
        self._between()
        self._resumed = perf_counter()

    # What the page is told

    def preview(self, decision: int) -> list[Message]:
        """Say at once what is known of a decision while its tree is being recomputed."""
        if decision - self.decision < 2:
            return []
        self._pictured = -1
        if self._footage is None or self.source.record is None:
            return [Moment(decision, "recomputing", score=None, lives=None)]
        step = self._footage.at(decision)
        score = float(sum(self.source.record.rewards[:decision]))
        image = screen_address(self._footage.simulator, step)
        return [Moment(decision, "recomputing", score, step.lives), RootScreen(image)]

    def frame(self) -> list[Message | TreeSnapshot]:
        """Everything that may have changed."""
        planner, decision = self._planner, self.decision
        chosen = None if self.made is None else self.made.action
        recorded = self.source.recorded_action(decision)
        messages: list[Message | TreeSnapshot] = [self._moment()]
        if self._pictured != decision:
            self._pictured = decision
            messages += self._pictures()
        messages += [
            TreeSnapshot.of(planner, self._recorder.entries, decision, self._visits, chosen),
            root_actions(planner.tree, chosen, recorded),
            self._match(),
        ]
        return messages

    def _pictures(self) -> list[Message]:
        simulator, features = self.source.simulator, self._planner.features
        messages: list[Message] = [RootScreen(screen_address(simulator, self.root))]
        if isinstance(features, BinaryVae):
            messages.append(network_view(features, simulator, self.root))
        return messages

    def _moment(self) -> Moment:
        now, before = self._planner.ledger, self._arrived.bookmark.ledger
        spent = {
            name: getattr(now.counters, name) - getattr(before.counters, name)
            for name in ("twins", "pruned_new", "unused_calls")
        }
        return Moment(
            self.decision,
            stage="over" if self.over else "decided" if self.decided else "searching",
            score=self._score,
            lives=self.root.lives,
            calls=now.calls,
            calls_of_decision=now.calls - before.calls,
            seconds=round(self._seconds, 3),
            seconds_of_decision=round(self._seconds - self._arrived.seconds, 3),
            rollouts=self._recorder.steps,
            nodes=self._planner.tree.size,
            ties=0 if self.made is None else self.made.ties,
            **spent,
        )

    def _match(self) -> Match:
        if self.source.record is None:
            return Match("none", "")
        if self._difference:
            return Match("differs", f"No longer what was recorded: {self._difference}.")
        return Match("matches", "Recomputed from the recorded seed; every decision matches so far.")

    def node(self, decision: int, node: int) -> dict[str, Any] | None:
        """Details of a node for a page that points at it; None if it is no longer there."""
        if decision != self.decision or node >= self._planner.tree.size:
            return None
        return node_details(self._planner, self._recorder.entries, self.source.simulator, node)


Shown: TypeAlias = ShownEpisode | ShownRecord


def shown_of(source: EpisodeSource, between: Callable[[], None]) -> Shown:
    """Show an episode, with trees where there is a planner to grow them."""
    planner = source.planning.planner
    return ShownRecord(source) if planner is None else ShownEpisode(source, planner, between)
