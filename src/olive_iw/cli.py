"""The command line: parse, call, print."""

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import tyro

from olive_iw import __version__
from olive_iw.commands import diagnostics, play, reports, run, sweeps, view
from olive_iw.commands.console import errors, warn
from olive_iw.errors import InputError
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
    sys.exit(_guarded(lambda: app.cli(prog="olive-iw", description=DESCRIPTION, args=arguments)))


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
    errors.print(f"olive-iw: {error}", style="red", highlight=False, markup=False, soft_wrap=True)
