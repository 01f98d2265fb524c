"""One run, from its first training call to its result; stopped at any moment, it can go on."""

from pathlib import Path

from olive_iw.agents import Agent, Episode, Observer, TrainingEpisode
from olive_iw.algorithms import ALGORITHMS, build_agent, load_agent
from olive_iw.features.binary_vae import TrainingStep
from olive_iw.planners import Decision, Planner
from olive_iw.runs import events
from olive_iw.runs.config import RunConfig
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.records import EpisodeRecord, Phase, Result, read_episode
from olive_iw.runs.stopping import stop_if_asked
from olive_iw.runs.tensorboard import Board
from olive_iw.simulators import Simulator, make_simulator


class RunObserver(Observer):
    """Watches a run: an agent's observer that also hears of evaluation episodes."""

    def on_phase(self, phase: str, number: int) -> None:
        """Do something when a "training" or "evaluation" episode begins."""

    def on_evaluation_episode(self, number: int, episode: Episode) -> None:
        """Do something after an evaluation episode."""


def run(
    config: RunConfig,
    out: Path,
    observer: RunObserver | None = None,
    device: str = "auto",
    simulator: Simulator | None = None,
    tensorboard: bool = False,
) -> Result:
    """Train and evaluate, in the folder of this run below `out`.

    A finished run is only read; an unfinished one goes on from its checkpoint, and ends exactly
    as if it had not been stopped. `simulator` is for worlds that have no name; `tensorboard`
    writes events for TensorBoard too.
    """
    folder = RunFolder(config.folder(out))
    simulator = simulator or make_simulator(config.game)
    agent = build_agent(config.spec, device)
    with folder.open(config):
        if not folder.finished:
            board = Board(folder.path / "tensorboard") if tensorboard else None
            work = _Work(config, folder, observer or RunObserver(), device, board)
            work.do(agent, simulator)
        return folder.read_result()


class _Work:
    """The work of one run in its open folder."""

    def __init__(
        self,
        config: RunConfig,
        folder: RunFolder,
        observer: RunObserver,
        device: str,
        board: Board | None,
    ) -> None:
        self.board = board
        self.config = config
        self.folder = folder
        self.observer = observer
        self.device = device

    def do(self, agent: Agent, simulator: Simulator) -> None:
        learns = self.config.spec.learns
        if learns and self.folder.checkpoint_path.exists():
            agent = load_agent(self.folder.checkpoint_path, self.device)
        self._note_start()
        if learns:
            watch = _Recorder(self, agent, simulator)
            agent.train(simulator, self.config.training_calls, watch)
        for number in range(self.config.episodes):
            if not self.folder.episode_path("evaluation", number).exists():
                self._evaluate(agent, simulator, number)
        self._finish(learns)

    def note(self, event: events.Event) -> None:
        """Write an event down."""
        self.folder.note(event)
        if self.board is not None:
            self.board.write(event)

    def _note_start(self) -> None:
        start = events.RunStarted(
            training_episodes=len(self.folder.episode_files("training")),
            evaluation_episodes=len(self.folder.episode_files("evaluation")),
        )
        self.note(start)

    def _evaluate(self, agent: Agent, simulator: Simulator, number: int) -> None:
        self.observer.on_phase("evaluation", number)
        watch = _Recorder(self, agent, simulator)
        episode = agent.play(simulator, self.config.max_actions, number, watch)
        self.save_episode("evaluation", number, episode, simulator)
        self.note(
            events.EvaluationEpisodeDone(
                number=number,
                score=episode.score,
                actions=len(episode.actions),
                calls=episode.calls,
                seconds=episode.seconds,
                ended=episode.ended,
            )
        )
        self.observer.on_evaluation_episode(number, episode)

    def save_episode(
        self, phase: Phase, number: int, episode: Episode, simulator: Simulator
    ) -> None:
        game, spec = self.config.game, self.config.spec
        self.folder.write_episode(EpisodeRecord.of(game, spec, phase, number, episode, simulator))

    def _finish(self, learns: bool) -> None:
        config, spec = self.config, self.config.spec
        played = [
            read_episode(self.folder.episode_path("evaluation", number))
            for number in range(config.episodes)
        ]
        actions = sum(len(episode.actions) for episode in played)
        result = Result(
            game=config.game,
            algorithm=spec.algorithm,
            profile=spec.profile,
            seed=spec.seed,
            scores=[episode.score for episode in played],
            training_calls=config.training_calls if learns else 0,
            calls_per_action=spec.options.calls_per_action,
            max_actions=config.max_actions,
            seconds_per_action=sum(episode.seconds for episode in played) / max(1, actions),
        )
        self.note(events.RunFinished(result.scores))
        self.folder.write_result(result)


class _Recorder(Observer):
    """Writes what happens to the run's folder, and tells the run's observer."""

    def __init__(self, work: _Work, agent: Agent, simulator: Simulator) -> None:
        self._work = work
        self._agent = agent
        self._simulator = simulator

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        stop_if_asked()
        self._work.observer.on_decision(planner, decision, episode)

    def on_network_step(self, step: TrainingStep) -> None:
        self._work.observer.on_network_step(step)

    def on_training_episode(self, done: TrainingEpisode) -> None:
        episode, training = done.episode, done.training
        self._work.save_episode("training", done.number, episode, self._simulator)
        actions = max(1, len(episode.actions))
        self._work.note(
            events.TrainingEpisodeDone(
                number=done.number,
                score=episode.score,
                actions=len(episode.actions),
                calls=episode.calls,
                calls_spent=done.calls_spent,
                candidates=done.candidates,
                screens=done.screens,
                rollouts_per_action=episode.rollouts / actions,
                mean_depth=episode.rollout_depth / max(1, episode.rollouts),
                loss=None if training is None else training.loss,
                held_out_loss=None if training is None else training.held_out_loss,
                training_seconds=0.0 if training is None else training.seconds,
                seconds=episode.seconds,
            )
        )
        self._work.observer.on_training_episode(done)

    def on_checkpoint(self) -> None:
        self._work.folder.save_checkpoint(self._agent)
        self._work.observer.on_checkpoint()
