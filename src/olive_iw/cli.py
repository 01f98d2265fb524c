"""The command line: parse, call, print."""

import importlib
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import tyro

from olive_iw import __version__
from olive_iw.commands import diagnostics, play, reports, run, sweeps, view
from olive_iw.commands.console import errors, warn
from olive_iw.errors import InputError, clean_text
from olive_iw.runs.stopping import stopping_on_signals
from olive_iw.simulators.base import SimulatorError

DESCRIPTION = (
    "Play games by width-based planning, with binary features learned while playing. "
    "Every command has its own --help."
)

app = tyro.extras.SubcommandApp()
for command in (
    run.run,
    play.play,
    sweeps.sweep,
    sweeps.status,
    sweeps.export,
    reports.report,
    reports.compare,
    reports.verify,
    reports.video,
    reports.gif,
    view.view,
    diagnostics.bench,
    diagnostics.doctor,
):
    app.command(command)
app.command(name="list")(diagnostics.list_parts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments == ["--version"]:
        print(f"olive-iw {__version__}")
        return
    sys.exit(_guarded(lambda: _command(arguments)))


def _command(arguments: list[str]) -> None:
    """Load what the options before a command name, then do the command.

    Files name neither modules nor plug-ins that were not loaded before, so that reading one never
    runs somebody's code.
    """
    while arguments[:1] in (["--import"], ["--plugins"]):
        if arguments.pop(0) == "--plugins":
            _load_plugins()
        elif arguments:
            _import(arguments.pop(0))
    app.cli(prog="olive-iw", description=DESCRIPTION, args=arguments)


def _load_plugins() -> None:
    from olive_iw.algorithms import ALGORITHMS
    from olive_iw.bandits import BANDITS
    from olive_iw.features import FEATURES
    from olive_iw.features.binary_vae import PROFILES
    from olive_iw.planners import PLANNERS
    from olive_iw.selection import SELECTIONS
    from olive_iw.simulators import SIMULATORS

    for registry in (ALGORITHMS, BANDITS, FEATURES, PLANNERS, PROFILES, SELECTIONS, SIMULATORS):
        registry.load_plugins()


def _import(module: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise InputError(f"--import {module}: {error}") from None


def _guarded(work: Callable[[], Any]) -> int:
    """Exit code of some work; errors that are the user's to mend take one line."""
    try:
        with stopping_on_signals(to_exit=True), warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: warn(str(message))
            work()
    except (InputError, SimulatorError) as error:
        _say(error)
        return 2
    except KeyboardInterrupt:
        errors.print("stopped; run the same command again to go on", highlight=False)
        # An interrupt within `exec` of a string counts as not caught until the next `exec`.
        exec("")
        return 130
    except OSError as error:
        _say(error)
        return 1
    return 0


def _say(error: Exception) -> None:
    line = clean_text(f"olive-iw: {error}")
    errors.print(line, style="red", highlight=False, markup=False, soft_wrap=True)
