"""The command line: find the command, parse its arguments, call it, and say what went wrong."""

import importlib
import io
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from olive_iw import __version__
from olive_iw.cli import help as helping
from olive_iw.cli.arguments import Argument, Group, arguments_of, parse
from olive_iw.cli.console import errors, warn
from olive_iw.errors import InputError, clean_text, unknown_name
from olive_iw.runs.stopping import stopping_on_signals
from olive_iw.simulators.base import SimulatorError

COMMANDS = {
    "run": "Train an agent on a game, then let it play.",
    "play": "Play one episode, and show it in the terminal.",
    "pretrained": "Make a compact file of a finished run's agent.",
    "sweep": "Do all runs of a sweep file that are not finished.",
    "status": "Say which runs are done, running, stopped, failed or missing.",
    "export": "Write all episodes' scores as a table, or copy runs compactly.",
    "report": "Print the paper's tables for your runs.",
    "compare": "Say, game by game, whether runs reproduce published scores.",
    "verify": "Replay every episode, and confirm each reward and score.",
    "video": "Render an episode as a film.",
    "gif": "Render the beginning of an episode as a small GIF.",
    "view": "Watch a planner think, in a browser.",
    "bench": "Measure planning against the bare emulator.",
    "doctor": "Check that the emulator restores games exactly on this machine.",
    "list": "List what can be chosen: games, algorithms, features and more.",
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
            _module("list").load_plugins()
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
        helping.completion("".join(rest[:1]), {name: _all_arguments(name) for name in COMMANDS})
    elif name not in COMMANDS:
        kind, known = ("option", GLOBAL) if name.startswith("-") else ("command", COMMANDS)
        raise unknown_name(kind, name, known)
    else:
        _call(name, rest)


def _call(name: str, words: list[str]) -> None:
    command, groups = _function(name), _groups(name, words)
    own = arguments_of(command)
    if not {"-h", "--help", "--help-all"}.isdisjoint(words):
        helping.command_help(name, command, own, groups, "--help-all" in words)
        return
    found = parse([*own, *(it for group in groups for it in group.arguments)], words)
    places = [found.pop(argument.name) for argument in own if argument.positional]
    command(*places, **found)


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"olive_iw.cli.{name}")


def _function(name: str) -> Callable[..., None]:
    # A function called list would hide Python's own.
    function: Callable[..., None] = getattr(_module(name), "list_parts" if name == "list" else name)
    return function


def _groups(name: str, words: Sequence[str]) -> Sequence[Group]:
    """Return the settings of a command that has some, which other options decide."""
    find: Any = getattr(_module(name), "settings_groups", None)
    return find(words) if find else ()


def _all_arguments(name: str) -> list[Argument]:
    settings = [it for group in _groups(name, ()) for it in group.arguments]
    return [*arguments_of(_function(name)), *settings]


def _guarded(work: Callable[[], Any], goes_on: bool = False) -> int:
    """Exit code of some work; errors that are the user's to mend take one line."""
    try:
        with stopping_on_signals(to_exit=True), warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: warn(str(message))
            work()
            sys.stdout.flush()
    except (InputError, SimulatorError) as error:
        _say(error)
        return 2
    except KeyboardInterrupt:
        how = "; run the same command again to go on" if goes_on else ""
        errors.print(f"stopped{how}", highlight=False)
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


def _say(error: Exception) -> None:
    line = clean_text(f"olive-iw: {error}")
    errors.print(line, style="red", highlight=False, markup=False, soft_wrap=True)
