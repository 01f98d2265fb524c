"""Run folders as the viewer opens them: by an id that is looked up, never by a path from outside.

Trees of an episode are recomputed, so the features it was planned with must still be there: those
of evaluation episodes are in the checkpoint, those of training episodes were trained further and
are gone, unless they were not learned at all.
"""

from contextlib import suppress
from pathlib import Path
from typing import final

from olive_iw.agents import Planning
from olive_iw.algorithms import build_agent, load_agent
from olive_iw.errors import InputError
from olive_iw.runs.events import TrainingEpisodeDone
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.runs.records import EpisodeRecord, read_episode
from olive_iw.runs.replay import simulator_of
from olive_iw.simulators import Simulator
from olive_iw.viewer.episode_source import EpisodeSource


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
            why_no_trees=planning.why_not,
            run=self.name,
            episode=episode,
        )

    def _planning(self, record: EpisodeRecord, simulator: Simulator) -> Planning:
        """Say how an episode was planned, as far as the run's checkpoint still knows it."""
        agent = build_agent(self.config.spec, "cpu")
        if record.phase == "evaluation" and self.learns:
            try:
                agent = load_agent(self.folder.checkpoint_path, "cpu")
            except InputError as error:
                return Planning(None, why_not=f"The run's checkpoint cannot be read: {error}.")
        before = self._calls_before(record) if record.phase == "training" else 0
        if before is None:
            return Planning(None, why_not="The run does not say what calls were spent before.")
        calls = self.config.training_calls
        number, game = record.episode, record.game_number
        return agent.planning_of(record.phase, number, simulator, before, calls, game)

    def _calls_before(self, record: EpisodeRecord) -> int | None:
        """Training calls that were spent when a training episode, or a game of it, began."""
        before = 0
        if record.episode > 0:
            events = self.folder.events(TrainingEpisodeDone)
            spent = {event.number: event.calls_spent for event in events}
            if record.episode - 1 not in spent:
                return None
            before = spent[record.episode - 1]
        for game in range(record.game_number):
            path = self.folder.episode_path("training", record.episode, game)
            before += read_episode(path).calls
        return before


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
