"""Being asked to stop, by Ctrl-C or by SIGTERM: both raise `KeyboardInterrupt`."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_asked: list[str] = []
"""Names of the signals that came; a list, since no lock may be taken when one comes."""
RAISING = 2
"""The first signal asks to stop, the second not to wait for anything; who cleans up after that is
left in peace, since nobody would catch a third."""


@contextmanager
def stopping_on_signals(to_exit: bool = False) -> Iterator[None]:
    """Turn SIGTERM into `KeyboardInterrupt` too: files and locks are left as they should be.

    One that Python drops (see `stop_if_asked`) is not printed as an error. Only a program's main
    thread can handle signals; elsewhere, and within another such context, nothing changes.
    `to_exit` is for the context of a whole program: once asked to stop it only has to end, and
    signals are ignored from then on.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGTERM) is _interrupt:
        yield
        return
    before = {signal.SIGTERM: signal.signal(signal.SIGTERM, _interrupt)}
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not ignored
        before[signal.SIGINT] = signal.signal(signal.SIGINT, _interrupt)
    tell = sys.unraisablehook

    def tell_if_news(dropped: "sys.UnraisableHookArgs") -> None:
        if not issubclass(dropped.exc_type, KeyboardInterrupt):
            tell(dropped)

    sys.unraisablehook = tell_if_news
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if to_exit and _asked else handler)
        sys.unraisablehook = tell
        _asked.clear()


def stop_if_asked() -> None:
    """Raise `KeyboardInterrupt` again if it was raised where nobody could catch it.

    Python drops what is raised in a library's callback, such as one that loads compiled code.
    """
    if _asked:
        raise KeyboardInterrupt(_asked[-1])


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    _asked.append(signal.Signals(number).name)
    if len(_asked) >= RAISING:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt(_asked[-1])
