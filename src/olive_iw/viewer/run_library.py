"""What can be watched: a live episode, or recorded ones of runs, which are followed as they train.

Runs and episodes are opened by ids that are looked up. Trees of a recorded episode are recomputed,
so the features that it was planned with must still be there. For evaluation episodes they are in
the run's checkpoint or a pretrained agent. For training episodes they are gone, since they were
trained further, unless they were not learned at all.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self, final

import numpy as np

from olive_iw.agents import Agent, Planning, Spec
from olive_iw.agents.format1 import RemovedOptionError
from olive_iw.agents.learner import WEIGHTS
from olive_iw.agents.learning import SCREENS
from olive_iw.agents.screens import read_screens
from olive_iw.algorithms import build_agent, load_agent
from olive_iw.errors import InputError, noted
from olive_iw.features.vae import BinaryVae
from olive_iw.runs import pretrained
from olive_iw.runs.events import EvaluationEpisodeDone, TrainingEpisodeDone
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.runs.records import EpisodeRecord, Origin, episode_name
from olive_iw.runs.replay import simulator_of
from olive_iw.simulators import Simulator, is_environment, make_simulator, warn_of_chance
from olive_iw.viewer.hub import Hub
from olive_iw.viewer.node_details import data_address
from olive_iw.viewer.page_messages import Library, Message, NewestScreens, Note, Training

if TYPE_CHECKING:
    from olive_iw.simulators.gymnasium_states import Environment

LOOK_SECONDS = 1.0
NEWEST = 12
"""Screens that are shown."""


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
        calls, most = self.spec.decisions.calls_per_action, self.planning.max_calls
        return calls if most is None else max(1, min(calls, most - spent))


def live_source(game: "str | Simulator | Environment", agent: Agent) -> EpisodeSource:
    """Let an agent play a game: what it plays is its first evaluation episode.

    A Gymnasium environment is reset, and shows pictures if it renders some.
    """
    if not agent.spec.parts.family.plans:
        raise InputError(f"{agent.spec.algorithm} searches nothing that could be watched")
    planning = Planning(agent.planner, agent.spec.evaluation_seed(0))
    if isinstance(game, str):
        return EpisodeSource(game, agent.spec, agent.spec.make_simulator(game), planning)
    options = {"action_levels": agent.spec.options.action_levels} if is_environment(game) else {}
    simulator = make_simulator(game, **options)
    if options and not agent.spec.options.get("reseed_search"):
        warn_of_chance(simulator, str(getattr(game, "unwrapped", game)))
    registered, kind = getattr(game, "spec", None), type(getattr(game, "unwrapped", game))
    name = getattr(game, "game", kind.__name__) if registered is None else registered.id
    return EpisodeSource(name, agent.spec, simulator, planning)


def recorded_source(folder: RunFolder, episode: str) -> EpisodeSource:
    """Replay an episode of a run, by its id, such as evaluation-0000."""
    if episode not in folder.episode_files():
        raise InputError(f"the run {folder.name} has no episode {episode!r}")
    (config, _), record = folder.recorded(), folder.read_episode(episode)
    simulator = simulator_of(record)
    planning = _planning(folder, record, simulator)
    return EpisodeSource(
        config.game, config.spec, simulator, planning, record, folder.name, episode
    )


def _trained(folder: RunFolder) -> Agent:
    """Agent of a run as it was evaluated: of its checkpoint, or else of the pretrained ones.

    A compact copy has no checkpoint, but its agent may be shipped with the package.
    """
    if folder.checkpoint_path.is_dir() or folder.read(Origin) is None:
        return load_agent(folder.checkpoint(), "cpu")
    config, scores = folder.config(), folder.read_result().scores
    shipped = pretrained.find(config.game)
    if shipped is None or shipped.config != config or shipped.result.scores != scores:
        raise InputError(f"{folder} is a compact copy, and its agent is none of the pretrained")
    return shipped.load("cpu")


def _planning(folder: RunFolder, record: EpisodeRecord, simulator: Simulator) -> Planning:
    """Say how an episode was planned, as far as the run's checkpoint still knows it."""
    config, asked = folder.recorded()
    if asked:
        return Planning(None, why_not=f"It was planned with {RemovedOptionError(asked)}.")
    agent, before = build_agent(config.spec, "cpu"), 0
    if record.phase == "evaluation" and config.spec.learns:
        try:
            agent = _trained(folder)
        except InputError as error:
            return Planning(None, why_not=f"What the run has learned cannot be read: {error}.")
    if record.phase == "training":
        spent = {event.number: event.calls_spent for event in folder.events(TrainingEpisodeDone)}
        if record.episode and record.episode - 1 not in spent:
            return Planning(None, why_not="The run does not say what calls were spent before.")
        names = [
            episode_name("training", record.episode, game) for game in range(record.game_number)
        ]
        before = spent.get(record.episode - 1, 0)
        before += sum(folder.read_episode(name).calls for name in names)
    numbers = (before, config.training_calls, record.game_number)
    return agent.planning_of(record.phase, record.episode, simulator, *numbers)


