"""What is watched: an episode that is being played, or one that was recorded.

Trees of a recorded episode are recomputed, so the features it was planned with must still be
there: those of evaluation episodes are in the run's checkpoint, those of training episodes were
trained further and are gone, unless they were not learned at all.
"""

from dataclasses import dataclass

from olive_iw.agents import Agent, Planning, Spec
from olive_iw.algorithms import build_agent, load_agent
from olive_iw.errors import InputError
from olive_iw.runs.config import RunConfig
from olive_iw.runs.events import TrainingEpisodeDone
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.records import EpisodeRecord
from olive_iw.runs.replay import simulator_of
from olive_iw.simulators import Simulator, make_simulator


@dataclass(frozen=True, slots=True)
class EpisodeSource:
    """One episode to watch, with all that it takes to plan it."""

    game: str
    spec: Spec
    simulator: Simulator
    planning: Planning
    """How it is planned; without a planner it is shown without trees."""
    record: EpisodeRecord | None = None
    """What was played; None when live."""
    run: str = ""
    episode: str = ""

    @property
    def total(self) -> int | None:
        """Decisions that were recorded."""
        return None if self.record is None else len(self.record.actions)

    def nearest(self, decision: int) -> int:
        """Return the nearest decision that there is."""
        return decision if self.total is None else max(0, min(decision, self.total - 1))

    def recorded_action(self, decision: int) -> int | None:
        """Return the action that was done for good at a decision."""
        if self.record is None or decision >= len(self.record.actions):
            return None
        return int(self.record.actions[decision])

    def calls_of_decision(self, spent: int) -> int:
        """Return how many calls a decision may make after so many were `spent` in the episode."""
        calls, most = self.spec.options.calls_per_action, self.planning.max_calls
        return calls if most is None else max(1, min(calls, most - spent))


def live_source(game: str, agent: Agent) -> EpisodeSource:
    """Let an agent play a game: what it plays is its first evaluation episode."""
    planning = Planning(agent.planner, agent.spec.evaluation_seed(0))
    return EpisodeSource(game, agent.spec, make_simulator(game), planning)


def recorded_source(folder: RunFolder, episode: str) -> EpisodeSource:
    """Replay an episode of a run, by its id, such as evaluation-0000."""
    if episode not in folder.episode_files():
        raise InputError(f"the run {folder.name} has no episode {episode!r}")
    config, record = folder.config(), folder.read_episode(episode)
    simulator = simulator_of(record)
    planning = _planning(folder, config, record, simulator)
    return EpisodeSource(
        config.game, config.spec, simulator, planning, record, folder.name, episode
    )


def _planning(
    folder: RunFolder, config: RunConfig, record: EpisodeRecord, simulator: Simulator
) -> Planning:
    """Say how an episode was planned, as far as the run's checkpoint still knows it."""
    agent = build_agent(config.spec, "cpu")
    if record.phase == "evaluation" and config.spec.learns:
        try:
            agent = load_agent(folder.checkpoint(), "cpu")
        except InputError as error:
            return Planning(None, why_not=f"The run's checkpoint cannot be read: {error}.")
    before = _calls_before(folder, record) if record.phase == "training" else 0
    if before is None:
        return Planning(None, why_not="The run does not say what calls were spent before.")
    number, game = record.episode, record.game_number
    calls = config.training_calls
    return agent.planning_of(record.phase, number, simulator, before, calls, game)


def _calls_before(folder: RunFolder, record: EpisodeRecord) -> int | None:
    """Training calls that were spent when a training episode, or a game of it, began."""
    events = folder.events(TrainingEpisodeDone)
    spent = {-1: 0} | {event.number: event.calls_spent for event in events}
    if record.episode - 1 not in spent:
        return None
    paths = (
        folder.episode_path("training", record.episode, game) for game in range(record.game_number)
    )
    games = (folder.read_episode(path.stem).calls for path in paths)
    return spent[record.episode - 1] + sum(games)
