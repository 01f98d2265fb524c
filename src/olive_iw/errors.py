"""Errors that are the user's to mend, and text that is safe to print."""

import difflib
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_LISTED = 30
"""Names of a registry that an error lists at most."""


class InputError(ValueError):
    """Something the user asked for cannot be; the message says what, and what would be right.

    The command line prints it in one line and exits with code 2.
    """


class SimulatorError(RuntimeError):
    """A simulator broke its contract."""


class AdviceWarning(UserWarning):
    """Something that works, but probably not as meant; the message names the way out."""


class DamagedFileError(InputError):
    """A file that cannot be used, in whole or in part: torn, odd, or made by somebody else."""

    def __init__(self, path: object, what: str) -> None:
        """Say in one line which file it is and what is wrong with it."""
        super().__init__(one_line(f"{path}: {what}"))


def advise(message: str) -> None:
    """Warn with an `AdviceWarning`, at the line outside of this package that led here."""
    level, frame = 1, sys._getframe()
    while frame.f_globals.get("__name__", "").partition(".")[0] == __package__ and frame.f_back:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, AdviceWarning, stacklevel=level)


@contextmanager
def noted(problems: list[str]) -> Iterator[None]:
    """Note what is wrong with a file, and go on with the next."""
    try:
        yield
    except InputError as error:
        problems.append(str(error))


def clean_text(text: str) -> str:
    """Text for a terminal: control characters, escape sequences among them, are replaced by �.

    Line breaks and tabs stay.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)


def one_line(text: str, most: int = 500) -> str:
    """Clean text in a single line of at most `most` characters."""
    line = " ".join(clean_text(text[: 4 * most]).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def shown(value: object) -> str:
    """Say in a few words what somebody gave: also a number of too many digits to be printed."""
    if isinstance(value, int) and abs(value) > 10**20:
        return "a huge number"
    if isinstance(value, list | dict):
        return f"a {'list' if isinstance(value, list) else 'table'}"
    return one_line(repr(value), 60)


def unknown_name(kind: str, name: str, known: Iterable[str]) -> InputError:
    """Error for a name that is not in a registry, with the nearest ones that are, in any case."""
    names = sorted(known)
    near = [each for each in names if each.partition(":")[2] == name]
    if not near:
        plain = {each.casefold(): each for each in names}
        found = difflib.get_close_matches(name.casefold(), plain, n=3, cutoff=0.5)
        near = [plain[each] for each in found]
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    all_known = f"known: {', '.join(names[:_LISTED])}{more}"
    hint = f"did you mean {', '.join(near)}?" if near else all_known
    return InputError(f"unknown {kind} {shown(name)}; {hint}")


@contextmanager
def needing(extra: str, what: str) -> Iterator[None]:
    """Say which extra of the package to install, if something is imported that is not there."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        if missing == "olive_iw":
            raise
        raise InputError(f"{what} needs {missing}: pip install 'olive-iw[{extra}]'") from None
