"""What is watched: an episode that is being played, or one that was recorded."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from olive_iw.agents import Spec
from olive_iw.agents.base import EVALUATION
from olive_iw.planners import Planner
from olive_iw.randomness import child_seed
from olive_iw.runs.records import EpisodeRecord
from olive_iw.runs.replay import simulator_of
from olive_iw.simulators import Simulator, make_simulator
from olive_iw.simulators.base import Step
from olive_iw.tools.players import saved_agent, untrained_agent

STATE_EVERY = 32
"""A recorded episode is walked again from one of every so many states."""


@dataclass(frozen=True, slots=True)
class EpisodeSource:
    """One episode to watch, with all that it takes to plan it."""

    game: str
    spec: Spec
    simulator: Simulator
    planner: Planner | None
    """None where the features it was planned with are gone."""
    seed: int
    """Of the planner."""
    calls_per_action: int
    max_calls: int | None = None
    """Calls the whole episode might spend."""
    record: EpisodeRecord | None = None
    """What was played; None when live."""
    why_no_trees: str = ""
    run: str = ""
    episode: str = ""

    @property
    def total(self) -> int | None:
        """Decisions that were recorded."""
        return None if self.record is None else len(self.record.actions)

    def recorded_action(self, decision: int) -> int | None:
        """Return the action that was done for good at a decision."""
        if self.record is None or decision >= len(self.record.actions):
            return None
        return int(self.record.actions[decision])


def live_source(
    game: str, spec: Spec, agent: Path | None, calls_per_action: int | None = None
) -> EpisodeSource:
    """Play a game with an algorithm that needs no training, or with a saved agent.

    The play is that of the run's first evaluation episode with the same seed. Without
    `calls_per_action` it is the specification's, or the agent's.
    """
    playing = untrained_agent(spec) if agent is None else saved_agent(agent)
    return _live(game, playing.spec, playing.planner, calls_per_action)


def _live(game: str, spec: Spec, planner: Planner, calls_per_action: int | None) -> EpisodeSource:
    if calls_per_action is not None:
        spec = replace(spec, options=replace(spec.options, calls_per_action=calls_per_action))
    return EpisodeSource(
        game,
        spec,
        make_simulator(game),
        planner,
        seed=child_seed(spec.seed, EVALUATION, 0),
        calls_per_action=spec.options.calls_per_action,
    )


@final
class Footage:
    """Steps of a recorded episode at any decision, from its actions alone."""

    def __init__(self, record: EpisodeRecord) -> None:
        self.simulator = simulator_of(record)
        self._actions = record.actions
        self._steps: dict[int, Step] = {0: self.simulator.reset()}
        self._states: dict[int, Any] = {0: self.simulator.save()}
        self._end = len(self._actions)

    def at(self, decision: int) -> Step:
        """Return what the root of a decision showed; the last step if the game ended before."""
        decision = min(decision, self._end)
        if decision in self._steps:
            return self._steps[decision]
        near = max(known for known in self._states if known <= decision)
        self.simulator.restore(self._states[near])
        step = self._steps[near]
        for place in range(near, decision):
            step = self.simulator.step(self._actions[place])
            if step.terminal:
                self._end = place + 1
                return step
            if (place + 1) % STATE_EVERY == 0 and place + 1 not in self._states:
                self._states[place + 1] = self.simulator.save()
                self._steps[place + 1] = step
        return step
