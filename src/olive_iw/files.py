"""Files that are never half written, and never another file than the one that was named."""

import contextlib
import errno
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from olive_iw.errors import InputError

NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
"""Flag of `os.open` that refuses symbolic links, where the system has it."""
_ASIDE = re.compile(r"\..+\.\d+\.aside")


@contextmanager
def atomic_write(path: Path, durable: bool = True) -> Iterator[Path]:
    """Path to write to; afterwards it is flushed to the disk and renamed to `path`.

    If that fails, `path` is as it was, and the error says which file could not be written. What
    is not `durable` may be lost when the machine stops, but is never half there.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}.aside")
    try:
        aside.unlink(missing_ok=True)  # it may be somebody's link to another file
        yield aside
        if durable:
            flush(aside)
        aside.replace(path)
        if durable:
            flush_folder(path.parent)
    except OSError as error:
        raise OSError(f"{path} could not be written ({error}); is the disk full?") from error
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


def open_own(path: Path, flags: int) -> int:
    """Descriptor of a file that is no symbolic link, so that what is changed is what was named."""
    try:
        return os.open(path, flags | NO_FOLLOW, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP or path.is_symlink():
            raise InputError(f"{path} is a symbolic link; a run's own files must be none") from None
        raise


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
