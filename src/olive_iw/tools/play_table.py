"""What a play came to, as a table, and while it lasts as a line."""

from collections.abc import Sequence
from typing import Self, final

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from olive_iw.agents import Episode, Observer
from olive_iw.planners import Decision, Planner
from olive_iw.reports.layout import MISSING
from olive_iw.tools.play import FRAMES_PER_SECOND, Played


def play_table(title: str, played: Played, drawn: tuple[int, int] | None = None) -> Table:
    """Score and budgets of a play; `drawn`: frames that a terminal showed, and dropped."""
    episode, decisions = played.episode, len(played.calls)
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_column()
    table.add_column(justify="right")
    table.add_row("score", f"{episode.score:g}", style="bold")
    table.add_row("actions", f"{len(episode.actions):,} ({played.ended})")
    table.add_row("lives left", str(episode.lives))
    table.add_row("calls per decision", _spread(played.calls, "{:,.0f}"))
    table.add_row("seconds per decision", _spread(played.seconds, "{:.3f}"))
    table.add_row("nothing left to search", f"{episode.exhausted:,} of {decisions:,}")
    if played.pace is not None:
        late = f"{len(played.late):,} of {decisions:,}"
        if played.late:
            late += f", by at most {max(played.late):.3f} s"
        table.add_row("late decisions", late)
        pace = f"{played.frames_per_second:.1f} of {FRAMES_PER_SECOND}"
        table.add_row("frames per second", pace)
    if drawn is not None and played.pace is not None:
        table.add_row("frames drawn", f"{drawn[0]:,}, {drawn[1]:,} dropped")
    return table


def _spread(values: Sequence[float], form: str) -> str:
    if not values:
        return MISSING
    middle, least, most = (form.format(of(values)) for of in (np.median, np.min, np.max))
    return f"median {middle}, least {least}, most {most}"


@final
class PlayProgress(Observer):
    """Draws a line about a play. Use as a context manager around it."""

    def __init__(self, played: Played, max_actions: int, console: Console) -> None:
        self._played = played
        self._bar = Progress(
            TextColumn("{task.fields[state]}"),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task("", total=max_actions, state="thinking")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        """Say how far the play has come."""
        actions, late = len(episode.actions), len(self._played.late)
        state = f"score {episode.score:g} · {actions} actions · {decision.calls} calls"
        state += f" · {late} late" if late else ""
        self._bar.update(self._task, completed=actions, state=state)
