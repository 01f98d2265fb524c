"""What the commands share: the terminal, and how arguments are written."""

from typing import Annotated

import tyro
from rich.console import Console

from olive_iw.errors import clean_text

console = Console()
errors = Console(stderr=True)

Game = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="GAME")]
Games = Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[GAME …]")]
Json = Annotated[bool, tyro.conf.arg(name="json")]


def warn(*messages: str) -> None:
    """Print warnings to the standard error, a line each."""
    for message in messages:
        line = clean_text(f"warning: {message}")
        errors.print(line, style="yellow", highlight=False, markup=False)
