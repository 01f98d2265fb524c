"""Errors that are the user's to mend."""

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """Something the user asked for cannot be; the message says what, and what would be right.

    The command line prints it in one line and exits with code 2.
    """


def unknown_name(kind: str, name: str, known: Iterable[str]) -> InputError:
    """Error for a name that is not in a registry, with the nearest ones that are."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(names)}"
    return InputError(f"unknown {kind} {name!r}; {hint}")
