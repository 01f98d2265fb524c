"""A lock that dies with its owner: two processes never work in one folder."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from olive_iw.errors import InputError

try:
    import fcntl
except ImportError:  # Windows, which has a call of its own for it
    fcntl = None  # type: ignore[assignment]


PATIENCE = 0.5
"""Seconds to wait for a lock: `is_locked` of another process holds it for a moment to ask."""


class BusyError(InputError):
    """Another living process works in the folder."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock; the operating system frees it when this process ends, however it ends."""
    with path.open("a+", encoding="utf-8") as file:
        try:
            _take_patiently(file.fileno())
        except OSError:
            file.seek(0)
            owner = file.read().strip() or "another process"
            raise BusyError(f"{path.parent} is being worked on by {owner}") from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        yield


def is_locked(path: Path) -> bool:
    """Say whether some living process holds the lock."""
    if not path.exists():
        return False
    try:
        with path.open("a+", encoding="utf-8") as file:
            _take(file.fileno())
    except OSError:
        return True
    return False


def _take_patiently(descriptor: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return _take(descriptor)
        except OSError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.02)


def _take(descriptor: int) -> None:
    """Take the lock on an open file or raise `OSError` at once."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        import msvcrt

        os.lseek(descriptor, 2**30, os.SEEK_SET)  # beyond the text, which others must read
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
