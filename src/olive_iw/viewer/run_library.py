"""Run folders as the viewer opens them: by an id that is looked up, never by a path from outside.

Trees of an episode are recomputed, so the features it was planned with must still be there: those
of evaluation episodes are in the checkpoint, those of training episodes were trained further and
are gone, unless they were not learned at all.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

from olive_iw.agents.base import EVALUATION, TRAINING
from olive_iw.agents.planning import collection_planner
from olive_iw.algorithms import build_agent, load_agent
from olive_iw.errors import InputError
from olive_iw.planners import Planner
from olive_iw.randomness import child_seed
from olive_iw.runs.events import TrainingEpisodeDone
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.runs.records import EpisodeRecord
from olive_iw.runs.replay import simulator_of
from olive_iw.simulators import Simulator
from olive_iw.viewer.episode_source import EpisodeSource

GONE = (
    "This training episode was planned with features that have been trained further since: "
    "it is replayed from its actions, without trees."
)
UNTRAINED = "The run has no finished checkpoint to plan with: no trees."


@dataclass(frozen=True, slots=True)
class Planning:
    """How an episode was planned."""

    planner: Planner | None
    seed: int = 0
    max_calls: int | None = None
    why_no_trees: str = ""


@final
class WatchedRun:
    """One run's folder, read only."""

    def __init__(self, folder: RunFolder) -> None:
        self.name = folder.name
        self.folder = folder
        self.config = folder.config()

    @property
    def learns(self) -> bool:
        """Whether the run has a training."""
        return self.config.spec.learns

    def first_episode(self) -> str:
        """Id of the episode to show first."""
        names = list(self.folder.episode_files())
        if not names:
            raise InputError(f"the run {self.name} has no finished episode yet")
        return names[0]

    def source(self, episode: str) -> EpisodeSource:
        """Return an episode, to be replayed."""
        if episode not in self.folder.episode_files():
            raise InputError(f"the run {self.name} has no episode {episode!r}")
        record = self.folder.read_episode(episode)
        simulator = simulator_of(record)
        planning = self._planning(record, simulator)
        return EpisodeSource(
            self.config.game,
            self.config.spec,
            simulator,
            planning.planner,
            seed=planning.seed,
            calls_per_action=self.config.spec.options.calls_per_action,
            max_calls=planning.max_calls,
            record=record,
            why_no_trees=planning.why_no_trees,
            run=self.name,
            episode=episode,
        )

    def _planning(self, record: EpisodeRecord, simulator: Simulator) -> Planning:
        spec, number = self.config.spec, record.episode
        if record.phase == "training":
            return self._training_planning(number, simulator)
        seed = child_seed(spec.seed, EVALUATION, number)
        if not self.learns:
            return Planning(build_agent(spec, "cpu").planner, seed)
        try:
            agent = load_agent(self.folder.checkpoint_path, "cpu")
        except InputError:
            return Planning(None, why_no_trees=UNTRAINED)
        return Planning(agent.planner, seed)

    def _training_planning(self, number: int, simulator: Simulator) -> Planning:
        """Say how a training episode was planned: the collecting ones need no network."""
        config, spec = self.config, self.config.spec
        learning = spec.parts.learning
        if learning == "offline":
            spent = self._calls_before(number)
            if spent is None:
                return Planning(None, why_no_trees="The run's events lack the calls spent before.")
            seed = child_seed(spec.seed, TRAINING, number)
            left = config.training_calls - spent
            return Planning(collection_planner(simulator, spec.options), seed, left)
        if number == 0:
            share = max(1, round(config.training_calls * spec.options.first_share))
            seed = child_seed(spec.seed, TRAINING, 0, 0)
            return Planning(collection_planner(simulator, spec.options), seed, share)
        return Planning(None, why_no_trees=GONE)

    def _calls_before(self, number: int) -> int | None:
        if number == 0:
            return 0
        events = self.folder.events(TrainingEpisodeDone)
        spent = {event.number: event.calls_spent for event in events}
        return spent.get(number - 1)


@final
class RunLibrary:
    """All runs below a folder, by id."""

    def __init__(self, root: Path) -> None:
        found: dict[str, WatchedRun] = {}
        self.warnings: list[str] = []
        """Runs that cannot be read, a line each."""
        for folder in find_runs(root):
            try:
                found[folder.name] = WatchedRun(folder)
            except InputError as error:
                self.warnings.append(str(error))
        if not found and self.warnings:
            raise InputError(f"{root} holds no run that can be read: {self.warnings[0]}")
        if not found:
            raise InputError(
                f"{root} holds no run; give a game, such as breakout, or a run's folder, such as "
                "runs/breakout/olive-laptop/seed-0"
            )
        self.runs = found

    def first_source(self) -> EpisodeSource | None:
        """Return the first episode of all runs that can be opened; None if there is none yet."""
        for run in self.runs.values():
            for episode in run.folder.episode_files():
                with suppress(InputError):
                    return run.source(episode)
        return None

    def run(self, name: str) -> WatchedRun:
        """Look a run up by its id."""
        if name not in self.runs:
            raise InputError(f"there is no run {name!r} here")
        return self.runs[name]
