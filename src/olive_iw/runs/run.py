"""One run, from its first training call to its result; stopped at any moment, it can go on."""

from pathlib import Path

from olive_iw.agents import Agent, Episode, Observer, TrainingEpisode
from olive_iw.algorithms import build_agent, load_agent
from olive_iw.features.binary_vae import TrainingStep
from olive_iw.planners import Decision, Planner
from olive_iw.runs import events
from olive_iw.runs.config import RunConfig
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.records import EpisodeRecord, Phase, Result, read_episode
from olive_iw.runs.stopping import stop_if_asked
from olive_iw.runs.tensorboard import Board
from olive_iw.simulators import Simulator, make_simulator


def run(
    config: RunConfig,
    out: Path,
    observer: Observer | None = None,
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
            work = _Work(config, folder, observer or Observer(), device, board)
            work.do(agent, simulator)
        return folder.read_result()


class _Work:
    """The work of one run in its open folder."""

    def __init__(
        self,
        config: RunConfig,
        folder: RunFolder,
        observer: Observer,
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
        recorder = _Recorder(self, agent, simulator)
        agent.train(simulator, self.config.training_calls, recorder)
        for number in range(self.config.episodes):
            if not self.folder.episode_path("evaluation", number).exists():
                agent.play(simulator, self.config.max_actions, number, recorder)
        self._finish(learns)

    def note(self, event: events.Event) -> None:
        """Write an event down."""
        self.folder.note(event)
        if self.board is not None:
            self.board.write(event)

    def _note_start(self) -> None:
        training = self.folder.episode_files("training")
        start = events.RunStarted(
            training_episodes=sum(name.count("-") == 1 for name in training),
            evaluation_episodes=len(self.folder.episode_files("evaluation")),
        )
        self.note(start)

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
            variant=spec.variant,
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

    def on_episode_start(self, phase: str, number: int) -> None:
        self._work.observer.on_episode_start(phase, number)

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        stop_if_asked()
        self._work.observer.on_decision(planner, decision, episode)

    def on_network_step(self, step: TrainingStep) -> None:
        self._work.observer.on_network_step(step)

    def on_training_episode(self, done: TrainingEpisode) -> None:
        for number, game in enumerate(done.games):
            self._save("training", done.number, game, number)
        self._work.note(_training_event(done))
        self._work.observer.on_training_episode(done)

    def on_evaluation_episode(self, number: int, episode: Episode) -> None:
        self._save("evaluation", number, episode)
        self._work.note(
            events.EvaluationEpisodeDone(
                number=number,
                score=episode.score,
                actions=len(episode.actions),
                calls=episode.calls,
                seconds=episode.seconds,
                ended=episode.ended,
            )
        )
        self._work.observer.on_evaluation_episode(number, episode)

    def _save(self, phase: Phase, number: int, episode: Episode, game_number: int = 0) -> None:
        config = self._work.config
        record = EpisodeRecord.of(
            config.game, config.spec, phase, number, episode, self._simulator, game_number
        )
        self._work.folder.write_episode(record)

    def on_checkpoint(self) -> None:
        self._work.folder.save_checkpoint(self._agent)
        self._work.observer.on_checkpoint()


def _training_event(done: TrainingEpisode) -> events.TrainingEpisodeDone:
    """Add the games of a training episode up; its score is their mean."""
    games, training = done.games, done.training
    actions = sum(len(game.actions) for game in games)
    rollouts = sum(game.rollouts for game in games)
    return events.TrainingEpisodeDone(
        number=done.number,
        games=len(games),
        score=sum(game.score for game in games) / len(games),
        actions=actions,
        calls=done.calls,
        calls_spent=done.calls_spent,
        candidates=done.candidates,
        screens=done.screens,
        rollouts_per_action=rollouts / max(1, actions),
        mean_depth=sum(game.rollout_depth for game in games) / max(1, rollouts),
        loss=None if training is None else training.loss,
        held_out_loss=None if training is None else training.held_out_loss,
        training_seconds=0.0 if training is None else training.seconds,
        seconds=sum(game.seconds for game in games),
    )
