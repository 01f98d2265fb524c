"""The command line: parse, call, print."""

import importlib
import inspect
import re
import sys
import textwrap
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import tyro
from rich.table import Table
from rich.text import Text

from olive_iw import __version__
from olive_iw.cli import (
    bench,
    compare,
    doctor,
    export,
    gif,
    list,
    play,
    pretrained,
    report,
    run,
    status,
    sweep,
    verify,
    video,
    view,
)
from olive_iw.cli.arguments import PARSING
from olive_iw.cli.console import console, errors, warn
from olive_iw.errors import InputError, clean_text, unknown_name
from olive_iw.runs.stopping import stopping_on_signals
from olive_iw.simulators.base import SimulatorError

COMMANDS: dict[str, Callable[..., None]] = {
    "run": run.run,
    "play": play.play,
    "pretrained": pretrained.pretrained,
    "sweep": sweep.sweep,
    "status": status.status,
    "export": export.export,
    "report": report.report,
    "compare": compare.compare,
    "verify": verify.verify,
    "video": video.video,
    "gif": gif.gif,
    "view": view.view,
    "bench": bench.bench,
    "doctor": doctor.doctor,
    "list": list.list_parts,
}
SETTINGS_TYPES: dict[str, Callable[[Sequence[str]], dict[str, Any]]] = {
    "run": run.settings_types,
    "play": play.settings_types,
    "sweep": sweep.settings_types,
    "view": play.settings_types,
}
"""Commands with options that are settings, whose defaults depend on other arguments."""
SHELLS = ("bash", "zsh", "fish")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    words = [*(sys.argv[1:] if arguments is None else arguments)]
    if words == ["--version"]:
        print(f"olive-iw {__version__}")
        return
    sys.exit(_guarded(lambda: _command(words)))


def _command(arguments: Any) -> None:
    """Load what the options before a command name, then do the command.

    Files name neither modules nor plug-ins that were not loaded before, so that reading one never
    runs somebody's code.
    """
    while arguments[:1] in (["--import"], ["--plugins"]):
        if arguments.pop(0) == "--plugins":
            list.load_plugins()
        elif arguments:
            module = arguments.pop(0)
            try:
                importlib.import_module(module)
            except ImportError as error:
                raise InputError(f"--import {module}: {error}") from None
    name, *rest = arguments or ["--help"]
    if name in ("-h", "--help"):
        _overview()
    elif name == "--completion":
        _completion(*rest[:1])
    elif name not in COMMANDS:
        raise unknown_name("command", name, COMMANDS)
    else:
        command = COMMANDS[name]
        if name in SETTINGS_TYPES:
            command.__annotations__ |= SETTINGS_TYPES[name](rest)
        # Broken lines would stay broken in the help of an argument.
        command.__doc__ = re.sub(r"\n {12,}", " ", command.__doc__ or "")
        about = _description(command.__doc__)
        prog = f"olive-iw {name}"
        tyro.cli(command, prog=prog, args=rest, description=about, registry=PARSING)


def _description(text: str) -> str:
    """Return a command's text without its arguments, in lines that fit the terminal."""
    paragraphs = inspect.cleandoc(text).partition("Args:\n")[0].split("\n\n")
    return "\n\n".join(
        textwrap.fill(" ".join(paragraph.split()), console.width, subsequent_indent=" ")
        for paragraph in paragraphs
    )


def _completion(shell: str = "") -> None:
    """Print the script by which a shell completes commands and options."""
    if shell not in SHELLS:
        raise InputError(f"--completion needs a shell: {', '.join(SHELLS)}")
    for name, types in SETTINGS_TYPES.items():
        COMMANDS[name].__annotations__ |= types([])
    words = ["--tyro-write-completion", shell, "-"]
    tyro.extras.subcommand_cli_from_dict(COMMANDS, prog="olive-iw", args=words)


def _overview() -> None:
    table = Table.grid(padding=(0, 2))
    for name, command in COMMANDS.items():
        table.add_row(f"  {name}", Text((command.__doc__ or "").partition("\n")[0]))
    console.print("usage: olive-iw [--plugins] [--import MODULE] COMMAND …\n", markup=False)
    console.print("Play games by width-based planning, with binary features learned while playing.")
    console.print("\n", table, sep="")
    console.print(
        "\nEvery command has its own --help. Example: olive-iw play breakout\n"
        "--plugins loads installed plug-ins, --import a module, so that files may name them.\n"
        "--completion bash, zsh or fish prints a script for the shell; --version the version."
    )


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
