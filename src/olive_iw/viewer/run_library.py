"""Run folders as the viewer opens them: by an id that is looked up, never by a path from outside.

Trees of an episode are recomputed, so the features it was planned with must still be there: those
of evaluation episodes are in the checkpoint, those of training episodes were trained further and
are gone, unless they were not learned at all.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from olive_iw.agents.base import EVALUATION, TRAINING
from olive_iw.agents.learning import collection_planner
from olive_iw.algorithms import ALGORITHMS, build_agent, load_agent
from olive_iw.errors import InputError
from olive_iw.planners import Planner
from olive_iw.randomness import child_seed
from olive_iw.runs import events
from olive_iw.runs.config import read_config
from olive_iw.runs.folder import RunStore
from olive_iw.runs.lock import is_locked
from olive_iw.runs.record import EpisodeRecord, read_episode
from olive_iw.runs.replay import simulator_of
from olive_iw.simulators import Simulator
from olive_iw.sweeps.export import run_folders
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
class RunFolder:
    """One run's folder, read only."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.store = RunStore(folder)
        self.config = read_config(self.store.config_path)

    @property
    def learns(self) -> bool:
        """Whether the run has a training."""
        return ALGORITHMS[self.config.spec.algorithm].learning != "none"

    @property
    def state(self) -> str:
        """Say whether the run is "done", "running" or "stopped"."""
        if self.store.finished:
            return "done"
        return "running" if is_locked(self.store.folder / "lock") else "stopped"

    def events(self, kind: str) -> list[dict[str, Any]]:
        """Events of episodes of a type, by number; one played twice counts as the later."""
        found = {
            int(event["number"]): event
            for event in events.read(self.store.events_path)
            if event["type"] == kind and "number" in event
        }
        return [found[number] for number in sorted(found)]

    def episode_files(self) -> dict[str, Path]:
        """Files of episodes by id, such as evaluation-0000: evaluation first."""
        found = sorted(self.store.episodes_path.glob("*-[0-9]*.json"))
        return {path.stem: path for path in found}

    def first_episode(self) -> str:
        """Id of the episode to show first."""
        names = list(self.episode_files())
        if not names:
            raise InputError(f"the run {self.name} has no finished episode yet")
        return names[0]

    def source(self, episode: str) -> EpisodeSource:
        """Return an episode, to be replayed."""
        files = self.episode_files()
        if episode not in files:
            raise InputError(f"the run {self.name} has no episode {episode!r}")
        record = read_episode(files[episode])
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
            agent = load_agent(self.store.checkpoint_path, "cpu")
        except InputError:
            return Planning(None, why_no_trees=UNTRAINED)
        return Planning(agent.planner, seed)

    def _training_planning(self, number: int, simulator: Simulator) -> Planning:
        """Say how a training episode was planned: the collecting ones need no network."""
        config, spec = self.config, self.config.spec
        learning = ALGORITHMS[spec.algorithm].learning
        if learning == "offline":
            spent = self._calls_before(number)
            if spent is None:
                return Planning(None, why_no_trees="The run's events lack the calls spent before.")
            seed = child_seed(spec.seed, TRAINING, number)
            left = config.training_calls - spent
            return Planning(collection_planner(simulator), seed, left)
        if number == 0:
            share = max(1, round(config.training_calls * spec.options.first_share))
            return Planning(
                collection_planner(simulator), child_seed(spec.seed, TRAINING, 0, 0), share
            )
        return Planning(None, why_no_trees=GONE)

    def _calls_before(self, number: int) -> int | None:
        if number == 0:
            return 0
        done = {event["number"]: event for event in self.events("training episode")}
        return int(done[number - 1]["calls_spent"]) if number - 1 in done else None


@final
class RunLibrary:
    """All runs below a folder, by id."""

    def __init__(self, root: Path) -> None:
        found: dict[str, RunFolder] = {}
        for folder in run_folders(root):
            name = folder.relative_to(root).as_posix()
            name = folder.resolve().name if name == "." else name
            found[name] = RunFolder(name, folder)
        if not found:
            raise InputError(
                f"{root} holds no run; give a game, such as breakout, or a run's folder, such as "
                "runs/breakout/olive-laptop/seed-0"
            )
        self.runs = found

    def run(self, name: str) -> RunFolder:
        """Look a run up by its id."""
        if name not in self.runs:
            raise InputError(f"there is no run {name!r} here")
        return self.runs[name]
