"""Files that are never half written, and never another file than the one that was named."""

import contextlib
import errno
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from olive_iw.errors import InputError, one_line

NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
"""Flag of `os.open` that refuses symbolic links, where the system has it."""
NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""Flag of `os.open` without which opening a pipe waits for somebody at its other end."""
_ASIDE = re.compile(r"\..+\.\d+\.aside")


class WritingError(OSError):
    """A file could not be written; the message says which."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let an error of the disk name the file, or the folder, that is being written."""
    try:
        yield
    except WritingError:
        raise
    except OSError as error:
        what = one_line(error.strerror or str(error), 100)
        raise WritingError(f"{path} could not be written ({what}); is the disk full?") from error


@contextmanager
def atomic_write(path: Path, durable: bool = True) -> Iterator[Path]:
    """Path to write to; afterwards it is flushed to the disk and renamed to `path`.

    If that fails, `path` is as it was, and the error says which file could not be written. What
    is not `durable` may be lost when the machine stops, but is never half there.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}.aside")
    try:
        with naming(path):
            aside.unlink(missing_ok=True)  # it may be somebody's link to another file
            yield aside
            if durable:
                flush(aside)
            aside.replace(path)
            if durable:
                flush_folder(path.parent)
    finally:
        aside.unlink(missing_ok=True)


def write_text(path: Path, text: str, durable: bool = True) -> None:
    """Write a text file as a whole or not at all."""
    with atomic_write(path, durable) as aside:
        aside.write_text(text, encoding="utf-8")


def write_json(path: Path, fields: dict[str, Any], durable: bool = True) -> None:
    """Write a JSON file as a whole or not at all; infinities and NaN are refused."""
    write_text(path, json.dumps(fields, allow_nan=False) + "\n", durable)


def remove_leftovers(folder: Path) -> None:
    """Remove what a killed process was writing by `atomic_write`, and nothing else."""
    for path in folder.iterdir():
        if _ASIDE.fullmatch(path.name) and (path.is_symlink() or path.is_file()):
            path.unlink()


def make_folder(path: Path, within: Path) -> None:
    """Make a folder below another; links on the way to it, and ways up, are refused."""
    refuse_links(path, within)
    path.mkdir(parents=True, exist_ok=True)


def refuse_links(path: Path, within: Path) -> None:
    """Refuse a path that leads up, or over a link, on its way from a folder that it lies in."""
    place = within
    for part in path.relative_to(within).parts:
        place = place / part
        if part == ".." or place.is_symlink():
            what = "leads up" if part == ".." else "is a symbolic link"
            raise InputError(f"{place} {what}; no run is kept outside of {within}")


def open_own(path: Path, flags: int) -> int:
    """Descriptor of a plain file that has one name only: no other file can be changed by it.

    Symbolic links, files with a second name (hard links), pipes and devices are refused.
    """
    try:
        descriptor = os.open(path, flags | NO_FOLLOW | NO_WAIT, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP or path.is_symlink():
            raise InputError(f"{path} is a symbolic link; a run's own files must be none") from None
        if error.errno == errno.ENXIO:
            raise InputError(f"{path} is not a plain file; a run's own files must be") from None
        raise
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and found.st_nlink <= 1:
        return descriptor
    os.close(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{path} is not a plain file; a run's own files must be")
    raise InputError(f"{path} has a second name (a hard link); a run's own files have one")


def flush(path: Path) -> None:
    """Make sure that a file's contents are on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def flush_folder(path: Path) -> None:
    """Make sure that a folder's names, after a rename in it, are on the disk."""
    with contextlib.suppress(OSError):  # some systems cannot open or flush folders
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
