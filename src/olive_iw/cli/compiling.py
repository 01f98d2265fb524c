"""A sign of life while numba compiles, which it does once for every installation."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rich.progress import BarColumn, Progress, TextColumn

from olive_iw import compiled
from olive_iw.agents.spec import Spec
from olive_iw.algorithms import build_agent
from olive_iw.cli.console import errors
from olive_iw.errors import AdviceWarning, InputError

FEW = {"calls_per_action": 20, "training_actions": 2, "screens_per_episode": 4, "first_share": 0.5}
FEW |= {"search_workers": 1, "steps": 1}
"""Settings of a rehearsal."""
TRAINING_CALLS = 40
REHEARSED = ("atari:", "grid:")
"""Worlds that can be made once more for a rehearsal, at no cost and without a trace."""


@contextmanager
def compiling() -> Iterator[None]:
    """Say so if something is compiled meanwhile, with a bar over the functions in a terminal."""
    # How many of the functions are needed shows when they are called.
    told_of = TextColumn("{task.completed} of at most {task.total}: {task.description}")
    bar = Progress(
        TextColumn("compiling, once"), BarColumn(20), told_of, console=errors, transient=True
    )
    task = bar.add_task("", total=compiled.count())
    told: list[str] = []

    def tell(name: str) -> None:
        bar.update(task, advance=1, description=name, total=compiled.count())
        if not told and errors.is_terminal:
            bar.start()
        elif not told:
            errors.print("compiling, once")
        told.append(name)

    try:
        with compiled.telling(tell):
            yield
    finally:
        if bar.live.is_started:
            bar.stop()


def rehearse(spec: Spec, game: str, train: bool) -> None:
    """Train, maybe, and play for a few calls, in a world of its own, so that all is compiled."""
    kind, colon, _ = game.partition(":")
    if spec.needs_torch or (colon and f"{kind}:" not in REHEARSED):
        return
    # What the run itself will meet, it says itself.
    with suppress(InputError), warnings.catch_warnings():
        warnings.simplefilter("ignore", AdviceWarning)
        spec = spec.changed(**{name: it for name, it in FEW.items() if name in spec.settings()})
        agent, simulator = build_agent(spec, "cpu"), spec.make_simulator(game)
        if train:
            agent.train(simulator, TRAINING_CALLS)
        agent.play(simulator, max_actions=1)
