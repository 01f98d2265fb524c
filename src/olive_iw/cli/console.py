"""The terminal that all commands print to."""

import shlex
import shutil
import sys
from pathlib import Path

from rich.console import Console

from olive_iw.errors import clean_text

console = Console()
errors = Console(stderr=True)


def warn(*messages: str) -> None:
    """Print warnings to the standard error, a line each."""
    for message in messages:
        line = clean_text(f"warning: {message}")
        errors.print(line, style="yellow", highlight=False, markup=False, soft_wrap=True)


def end(left_out: int) -> None:
    """End a command that has shown all it could read: with exit code 1 if that was not all."""
    if left_out:
        warn(f"{left_out} file{'s were' if left_out > 1 else ' was'} left out; exit code 1")
        sys.exit(1)


def suggest(*commands: tuple[str, Path, str]) -> None:
    """Say how to go on: each a command, its path, and what it is for.

    The program is named by its path where it would not be found by its name.
    """
    found = shutil.which("olive-iw") is None and Path(sys.argv[0]).stem == "olive-iw"
    program = sys.argv[0] if found else "olive-iw"
    console.print("\nNext:")
    for command, path, purpose in commands:
        line = f"  {shlex.join([program, command, str(path)])}  # {purpose}"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
