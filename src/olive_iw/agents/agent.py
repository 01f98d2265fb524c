"""The agent: a planner that plays, and a learner if it learns."""

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from olive_iw.agents.acting import Policy
from olive_iw.agents.episode import Episode, Observer, play_episode
from olive_iw.agents.learner import Learner, Planning
from olive_iw.agents.spec import FORMAT, Spec
from olive_iw.errors import InputError, advise
from olive_iw.planners import Planner
from olive_iw.settings import AT_LEAST_ONE
from olive_iw.simulators import Simulator, is_environment, warn_of_chance

if TYPE_CHECKING:
    from olive_iw.simulators.gymnasium_states import Environment

SPEC = "agent.json"
NO_TREES = "Nothing is searched: the episode is replayed from its actions, without trees."


@final
class Agent:
    """Trains, then plays."""

    def __init__(self, spec: Spec, planner: Planner, learner: Learner | None = None) -> None:
        """Assemble an agent; without a learner it learns nothing."""
        self.spec = spec
        self.planner = planner
        self.learner = learner
        self.trained_on: str | None = None
        """Game that it was trained on, where that is known."""
        self._next_episode = 0
        self._policy = Policy(self)
        self._asked: Simulator | Environment | None = None
        """What was asked last whether there is chance in it."""
        self._told_untrained = False

    def __repr__(self) -> str:
        trained = f", trained for {self.learner.progress.calls:,} calls" if self.learner else ""
        return f"<Agent {self.spec.label}, seed {self.spec.seed}{trained}>"

    def train(
        self, env: "Simulator | Environment", calls: int, observer: Observer | None = None
    ) -> None:
        """Learn, until `calls` simulator calls are spent in all; nothing if it learns nothing.

        It goes on where an earlier call stopped, or a checkpoint: `train(simulator, 200)` and then
        `train(simulator, 2000)` spend 2,000. What depends on the budget depends on the one known
        at the time: the share of Olive's first episode is of the 200, and so is its last filling
        up of the training set. The most episodes are those of all trainings together.
        """
        if self.learner is None:
            return
        AT_LEAST_ONE.check("training_calls", calls)
        watch, progress = observer or Observer(), self.learner.progress
        simulator = self.spec.simulator_of(env)
        if progress.finished:
            progress.finished = self.learner.is_spent(calls)
        while not progress.finished:
            watch.on_episode_start("training", progress.episodes)
            done = self.learner.training_episode(simulator, calls, watch)
            watch.on_training_episode(done)
            watch.on_checkpoint()

    def play(
        self,
        env: "Simulator | Environment",
        max_actions: int = 18_000,
        episode: int | None = None,
        observer: Observer | None = None,
    ) -> Episode:
        """Play an evaluation episode; nothing is learned. Each number has its own randomness.

        Without a number it is the one after the last played. A Gymnasium environment is reset and
        searched in, and played no longer than its time limit; `act` leaves one as it is.
        """
        simulator = self.spec.simulator_of(env)
        self.warn_of_another_game(getattr(simulator, "game", self.trained_on))
        self._warn_if_untrained()
        if is_environment(env):
            from olive_iw.simulators.gymnasium_states import time_limit

            max_actions = min(max_actions, time_limit(env) or max_actions)
            if env is not self._asked and not self.spec.options.get("reseed_search"):
                self._asked = env
                warn_of_chance(simulator, str(env.unwrapped))
        number = self._next_episode if episode is None else episode
        self._next_episode = number + 1
        watch = observer or Observer()
        watch.on_episode_start("evaluation", number)
        played = play_episode(
            self.planner,
            simulator,
            self.spec.decisions,
            seed=self.spec.evaluation_seed(number),
            max_actions=max_actions,
            observer=watch,
        )
        watch.on_evaluation_episode(number, played)
        return played

    def act(self, env: "Simulator | Environment", shown: Any = None) -> Any:
        """Return an action for a Gymnasium environment, or simulator, which is left as it is.

        `env.step(agent.act(env))` is one step of a game; a simulator's last `Step` must be `shown`
        too. `Policy` does the same, and knows where an episode begins.
        """
        if not self.spec.parts.family.plans:
            raise InputError(f"{self.spec.algorithm} knows whole episodes only: let it play()")
        self._warn_if_untrained()
        return self._policy.act(env, shown)

    def _warn_if_untrained(self) -> None:
        """Warn, once, of a learner that plays with a network that has learned nothing."""
        progress = None if self.learner is None else self.learner.progress
        if progress is None or progress.finished or progress.calls or self._told_untrained:
            return
        self._told_untrained = True
        advise(
            f"this {self.spec.algorithm} was never trained: its network says nothing yet; "
            "begin with agent.train(env, calls=100_000)"
        )

    def planning_of(
        self,
        phase: str,
        number: int,
        simulator: Simulator,
        calls_before: int = 0,
        training_calls: int = 0,
        game: int = 0,
    ) -> Planning:
        """Say how an episode was planned, so that its decisions can be computed again.

        `calls_before` are the training calls that had been spent when it began, of all that the
        training had, `training_calls`; `game` is its number among the games of the episode.
        """
        if phase == "evaluation":
            if self.learner is not None and not self.learner.progress.finished:
                return Planning(None, why_not="The agent's training is not finished: no trees.")
            if not self.spec.parts.family.plans:
                return Planning(None, why_not=NO_TREES)
            return Planning(self.planner, self.spec.evaluation_seed(number))
        if self.learner is None:
            return Planning(None, why_not=f"{self.spec.algorithm} has no {phase} episodes.")
        numbers = number, game, simulator, calls_before, training_calls
        return self.learner.planning_of(*numbers)

    def warn_of_another_game(self, game: str | None) -> None:
        """Warn if it is to play another game than the one it was trained on."""
        if self.trained_on is not None and game != self.trained_on:
            warnings.warn(f"this agent was trained on {self.trained_on}, not {game}", stacklevel=3)

    def save(self, folder: Path | str) -> None:
        """Write everything that `load_agent` needs to go on exactly."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"format": FORMAT, **self.spec.to_dict()}, indent=2)
        (folder / SPEC).write_text(text, encoding="utf-8")
        if self.learner is not None:
            self.learner.save(folder)
