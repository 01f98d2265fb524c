"""An episode as it is shown: the planner's state between and within decisions, as messages."""

from collections.abc import Callable
from contextlib import ExitStack
from time import perf_counter
from typing import Any, final

from olive_iw.features.binary_vae import BinaryVae
from olive_iw.planners import Decision, Planner
from olive_iw.simulators.base import Step
from olive_iw.viewer.bookmarks import Bookmarks, PastMoment
from olive_iw.viewer.controls import SPEEDS
from olive_iw.viewer.episode_source import EpisodeSource, Footage
from olive_iw.viewer.node_details import node_details
from olive_iw.viewer.page_messages import Match, Message, Moment, Picture, Setup
from olive_iw.viewer.pictures import aspect, network_view, screen_address
from olive_iw.viewer.search_recorder import STATUSES, SearchRecorder
from olive_iw.viewer.tree_view import TreeSender, recorded_actions, root_actions


@final
class ShownEpisode:
    """A source, and where it stands: before, within or after the search of a decision."""

    def __init__(self, source: EpisodeSource, on_step: Callable[[], None]) -> None:
        self.source = source
        self.decision = 0
        self.decided: Decision | bool = False
        """The decision made at the current root; True where it was only recorded."""
        self.over = False
        self._on_step = on_step
        self._score = 0.0
        self._seconds = 0.0
        self._seconds_before = 0.0
        self._calls_before = 0
        self._resumed = perf_counter()
        self._difference = ""
        self._sender = TreeSender()
        self._pictured = -1
        self._footage = None if source.record is None else Footage(source.record)
        self._bookmarks = Bookmarks()
        self._recorder: SearchRecorder | None = None
        self._watching = ExitStack()
        if source.planner is not None:
            self._recorder = SearchRecorder(source.planner, self._step)
            self._watching.enter_context(source.planner.watched_by(self._recorder))
            source.planner.start(source.simulator, source.seed)
            self._remember()

    def close(self) -> None:
        """Look on no longer."""
        self._watching.close()

    @property
    def _planner(self) -> Planner:
        assert self.source.planner is not None, "only asked where there are trees"
        return self.source.planner

    @property
    def root(self) -> Step:
        """What the current root shows."""
        if self._recorder is not None:
            return self._planner.root
        assert self._footage is not None, "an episode without trees was recorded"
        return self._footage.at(self.decision)

    def possible(self, decision: int) -> int:
        """Return the nearest decision that there is."""
        total = self.source.total
        return decision if total is None else max(0, min(decision, total - 1))

    # Going on, and back

    def decide(self) -> None:
        """Search from the current root; `on_step` may interrupt it by an exception."""
        if self._recorder is None:
            self.decided = True
            return
        planner, source = self._planner, self.source
        calls = source.calls_per_action
        if source.max_calls is not None:
            calls = max(1, min(calls, source.max_calls - planner.ledger.calls))
        self._recorder.begin()
        self._seconds_before, self._calls_before = self._seconds, planner.ledger.calls
        self._resumed = perf_counter()
        made = planner.decide(calls)
        self._seconds += perf_counter() - self._resumed
        self.decided = made
        recorded = source.recorded_action(self.decision)
        if recorded not in (None, made.action) and not self._difference:
            names = source.simulator.action_names
            self._difference = (
                f"decision {self.decision} chose {names[made.action]}, but {names[recorded or 0]} "
                "was recorded; from there on the recorded actions are followed"
            )

    def advance(self) -> None:
        """Do the action for good: the recorded one, where there is a record."""
        action = self.source.recorded_action(self.decision)
        if self._recorder is not None:
            if action is None:
                assert isinstance(self.decided, Decision), "a live play acts after deciding"
                action = self.decided.action
            step = self._planner.advance(action)
            self._recorder.begin()
            self._calls_before, self._seconds_before = self._planner.ledger.calls, self._seconds
        else:
            assert self._footage is not None, "an episode without trees was recorded"
            step = self._footage.at(self.decision + 1)
        self._check_reward(step)
        self._score += step.reward
        self.decision += 1
        self.decided = False
        self.over = step.terminal or self.decision == self.source.total
        self._remember()

    def return_before(self, decision: int) -> None:
        """Go back (or on) to the nearest remembered moment that is not after a decision."""
        if self._recorder is None:
            self._jump(decision)
            return
        moment, known = self._bookmarks.before(decision)
        at_once = self.decision <= decision and self.decision >= moment and not self._searching
        if at_once and not self.decided and not self.over:
            return
        self._planner.return_to(known.bookmark)
        self.decision, self._score, self._seconds = moment, known.score, known.seconds
        self._seconds_before, self._calls_before = self._seconds, known.bookmark.ledger.calls
        self._difference = known.difference
        self.decided, self.over = False, self._planner.over
        self._recorder.begin()
        self._sender.forget()

    @property
    def _searching(self) -> bool:
        return self._recorder is not None and self._recorder.steps > 0 and not self.decided

    def _jump(self, decision: int) -> None:
        assert self.source.record is not None, "an episode without trees was recorded"
        self.decision, self.decided, self.over = decision, False, False
        self._score = float(sum(self.source.record.rewards[:decision]))

    def _remember(self) -> None:
        if self._recorder is not None and self.decision not in self._bookmarks:
            moment = PastMoment(
                self._planner.bookmark(), self._score, self._seconds, self._difference
            )
            self._bookmarks.keep(self.decision, moment)

    def _check_reward(self, step: Step) -> None:
        record = self.source.record
        if record is None or self._difference:
            return
        expected = record.rewards[self.decision]
        if step.reward != expected:
            self._difference = (
                f"action {self.decision} gave a reward of {step.reward:g}, but {expected:g} was "
                "recorded: the game itself went another way"
            )

    def _step(self) -> None:
        self._seconds += perf_counter() - self._resumed
        self._on_step()
        self._resumed = perf_counter()

    # What the page is told

    def setup(self) -> Setup:
        """Say what is shown."""
        source = self.source
        return Setup(
            live=source.record is None,
            game=source.game,
            algorithm=source.spec.algorithm,
            profile=source.spec.profile,
            seed=source.spec.seed,
            calls_per_action=source.calls_per_action,
            actions=list(source.simulator.action_names),
            aspect=aspect(source.simulator, self.root),
            statuses=STATUSES,
            speeds=[speed.title for speed in SPEEDS],
            trees=source.planner is not None,
            why_no_trees=source.why_no_trees,
            run=source.run,
            episode=source.episode,
            total=source.total,
        )

    def preview(self, decision: int) -> list[Message]:
        """Say at once what is known of a decision while its tree is being recomputed."""
        if self._recorder is None or decision - self.decision < 2:
            return []
        self._pictured = -1
        if self._footage is None or self.source.record is None:
            return [Moment(decision, "recomputing", score=None, lives=None)]
        step = self._footage.at(decision)
        score = float(sum(self.source.record.rewards[:decision]))
        image = screen_address(self._footage.simulator, step)
        return [Moment(decision, "recomputing", score, step.lives), Picture(decision, image)]

    def frame(self) -> list[Message]:
        """Everything that may have changed; the tree as changes."""
        messages: list[Message] = [self._moment()]
        if self._pictured != self.decision:
            self._pictured = self.decision
            messages += self._pictures()
        recorded = self.source.recorded_action(self.decision)
        if self._recorder is not None:
            chosen = self.decided.action if isinstance(self.decided, Decision) else None
            entries = self._recorder.entries
            messages.append(self._sender.change(self._planner, entries, self.decision, chosen))
            messages.append(root_actions(self._planner.tree, self.decision, chosen, recorded))
        elif self.source.record is not None:
            messages.append(recorded_actions(self.source.record, self.decision))
        messages.append(self._match())
        return messages

    def _pictures(self) -> list[Message]:
        simulator = self.source.simulator
        if self._recorder is None and self._footage is not None:
            simulator = self._footage.simulator
        messages: list[Message] = [Picture(self.decision, screen_address(simulator, self.root))]
        features = None if self._recorder is None else self._planner.features
        if isinstance(features, BinaryVae):
            messages.append(network_view(features, simulator, self.root, self.decision))
        return messages

    def _moment(self) -> Moment:
        stage = "over" if self.over else "decided" if self.decided else "searching"
        calls = rollouts = nodes = 0
        if self._recorder is None:
            stage = "over" if self.over else "shown"
        else:
            calls, nodes = self._planner.ledger.calls, self._planner.tree.size
            rollouts = self._recorder.steps
        return Moment(
            self.decision,
            stage,
            score=self._score,
            lives=self.root.lives,
            calls=calls,
            calls_of_decision=calls - self._calls_before,
            seconds=round(self._seconds, 3),
            seconds_of_decision=round(self._seconds - self._seconds_before, 3),
            rollouts=rollouts,
            nodes=nodes,
        )

    def _match(self) -> Match:
        if self.source.record is None or self._recorder is None:
            return Match("none", "")
        if self._difference:
            return Match("differs", f"No longer what was recorded: {self._difference}.")
        return Match("matches", "Recomputed from the recorded seed; every decision matches so far.")

    def node(self, decision: int, node: int) -> dict[str, Any] | None:
        """Details of a node for a page that points at it; None if it is no longer there."""
        if self._recorder is None or decision != self.decision:
            return None
        if node >= self._planner.tree.size:
            return None
        details = node_details(self._planner, self._recorder.entries, self.source.simulator, node)
        return {"decision": decision, **details}
