"""A lock that dies with its owner: two processes never work in one folder."""

import errno
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from olive_iw.errors import InputError, one_line
from olive_iw.files import naming, open_own

try:
    import fcntl
except ImportError:  # Windows, which has a call of its own for it
    fcntl = None  # type: ignore[assignment]

PATIENCE = 0.5
"""Seconds to wait for a lock: `is_locked` of another process holds it for a moment to ask."""
_HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)
"""What the operating system says if somebody else has the lock; anything else is a problem."""


class BusyError(InputError):
    """Another living process works in the folder."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock; the operating system frees it when this process ends, however it ends."""
    deadline, taken = time.monotonic() + PATIENCE, False
    while not taken:
        with os.fdopen(open_own(path, os.O_RDWR | os.O_CREAT), "r+", encoding="utf-8") as file:
            while not _take(file.fileno()):
                if time.monotonic() >= deadline:
                    owner = one_line(file.read(200)) or "another process"
                    raise BusyError(f"{path.parent} is being worked on by {owner}")
                time.sleep(0.02)
            if taken := _is_there(path, file.fileno()):
                with naming(path):
                    os.ftruncate(file.fileno(), 0)
                    os.write(
                        file.fileno(), f"process {os.getpid()} on {socket.gethostname()}".encode()
                    )
                yield


def _is_there(path: Path, descriptor: int) -> bool:
    """Whether an open file still has its name: a start that came to nothing removes its lock."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def is_locked(path: Path) -> bool:
    """Say whether some living process holds the lock.

    What cannot be opened or locked at all, on a read-only disk for example, nobody works on.
    """
    try:
        # Windows locks only what may be written; elsewhere looking needs no right to write.
        descriptor = open_own(path, os.O_RDONLY if fcntl else os.O_RDWR)
    except (OSError, InputError):
        return False
    try:
        return not _take(descriptor, only_look=True)
    except OSError:
        return False
    finally:
        os.close(descriptor)


def _take(descriptor: int, only_look: bool = False) -> bool:
    """Take the lock on an open file; False if somebody else has it."""
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if only_look else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        else:
            import msvcrt

            os.lseek(descriptor, 2**30, os.SEEK_SET)  # beyond the text, which others must read
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError as error:
        if error.errno in _HELD:
            return False
        raise
    return True
