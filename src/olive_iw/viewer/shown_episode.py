"""An episode as it is shown: the planner's state between and within decisions, as messages."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeAlias, final

from olive_iw.features.vae import BinaryVae
from olive_iw.planners import Decision, Planner
from olive_iw.planners.base import Bookmark
from olive_iw.search.tree import ROOT
from olive_iw.simulators.base import Step
from olive_iw.viewer.exploring import explored
from olive_iw.viewer.footage import Footage, ShownRecord
from olive_iw.viewer.node_details import network_view, node_details, numbers, screen_address
from olive_iw.viewer.page_messages import Match, Message, Moment, RootScreen
from olive_iw.viewer.run_library import EpisodeSource
from olive_iw.viewer.search_view import SearchRecorder, TreeSnapshot, root_actions

MOST = 128
"""Moments kept to go back to."""
MOST_NODES = 8_000
"""Nodes of all their trees together; a node of an Atari game takes about 45 kB."""
RECENT = 16
"""Moments within so many decisions of the newest are all kept, or as many as MOST_NODES allows."""
COUNTED = ("twins", "skipped", "pruned_new", "unused_calls")
"""What the page is told of a decision, of the planner's counters."""


@dataclass(frozen=True, slots=True)
class PastMoment:
    """What brings a moment before a decision back."""

    bookmark: Bookmark
    score: float
    seconds: float
    difference: str
    """How the play had departed from its record by then."""


@final
class Bookmarks(dict[int, PastMoment]):
    """Moments by decision, a bounded number: recent ones, and every 1st, 2nd, 4th, … of all.

    What lies between two of them is recomputed from the nearest one before.
    """

    _every = 1

    @property
    def nodes(self) -> int:
        """Nodes of all trees that are kept."""
        return sum(moment.bookmark.tree.size for moment in self.values())

    def keep(self, decision: int, moment: PastMoment) -> None:
        """Keep the moment before a decision, at the cost of others once there are too many."""
        self[decision] = moment
        near = max(1, min(RECENT, MOST_NODES // (4 * moment.bookmark.tree.size)))
        while True:
            for known in list(self):
                if known % self._every and abs(known - decision) >= near:
                    del self[known]
            few = len(self) <= MOST and self.nodes <= MOST_NODES
            if few or self._every > max(self):  # or only the first and the nearest are left
                return
            self._every *= 2

    def before(self, decision: int) -> tuple[int, PastMoment]:
        """Return the nearest moment that is not after a decision, with its own decision."""
        nearest = max(known for known in self if known <= decision)
        return nearest, self[nearest]


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
        self._explored = -1, 0, False
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
        record, action = self.source.record, self.source.recorded_action(self.decision)
        step = self._planner.advance(self.made.action if action is None else action)
        expected = step.reward if record is None else record.rewards[self.decision]
        if step.reward != expected and not self._difference:
            self._difference = (
                f"action {self.decision} gave a reward of {step.reward:g}, but {expected:g} was "
                "recorded: the game itself went another way"
            )
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
        self._arrived = self._bookmarks[self.decision]
        self._seconds = self._arrived.seconds

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
        if self._footage is None:
            return [Moment(decision, "recomputing", score=None, lives=None)]
        return self._footage.messages(decision, "recomputing")

    def frame(self) -> list[Message | TreeSnapshot]:
        """Everything that may have changed."""
        planner, simulator, decision = self._planner, self.source.simulator, self.decision
        chosen = None if self.made is None else self.made.action
        messages: list[Message | TreeSnapshot] = [self._moment()]
        if self._pictured != decision:
            self._pictured = decision
            seen = planner.tree.seen[ROOT]
            observed = numbers(simulator, seen.step, planner.features, seen.atoms)
            messages.append(RootScreen(screen_address(simulator, seen.step), observed))
            if isinstance(planner.features, BinaryVae):
                messages.append(network_view(planner.features, simulator, self.root))
        messages += [
            TreeSnapshot.of(planner, self._recorder.entries, decision, self._visits, chosen),
            root_actions(planner.tree, chosen, self.source.recorded_action(decision)),
            self._match(),
        ]
        now = decision, self._visits, self.decided
        if self._explored != now:  # it is about nodes of the tree, and comes after it
            self._explored = now
            chose = self.made is not None and self.made.ties > 1
            found = explored(planner, simulator, decision, chose)
            messages += [] if found is None else [found]
        return messages

    def _moment(self) -> Moment:
        now, before = self._planner.ledger, self._arrived.bookmark.ledger
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
            **{
                name: getattr(now.counters, name) - getattr(before.counters, name)
                for name in COUNTED
            },
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
