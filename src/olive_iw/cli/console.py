"""The terminal that all commands print to."""

import shlex
import shutil
import sys
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console

from olive_iw.errors import clean_text


class _Console(Console):
    def print(self, *objects: Any, crop: bool = False, **options: Any) -> None:
        """Print; what is wider than the terminal (a path) is left whole."""
        super().print(*objects, crop=crop, **options)

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError  # `main` knows how to end


console = _Console()
errors = _Console(stderr=True)


def warn(*messages: str) -> None:
    """Print warnings to the standard error, a line each."""
    for message in messages:
        line = clean_text(f"warning: {message}")
        errors.print(line, style="yellow", highlight=False, markup=False, soft_wrap=True)


def wrote(path: Path, what: str = "") -> None:
    """Say that a file was written, and what is in it."""
    line = clean_text(f"wrote {path}{what and f': {what}'}")
    console.print(line, highlight=False, markup=False, soft_wrap=True)


def end(left_out: int) -> None:
    """End a command that has shown all it could read: with exit code 1 if that was not all."""
    if left_out:
        warn(f"{left_out} file{'s were' if left_out > 1 else ' was'} left out; exit code 1")
        sys.exit(1)


def suggest(*commands: tuple[str, Path, str]) -> None:
    """Say how to go on: each a command, its path, and what it is for.

    The program is named by its path where it would not be found by its name. A line that is wider
    than the terminal goes on, for the shell too, in front of the path.
    """
    found = shutil.which("olive-iw") is None and Path(sys.argv[0]).stem == "olive-iw"
    program = sys.argv[0] if found else "olive-iw"
    lines = ["", "Next:"]
    for command, path, purpose in commands:
        what, where = shlex.join([program, command]), shlex.quote(str(path))
        line = f"  {what} {where}  # {purpose}"
        if len(line) > console.width:
            line = f"  # {purpose}\n  {what} \\\n    {where}"
        lines.append(line)
    console.print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)
