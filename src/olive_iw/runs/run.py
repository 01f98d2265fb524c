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
            if config.spec.learns and folder.checkpoint_path.exists():
                agent = load_agent(folder.checkpoint_path, device)
            board = Board(folder.path / "tensorboard") if tensorboard else None
            recorder = _Recorder(config, folder, agent, simulator, observer or Observer(), board)
            recorder.note_start()
            agent.train(simulator, config.training_calls, recorder)
            for number in range(config.episodes):
                if not folder.episode_path("evaluation", number).exists():
                    agent.play(simulator, config.max_actions, number, recorder)
            recorder.note_end()
        return folder.read_result()


class _Recorder(Observer):
    """Writes what happens into the run's open folder, and tells the run's own observer."""

    def __init__(
        self,
        config: RunConfig,
        folder: RunFolder,
        agent: Agent,
        simulator: Simulator,
        observer: Observer,
        board: Board | None,
    ) -> None:
        self._config = config
        self._folder = folder
        self._agent = agent
        self._simulator = simulator
        self._observer = observer
        self._board = board

    def note_start(self) -> None:
        """Say how much was done already; a training episode of several games has several files."""
        training = self._folder.episode_files("training")
        evaluation = self._folder.episode_files("evaluation")
        trained = sum(name.count("-") == 1 for name in training)
        self._note(events.RunStarted(trained, len(evaluation)))

    def note_end(self) -> None:
        """Write the result, from all evaluation episodes."""
        config, spec = self._config, self._config.spec
        files = (self._folder.episode_path("evaluation", n) for n in range(config.episodes))
        played = [read_episode(path, with_values=False) for path in files]
        actions = sum(len(episode.actions) for episode in played)
        result = Result(
            game=config.game,
            algorithm=spec.algorithm,
            profile=spec.profile,
            variant=spec.variant,
            seed=spec.seed,
            scores=[episode.score for episode in played],
            training_calls=config.training_calls if spec.learns else 0,
            calls_per_action=spec.options.calls_per_action,
            max_actions=config.max_actions,
            seconds_per_action=sum(episode.seconds for episode in played) / max(1, actions),
        )
        self._note(events.RunFinished(result.scores))
        self._folder.write_result(result)

    def _note(self, event: events.Event) -> None:
        self._folder.note(event)
        if self._board is not None:
            self._board.write(event)

    def _save(self, phase: Phase, number: int, episode: Episode, game_number: int = 0) -> None:
        config, simulator = self._config, self._simulator
        self._folder.write_episode(
            EpisodeRecord.of(
                config.game, config.spec, phase, number, episode, simulator, game_number
            )
        )

    def on_episode_start(self, phase: str, number: int) -> None:
        self._observer.on_episode_start(phase, number)

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        stop_if_asked()
        self._observer.on_decision(planner, decision, episode)

    def on_network_step(self, step: TrainingStep) -> None:
        self._observer.on_network_step(step)

    def on_training_episode(self, done: TrainingEpisode) -> None:
        for number, game in enumerate(done.games):
            self._save("training", done.number, game, number)
        self._note(_training_event(done))
        self._observer.on_training_episode(done)

    def on_evaluation_episode(self, number: int, episode: Episode) -> None:
        self._save("evaluation", number, episode)
        self._note(
            events.EvaluationEpisodeDone(
                number=number,
                score=episode.score,
                actions=len(episode.actions),
                calls=episode.calls,
                seconds=episode.seconds,
                ended=episode.ended,
            )
        )
        self._observer.on_evaluation_episode(number, episode)

    def on_checkpoint(self) -> None:
        self._folder.save_checkpoint(self._agent)
        self._observer.on_checkpoint()


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
