"""Being asked to stop: SIGTERM does what Ctrl-C does."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


@contextmanager
def stopping_on_sigterm() -> Iterator[None]:
    """Turn SIGTERM into `KeyboardInterrupt`, so that files and locks are left as they should be.

    Only a program's main thread can handle signals; elsewhere nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt(signal.Signals(number).name)
