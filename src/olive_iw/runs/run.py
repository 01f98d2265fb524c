"""One run, from its first training call to its result; stopped at any moment, it can go on."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from olive_iw.agents import Agent, Episode, Observer, TrainingEpisode
from olive_iw.agents.learner import WEIGHTS
from olive_iw.algorithms import build_agent, load_agent
from olive_iw.errors import InputError
from olive_iw.features.vae import TrainingStep
from olive_iw.features.vae.files import trained_by_torch
from olive_iw.planners import Decision, Planner
from olive_iw.runs import events
from olive_iw.runs.config import RunConfig, versions
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.loggers import LOGGERS, Logger
from olive_iw.runs.records import EpisodeRecord, Phase, Result, read_episode
from olive_iw.runs.stopping import stop_if_asked
from olive_iw.simulators import Simulator, warn_of_chance


def run(
    config: RunConfig,
    out: Path,
    observer: Observer | None = None,
    device: str = "auto",
    simulator: Simulator | None = None,
    loggers: Sequence[str] = (),
) -> Result:
    """Train and evaluate, in the folder of this run below `out`.

    A finished run is only read; an unfinished one goes on from its checkpoint, and ends exactly
    as if it had not been stopped. `simulator` is for worlds that have no name; `loggers`
    (names in `LOGGERS`) show its figures elsewhere too.
    """
    folder = RunFolder(config.folder(out), within=out)
    makers = [LOGGERS[name] for name in loggers]
    simulator = simulator or config.spec.make_simulator(config.game)
    agent = build_agent(config.spec, device)
    recorder = _Recorder(config, folder, agent, simulator, observer or Observer())
    with folder.open(config) as start:
        try:
            if not folder.finished:
                if not config.spec.options.get("reseed_search"):
                    warn_of_chance(simulator, config.game)
                if config.spec.learns and folder.checkpoint_path.exists():
                    recorder.agent = load_agent(folder.checkpoint_path, device)
                    _check_goes_on(config, folder, recorder.agent)
                with recorder.plotted(makers):
                    _train_and_evaluate(config, folder, recorder)
        except Exception:
            if not recorder.decided:
                start.take_back()
            raise
        return folder.read_result()


def _check_goes_on(config: RunConfig, folder: RunFolder, agent: Agent) -> None:
    """Refuse to go on with a training that would not end as if it had never been stopped."""
    learner = agent.learner
    if learner is None or learner.is_spent(config.training_calls):
        return
    if config.spec.parts.learns_features and trained_by_torch(folder.checkpoint_path / WEIGHTS):
        raise InputError(
            f"{folder.path}: its training began with version 0.2.0, whose network torch trained, "
            "and cannot go on exactly; go on with 0.2.0, or remove the folder to begin it anew"
        )


def _train_and_evaluate(config: RunConfig, folder: RunFolder, recorder: "_Recorder") -> None:
    """Do what is left to do of a run."""
    recorder.note_start()
    agent, simulator = recorder.agent, recorder.simulator
    agent.train(simulator, config.training_calls, recorder)
    for number in range(config.episodes):
        if not folder.episode_path("evaluation", number).exists():
            agent.play(simulator, config.max_actions, number, recorder)
    recorder.note_end()


@dataclass(slots=True)
class _Recorder(Observer):
    """Writes what happens into the run's open folder, and tells the run's own observer."""

    config: RunConfig
    folder: RunFolder
    agent: Agent
    simulator: Simulator
    observer: Observer
    loggers: list[Logger] = field(default_factory=list)
    decided: bool = False
    """Whether a first action was decided on."""

    @contextmanager
    def plotted(self, makers: Sequence[Callable[[RunConfig, Path], Logger]]) -> Iterator[None]:
        """Show the figures elsewhere too meanwhile."""
        try:
            self.loggers += (make(self.config, self.folder.path) for make in makers)
            yield
        finally:
            for logger in self.loggers:
                logger.finish()

    def note_start(self) -> None:
        """Say how much was done already; a training episode of several games has several files."""
        trained = sum(name.count("-") == 1 for name in self.folder.episode_files("training"))
        played = len(self.folder.episode_files("evaluation"))
        self.folder.note(events.RunStarted(trained, played))

    def note_end(self) -> None:
        """Write the result, from all evaluation episodes."""
        config, spec = self.config, self.config.spec
        files = (self.folder.episode_path("evaluation", n) for n in range(config.episodes))
        played = [read_episode(path, with_values=False) for path in files]
        actions = sum(len(episode.actions) for episode in played)
        learner = self.agent.learner
        result = Result(
            game=config.game,
            algorithm=spec.algorithm,
            profile=spec.profile,
            variant=spec.variant,
            seed=spec.seed,
            scores=[episode.score for episode in played],
            training_calls=config.training_calls if spec.learns else 0,
            training_calls_spent=0 if learner is None else learner.progress.calls,
            calls_per_action=spec.decisions.calls_per_action,
            max_actions=config.max_actions,
            frame_skip=spec.options.frame_skip,
            action_set=spec.options.action_set,
            action_levels=spec.options.action_levels,
            seconds_per_action=sum(episode.seconds for episode in played) / max(1, actions),
            versions=versions(),
        )
        self.folder.note(events.RunFinished(result.scores))
        self.folder.write(result)

    def on_episode_start(self, phase: str, number: int) -> None:
        self.observer.on_episode_start(phase, number)

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        self.decided = True
        stop_if_asked()
        self.observer.on_decision(planner, decision, episode)

    def on_network_step(self, step: TrainingStep) -> None:
        self.observer.on_network_step(step)

    def on_training_episode(self, done: TrainingEpisode) -> None:
        for number, game in enumerate(done.games):
            self._save("training", done.number, game, number)
        event = events.TrainingEpisodeDone.of(done)
        self.folder.note(event)
        shown = ("score", "screens", "loss", "held_out_loss", "rollouts_per_action")
        self._plot("training", {name: getattr(event, name) for name in shown}, done.calls_spent)
        self.observer.on_training_episode(done)

    def on_evaluation_episode(self, number: int, episode: Episode) -> None:
        self._save("evaluation", number, episode)
        self.folder.note(events.EvaluationEpisodeDone.of(number, episode))
        self._plot("evaluation", {"score": episode.score}, number)
        self.observer.on_evaluation_episode(number, episode)

    def on_checkpoint(self) -> None:
        self.folder.save_checkpoint(self.agent)
        self.observer.on_checkpoint()

    def _save(self, phase: Phase, number: int, episode: Episode, game_number: int = 0) -> None:
        what = (self.config.game, self.config.spec, phase, number, episode)
        self.folder.write_episode(EpisodeRecord.of(*what, self.simulator, game_number))

    def _plot(self, phase: Phase, figures: dict[str, float | None], place: int) -> None:
        """Tell the loggers of figures, by the training calls spent or the episode's number."""
        known = {name: value for name, value in figures.items() if value is not None}
        for logger in self.loggers:
            logger.log(phase, known, place)