@final
class RunLibrary:
    """All runs below a folder, by id."""

    def __init__(self, root: Path) -> None:
        self.runs: dict[str, RunFolder] = {}
        self.warnings: list[str] = []
        """Runs that cannot be read, a line each."""
        for folder in find_runs(root):
            try:
                folder.recorded()
                folder.episode_files()
                self.runs[folder.name] = folder
            except InputError as error:
                self.warnings.append(str(error))
        if not self.runs and self.warnings:
            raise InputError(f"{root} holds no run that can be read: {self.warnings[0]}")
        if not self.runs:
            raise InputError(
                f"{root} holds no run; give a game, such as breakout, or a run's folder, such as "
                "runs/breakout/olive-laptop/seed-0"
            )

    def run(self, name: str) -> RunFolder:
        """Look a run up by its id."""
        if name not in self.runs:
            raise InputError(f"there is no run {name!r} here")
        return self.runs[name]


@final
class RunFollower:
    """Looks at the open run again and again while a page is open, and tells what changed."""

    def __init__(self, hub: Hub, library: RunLibrary) -> None:
        self._hub = hub
        self._library = library
        self._run = next(iter(library.runs.values()))
        self._told: dict[str, object] = {}
        self._look_now = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._follow, name="olive-iw follower", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._closed = True
        self._look_now.set()
        self._thread.join(timeout=10)

    def follow(self, run: RunFolder) -> None:
        """Follow another run from now on."""
        self._run = run
        self._look_now.set()

    def open(self, name: str, episode: str) -> EpisodeSource:
        """Open an episode of a run, which is followed from now on; an empty id is its first."""
        run = self._library.run(name)
        self.follow(run)
        return recorded_source(run, episode or next(iter(run.episode_files()), "evaluation-0000"))

    def sources(self) -> Iterator[EpisodeSource]:
        """Open all episodes that can be opened, one after the other."""
        for run in self._library.runs.values():
            for episode in run.episode_files():
                with suppress(InputError):
                    yield self.open(run.name, episode)

    def _follow(self) -> None:
        while not self._closed:
            if self._hub.watched:
                self.look()
            self._look_now.wait(LOOK_SECONDS)
            self._look_now.clear()

    def look(self) -> None:
        """Look once; what cannot be read, perhaps since it is just being written, is left out."""
        run, library = self._run, self._library
        events, screens = _stamp(run.events_path), _stamp(run.checkpoint_path / SCREENS)
        listed = (events, _stamp(run.episodes_path))
        self._tell("library", (run.name, listed), lambda: library_message(library, run))
        self._tell("training", (run.name, events, run.state), lambda: training_message(run))
        self._tell("screens", (run.name, screens), lambda: newest_screens(run))

    def _tell(self, kind: str, state: object, make: Callable[[], Message]) -> None:
        if self._told.get(kind) != state:
            self._told[kind] = state
            try:
                self._hub.publish(make())
            except (OSError, InputError):
                pass  # perhaps it is just being written; then it will have changed
            except Exception as error:  # if this thread died, nothing would be followed any more
                self._hub.publish(Note(f"{type(error).__name__}: {error}", error=True))


def training_message(run: RunFolder) -> Training:
    """Say how a run's training goes."""
    training = [asdict(event) for event in run.events(TrainingEpisodeDone)]
    evaluation = [asdict(event) for event in run.events(EvaluationEpisodeDone)]
    return Training(run.state, run.recorded()[0].spec.learns, training, evaluation)


def library_message(library: RunLibrary, run: RunFolder) -> Library:
    """List what can be opened; of a run whose files are odd still the other runs."""
    played: dict[str, TrainingEpisodeDone | EvaluationEpisodeDone] = {}
    names: list[str] = []
    warnings = [*library.warnings]
    with noted(warnings):
        names = [*run.episode_files()]
        for event in run.events(TrainingEpisodeDone):
            played[episode_name("training", event.number)] = event
        for done in run.events(EvaluationEpisodeDone):
            played[episode_name("evaluation", done.number)] = done
    episodes = []
    for name in names:
        phase, *numbers = name.split("-")
        title = f"{phase} {', game '.join(str(int(number)) for number in numbers)}"
        if name in played:
            title += f": score {played[name].score:g}, {played[name].actions} actions"
        episodes.append({"id": name, "title": title})
    runs = [{"id": name, "title": name} for name in library.runs]
    return Library(runs, run.name, episodes, warnings)


def newest_screens(run: RunFolder) -> NewestScreens:
    """Read the last screens of a training set and their ELBO by the newest weights."""
    if not (run.checkpoint_path / SCREENS).exists():
        return NewestScreens(0)
    checkpoint = run.checkpoint()
    screens = read_screens(checkpoint / SCREENS)
    newest = np.array(screens[-NEWEST:][::-1])
    elbos: list[float] = []
    with suppress(InputError):
        vae = BinaryVae.load(checkpoint / WEIGHTS)
        elbos = [round(float(elbo), 1) for elbo in vae.elbo(newest)] if len(newest) else []
    images = [data_address(image) for image in newest]
    learning = run.recorded()[0].spec.parts.learning
    return NewestScreens(len(screens), images, elbos, learning == "online")


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)
