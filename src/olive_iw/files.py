"""Files that are never half written."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Path to write to; afterwards it is flushed to the disk and renamed to `path`.

    If that fails, `path` is as it was, and the error says which file could not be written.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}.aside")
    try:
        yield aside
        flush(aside)
        aside.replace(path)
    except OSError as error:
        raise OSError(f"{path} could not be written ({error}); is the disk full?") from error
    finally:
        aside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file as a whole or not at all."""
    with atomic_write(path) as aside:
        aside.write_text(text, encoding="utf-8")


def flush(path: Path) -> None:
    """Make sure that a file's contents are on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
