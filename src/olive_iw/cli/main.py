"""The command line: find the command, parse its arguments, call it, and say what went wrong.

Nothing is imported here that the overview does not need.
"""

import importlib
import io
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from olive_iw import __version__
from olive_iw.cli import help as helping
from olive_iw.errors import InputError, SimulatorError, clean_text, unknown_name
from olive_iw.runs.stopping import stopping_on_signals

if TYPE_CHECKING:
    from olive_iw.cli.arguments import Command

COMMANDS = {
    "run": "Train an agent on a game, then let it play.",
    "play": "Play one episode, and show it in the terminal.",
    "pretrained": "Make a compact file of a finished run's agent.",
    "sweep": "Do all runs of a sweep file that are not finished.",
    "status": "Say which runs are done, running, stopped, failed or missing.",
    "export": "Write all episodes' scores as a table.",
    "report": "Print the paper's tables for your runs.",
    "compare": "Say, game by game, whether runs reproduce published scores.",
    "verify": "Replay every episode, and confirm each reward and score.",
    "video": "Render an episode as a film.",
    "gif": "Render the beginning of an episode as a small GIF.",
    "view": "Watch a planner think, in a browser.",
    "bench": "Measure planning against the bare emulator.",
    "doctor": "Check that the emulator restores games exactly on this machine.",
    "list": "List what can be chosen: games, algorithms, features and more.",
    "example": "Print an example: a script, a notebook or a sweep file.",
}
"""Every command, with what it does; it is the module of this name, loaded when it is called."""
GLOBAL = ("--plugins", "--import", "--help", "--version", "--completion")
GOES_ON = ("run", "sweep")
"""Commands that go on where they were stopped."""
STOPPED = 128 + 2
"""Exit code of what SIGINT has stopped."""
CLOSED = 128 + 13
"""Exit code of what SIGPIPE would have stopped: nobody reads what it prints any more."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # what an encoding has no sign for
    words = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(_guarded(lambda: _command(words), not set(GOES_ON).isdisjoint(words)))


def _command(words: list[str]) -> None:
    """Load what the options before a command name, then do the command.

    Files name neither modules nor plug-ins that were not loaded before, so that reading one never
    runs somebody's code.
    """
    while words[:1] in (["--import"], ["--plugins"]):
        if words.pop(0) == "--plugins":
            importlib.import_module("olive_iw.cli.list").load_plugins()
        elif words:
            module = words.pop(0)
            try:
                importlib.import_module(module)
            except ImportError as error:
                raise InputError(f"--import {module}: {error}") from None
    name, *rest = words or ["--help"]
    if name in ("-h", "--help"):
        helping.overview(COMMANDS)
    elif name == "--version":
        print(f"olive-iw {__version__}")
    elif name == "--completion":
        commands = {name: _load(name, ()).all_arguments for name in COMMANDS}
        helping.completion("".join(rest[:1]), commands)
    elif name not in COMMANDS:
        kind, known = ("option", GLOBAL) if name.startswith("-") else ("command", COMMANDS)
        raise unknown_name(kind, name, known)
    else:
        _call(name, rest)


def _call(name: str, words: list[str]) -> None:
    command = _load(name, words)
    if not {"-h", "--help", "--help-all"}.isdisjoint(words):
        helping.command_help(name, command, "--help-all" in words)
    else:
        command.call(words)


def _load(name: str, words: Sequence[str]) -> "Command":
    """Import a command's module, and make its arguments; words decide which settings there are."""
    from olive_iw.cli.arguments import Command

    module = importlib.import_module(f"olive_iw.cli.{name}")
    # A function called list would hide Python's own.
    function = getattr(module, "list_parts" if name == "list" else name)
    find: Any = getattr(module, "settings_groups", None)
    return Command(function, find(words) if find else ())


def _guarded(work: Callable[[], Any], goes_on: bool = False) -> int:
    """Exit code of some work; errors that are the user's to mend take one line."""
    try:
        with stopping_on_signals(to_exit=True), warnings.catch_warnings():
            warnings.showwarning = _warn
            work()
            sys.stdout.flush()
    except (InputError, SimulatorError) as error:
        _say(error)
        return 2
    except KeyboardInterrupt:
        how = "; run the same command again to go on" if goes_on else ""
        print(f"stopped{how}", file=sys.stderr)
        # Code run by `exec` of a string (dataclasses, numba) notes an interrupt as not caught, and
        # CPython would end by the signal (bpo-1054041); the next `exec` takes the note away.
        exec("")
        return STOPPED
    except BrokenPipeError:
        # What is left to be written goes nowhere, so that Python does not complain at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED
    except OSError as error:
        _say(error)
        return 1
    return 0


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    from olive_iw.cli.console import warn

    warn(str(message))


def _say(error: Exception) -> None:
    from olive_iw.cli.console import errors

    line = clean_text(f"olive-iw: {error}").replace("\n", " ")  # as names of folders may have
    errors.print(line, style="red", highlight=False, markup=False, soft_wrap=True)
