"""The terminal that all commands print to."""

from rich.console import Console

from olive_iw.errors import clean_text

console = Console()
errors = Console(stderr=True)


def warn(*messages: str) -> None:
    """Print warnings to the standard error, a line each."""
    for message in messages:
        line = clean_text(f"warning: {message}")
        errors.print(line, style="yellow", highlight=False, markup=False)
