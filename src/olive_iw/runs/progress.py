"""A run as a person watches it: a bar per phase, and a line for every episode that ends."""

from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from olive_iw.agents import Episode, Observer, TrainingEpisode
from olive_iw.features.binary_vae import TrainingStep
from olive_iw.planners import Decision, Planner
from olive_iw.runs.config import RunConfig


class RunProgress(Observer):
    """Draws what a run does. Use as a context manager around it."""

    def __init__(self, config: RunConfig, console: Console) -> None:
        self._config = config
        self._console = console
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[state]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._training: TaskID | None = None
        self._network: TaskID | None = None
        self._evaluation: TaskID | None = None
        self._spent = 0

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bars.stop()

    def on_episode_start(self, phase: str, number: int) -> None:
        """Show a bar of its own for each evaluation episode."""
        if phase == "training":
            return
        self._drop("_training")
        self._drop("_evaluation")
        self._evaluation = self._bars.add_task(
            f"evaluation {number + 1}/{self._config.episodes}",
            total=self._config.max_actions,
            state="",
        )

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        """Show score, actions, lives, calls and pace."""
        ledger, actions = planner.ledger, len(episode.actions)
        state = f"score {episode.score:g} · {actions} actions · {planner.root.lives} lives"
        if self._evaluation is not None:
            pace = sum(ledger.stopwatches.seconds().values()) / max(1, actions)
            state += f" · {ledger.calls:,} calls · {pace:.2f} s/action"
            self._bars.update(self._evaluation, completed=actions, state=state)
            return
        if self._training is None:
            self._training = self._bars.add_task(
                "training", total=self._config.training_calls, state=""
            )
        spent = self._spent + ledger.calls
        left = self._config.training_calls - spent
        self._bars.update(
            self._training, completed=spent, state=f"{state} · {max(0, left):,} calls left"
        )

    def on_network_step(self, step: TrainingStep) -> None:
        """Show the network's training."""
        if self._network is None:
            self._network = self._bars.add_task("network", total=step.steps, state="")
        state = f"loss {step.loss:,.1f} · temperature {step.temperature:.2f}"
        self._bars.update(self._network, completed=step.step, state=state)
        if step.step == step.steps:
            self._drop("_network")

    def on_training_episode(self, done: TrainingEpisode) -> None:
        """Say what a training episode came to."""
        self._spent = done.calls_spent
        self._drop("_network")
        games, training = done.games, done.training
        scores = ", ".join(f"{game.score:g}" for game in games)
        actions = sum(len(game.actions) for game in games)
        loss = None if training is None else training.held_out_loss or training.loss
        self._say(
            f"training {done.number}: score {scores}, {actions} actions, "
            f"{done.calls_spent:,}/{self._config.training_calls:,} calls, {done.screens:,} screens"
            + ("" if loss is None else f", loss {loss:,.0f}")
        )

    def on_evaluation_episode(self, number: int, episode: Episode) -> None:
        """Say what an evaluation episode came to."""
        self._drop("_evaluation")
        actions = len(episode.actions)
        self._say(
            f"evaluation {number}: score {episode.score:g}, {actions} actions, "
            f"{episode.calls:,} calls, {episode.seconds / max(1, actions):.2f} s/action, "
            f"{episode.ended}"
        )

    def _say(self, line: str) -> None:
        self._console.print(line, highlight=False, soft_wrap=True)

    def _drop(self, name: str) -> None:
        task = getattr(self, name)
        if task is not None:
            self._bars.remove_task(task)
            setattr(self, name, None)
