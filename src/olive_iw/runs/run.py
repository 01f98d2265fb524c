"""One run, from its first training call to its result; stopped at any moment, it can go on."""

from dataclasses import dataclass
from pathlib import Path

from olive_iw.agents import Agent, Episode, Observer, TrainingEpisode
from olive_iw.algorithms import ALGORITHMS, build_agent, load_agent
from olive_iw.errors import InputError
from olive_iw.runs import events
from olive_iw.runs.tensorboard import Board
from olive_iw.runs.config import FORMAT, RunConfig, versions
from olive_iw.runs.episode_file import episode_fields
from olive_iw.runs.stopping import stop_if_asked
from olive_iw.runs.folder import RunStore, write_json
from olive_iw.features.binary_vae import TrainingStep
from olive_iw.planners import Decision, Planner
from olive_iw.simulators import Simulator, make_simulator


class RunObserver(Observer):
    """Watches a run: an agent's observer that also hears of evaluation episodes."""

    def on_phase(self, phase: str, number: int) -> None:
        """Do something when a "training" or "evaluation" episode begins."""

    def on_evaluation_episode(self, number: int, episode: Episode) -> None:
        """Do something after an evaluation episode."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a finished run came to; the fields of result.json."""

    game: str
    algorithm: str
    profile: str
    seed: int
    scores: list[float]
    training_calls: int
    """Training calls the run was allowed; 0 for algorithms that do not learn."""
    calls_per_action: int
    max_actions: int
    seconds_per_action: float


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
    store = RunStore(config.folder(out))
    simulator = simulator or make_simulator(config.game)
    agent = build_agent(config.spec, device)
    with store.open(config):
        if not store.finished:
            board = Board(store.folder / "tensorboard") if tensorboard else None
            work = _Work(config, store, observer or RunObserver(), device, board)
            work.do(agent, simulator)
        return _read_result(store)


class _Work:
    """The work of one run in its open folder."""

    def __init__(
        self,
        config: RunConfig,
        store: RunStore,
        observer: RunObserver,
        device: str,
        board: Board | None,
    ) -> None:
        self.board = board
        self.config = config
        self.store = store
        self.observer = observer
        self.device = device

    def do(self, agent: Agent, simulator: Simulator) -> None:
        learns = ALGORITHMS[self.config.spec.algorithm].learning != "none"
        if learns and self.store.checkpoint_path.exists():
            agent = load_agent(self.store.checkpoint_path, self.device)
        self._note_start()
        if learns:
            watch = _Recorder(self, agent, simulator)
            agent.train(simulator, self.config.training_calls, watch)
        for number in range(self.config.episodes):
            if not self.store.episode_path("evaluation", number).exists():
                self._evaluate(agent, simulator, number)
        self._finish(learns)

    def note(self, event: events.Event) -> None:
        """Write an event down."""
        events.append(self.store.events_path, event)
        if self.board is not None:
            self.board.write(event)

    def _note_start(self) -> None:
        done = [path.stem for path in self.store.episodes_path.glob("*.json")]
        start = events.RunStarted(
            training_episodes=sum(name.startswith("training") for name in done),
            evaluation_episodes=sum(name.startswith("evaluation") for name in done),
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

    def save_episode(self, phase: str, number: int, episode: Episode, simulator: Simulator) -> None:
        config = self.config
        fields = episode_fields(config.game, config.spec, phase, number, episode, simulator)
        write_json(self.store.episode_path(phase, number), fields)

    def _finish(self, learns: bool) -> None:
        config, spec = self.config, self.config.spec
        played = [
            self.store.read_json(self.store.episode_path("evaluation", number))
            for number in range(config.episodes)
        ]
        scores = [float(episode["score"]) for episode in played]
        actions = sum(len(episode["actions"]) for episode in played)
        fields = {
            "format": FORMAT,
            "game": config.game,
            "algorithm": spec.algorithm,
            "profile": spec.profile,
            "seed": spec.seed,
            "scores": scores,
            "training_calls": config.training_calls if learns else 0,
            "calls_per_action": spec.options.calls_per_action,
            "max_actions": config.max_actions,
            "seconds_per_action": sum(episode["seconds"] for episode in played) / max(1, actions),
            "versions": versions(),
        }
        self.note(events.RunFinished(scores))
        write_json(self.store.result_path, fields)


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
        self._work.store.save_checkpoint(self._agent)
        self._work.observer.on_checkpoint()


def _read_result(store: RunStore) -> Result:
    fields = store.read_json(store.result_path)
    try:
        return Result(**{name: fields[name] for name in Result.__slots__})
    except KeyError as error:
        raise InputError(f"{store.result_path} lacks {error}") from None
