"""A run as a person watches it: a bar per phase, and a line for every episode that ends."""

from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Column

from olive_iw.agents import Episode, Observer, TrainingEpisode
from olive_iw.features.vae import TrainingStep
from olive_iw.planners import Decision, Planner
from olive_iw.runs.config import RunConfig

NETWORK = "training the network"
WIDE = 100
"""Columns of a terminal in which there is room for long bars."""


class RunProgress(Observer):
    """Draws what a run does. Use as a context manager around it."""

    def __init__(self, config: RunConfig, console: Console, title: str) -> None:
        """Draw on a console, below a title that is printed once the run has begun."""
        self._config, self._title = config, title
        # Where the terminal is narrow, the end of the last column is what is cut.
        cut = Column(no_wrap=True, overflow="ellipsis", ratio=1)
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24 if console.width >= WIDE else 8),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.fields[state]}", table_column=cut),
            console=console,
            expand=True,
            transient=True,
        )
        self._shown: dict[str, TaskID] = {}
        self._first: dict[str, int] = {}
        """Where each bar began."""
        self._phase = "training"
        self._began = False
        self._spent = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._began:
            self._bars.stop()

    def begin(self) -> None:
        """Print the title and start to draw; before, the run may still be refused."""
        if not self._began:
            self._began = True
            self._bars.console.print(self._title, highlight=False, markup=False, soft_wrap=True)
            self._bars.start()

    def on_episode_start(self, phase: str, number: int) -> None:
        """Show a bar of its own for each evaluation episode, and one for the whole training."""
        if phase == "evaluation":
            self._drop(self._phase)
            phase = f"evaluation {number + 1}/{self._config.episodes}"
        self._phase = phase

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        """Show score, actions, lives (in games that have them), calls and pace."""
        ledger, actions, lives = planner.ledger, len(episode.actions), planner.root.lives
        state = f"score {episode.score:g} · {actions} actions" + f" · {lives} lives" * (lives > 0)
        if self._phase == "training":
            total, spent = self._config.training_calls, self._spent + ledger.calls
            self._show("training", spent, total, f"{state} · {max(0, total - spent):,} calls left")
        else:
            pace = sum(ledger.stopwatches.seconds().values()) / max(1, actions)
            state += f" · {ledger.calls:,} calls · {pace:.2f} s/action"
            self._show(self._phase, actions, self._config.max_actions, state, "at most")

    def on_network_step(self, step: TrainingStep) -> None:
        """Show the network's training, by a bar of its own."""
        state = f"loss {step.loss:,.1f}"
        state += f" · temperature {step.temperature:.2f}" * (step.temperature > 0)
        self._show(NETWORK, step.step, step.steps, state)

    def on_training_episode(self, done: TrainingEpisode) -> None:
        """Say what a training episode came to."""
        self._spent = done.calls_spent
        scores = ", ".join(f"{game.score:g}" for game in done.games)
        actions = sum(len(game.actions) for game in done.games)
        calls = f"{done.calls_spent:,}/{self._config.training_calls:,} calls"
        taken = f"{actions} action{'s' * (actions != 1)}"
        line = f"score {scores}, {taken}, {calls}, {done.screens:,} screens"
        if done.training is not None:
            line += f", loss {_loss(done.training.held_out_loss or done.training.loss)}"
        self._drop(NETWORK, f"training {done.number}: {line}")

    def on_evaluation_episode(self, number: int, episode: Episode) -> None:
        """Say what an evaluation episode came to."""
        actions = len(episode.actions)
        spent = f"{episode.calls:,} calls, {episode.seconds / max(1, actions):.2f} s/action"
        taken = f"{actions} action{'s' * (actions != 1)}"
        line = f"score {episode.score:g}, {taken}, {spent}, {episode.ended}"
        self._drop(self._phase, f"evaluation {number}: {line}")

    def _show(self, bar: str, done: int, total: int, state: str, sure: str = "about") -> None:
        """Bring a bar up to date; how long it will take is told from how long it took so far."""
        self.begin()
        if bar not in self._shown:
            self._shown[bar] = self._bars.add_task(bar, total=total, state="", left="")
            self._first[bar] = done
        task, new = self._shown[bar], done - self._first[bar]
        elapsed = self._bars.tasks[self._bars.task_ids.index(task)].elapsed or 0.0
        left = f"{sure} {duration(elapsed * max(0, total - done) / new)} left" if new else ""
        self._bars.update(task, completed=done, state=state, left=left)

    def _drop(self, bar: str, line: str = "") -> None:
        """Remove a bar, if it is there, and say what it came to."""
        if bar in self._shown:
            self._bars.remove_task(self._shown.pop(bar))
        if line:
            self._bars.console.print(line, highlight=False, soft_wrap=True)


def _loss(loss: float) -> str:
    """Write a loss: an image's is in the hundreds or thousands, a policy's about 1."""
    return f"{loss:,.0f}" if abs(loss) >= 100 else f"{loss:.3g}"


def duration(seconds: float) -> str:
    """Say a time in the two units that matter, for example `2 h 05 min`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    days, hours = divmod(hours, 24)
    return f"{days} days {hours} h"
