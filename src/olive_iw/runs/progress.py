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
        text, state = TextColumn("{task.description}"), TextColumn("{task.fields[state]}")
        columns = (text, BarColumn(bar_width=24), state, TimeElapsedColumn())
        self._bars = Progress(*columns, console=console, transient=True)
        self._shown: dict[str, TaskID] = {}
        self._phase = "training"
        self._spent = 0

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bars.stop()

    def on_episode_start(self, phase: str, number: int) -> None:
        """Show a bar of its own for each evaluation episode, and one for the whole training."""
        if phase == "evaluation":
            self._drop(self._phase)
            phase = f"evaluation {number + 1}/{self._config.episodes}"
        self._phase = phase

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        """Show score, actions, lives, calls and pace."""
        ledger, actions = planner.ledger, len(episode.actions)
        state = f"score {episode.score:g} · {actions} actions · {planner.root.lives} lives"
        if self._phase == "training":
            total, spent = self._config.training_calls, self._spent + ledger.calls
            self._show("training", spent, total, f"{state} · {max(0, total - spent):,} calls left")
        else:
            pace = sum(ledger.stopwatches.seconds().values()) / max(1, actions)
            state += f" · {ledger.calls:,} calls · {pace:.2f} s/action"
            self._show(self._phase, actions, self._config.max_actions, state)

    def on_network_step(self, step: TrainingStep) -> None:
        """Show the network's training."""
        state = f"loss {step.loss:,.1f} · temperature {step.temperature:.2f}"
        self._show("network", step.step, step.steps, state)

    def on_training_episode(self, done: TrainingEpisode) -> None:
        """Say what a training episode came to."""
        self._spent = done.calls_spent
        scores = ", ".join(f"{game.score:g}" for game in done.games)
        actions = sum(len(game.actions) for game in done.games)
        calls = f"{done.calls_spent:,}/{self._config.training_calls:,} calls"
        line = f"score {scores}, {actions} actions, {calls}, {done.screens:,} screens"
        if done.training is not None:
            line += f", loss {done.training.held_out_loss or done.training.loss:,.0f}"
        self._drop("network", f"training {done.number}: {line}")

    def on_evaluation_episode(self, number: int, episode: Episode) -> None:
        """Say what an evaluation episode came to."""
        actions = len(episode.actions)
        spent = f"{episode.calls:,} calls, {episode.seconds / max(1, actions):.2f} s/action"
        line = f"score {episode.score:g}, {actions} actions, {spent}, {episode.ended}"
        self._drop(self._phase, f"evaluation {number}: {line}")

    def _show(self, bar: str, done: int, total: int, state: str) -> None:
        if bar not in self._shown:
            self._shown[bar] = self._bars.add_task(bar, total=total, state="")
        self._bars.update(self._shown[bar], completed=done, state=state)

    def _drop(self, bar: str, line: str = "") -> None:
        """Remove a bar, if it is there, and say what it came to."""
        if bar in self._shown:
            self._bars.remove_task(self._shown.pop(bar))
        if line:
            self._bars.console.print(line, highlight=False, soft_wrap=True)
