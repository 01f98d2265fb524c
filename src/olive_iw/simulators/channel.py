"""Messages between two processes, each a few times in a millisecond."""

import os
import select
import socket
from collections.abc import Callable
from functools import partial
from struct import Struct
from time import perf_counter, sleep
from typing import Any, final

ROOM = 1 << 18
"""Bytes that can be on their way before the sender has to wait; the system may allow fewer."""
_LENGTH = Struct("<Q")


@final
class Channel:
    """One end of a line: messages of bytes, both ways.

    A process that waits for a message looks out for it for `patience` seconds before it lets its
    core sleep: to wake a core up takes longer than a message does.
    """

    def __init__(self, end: socket.socket, patience: float) -> None:
        self._socket = end
        self._patience = patience
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            end.setsockopt(socket.SOL_SOCKET, option, ROOM)
        self.ready: Callable[[], object]
        """Whether there is a message, or the end of the line."""
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(end, select.POLLIN)
            self.ready = partial(poll.poll, 0)
        else:
            self.ready = lambda: select.select([end], [], [], 0)[0]

    def send(self, *parts: bytes | memoryview) -> None:
        """Send a message, in one piece; raises `OSError` if nobody is there to read it."""
        length = _LENGTH.pack(sum(map(len, parts)))
        self._socket.sendall(b"".join((length, *parts)))

    def receive(self) -> bytes:
        """Wait for a message; raises `EOFError` or `OSError` at the end of the line."""
        until = perf_counter() + self._patience
        while not self.ready() and perf_counter() < until:
            _let_others_run()
        return self._read(*_LENGTH.unpack(self._read(_LENGTH.size)))

    def close(self) -> None:
        """End the line, for the other end too."""
        self._socket.close()

    def _read(self, size: int) -> bytes:
        read = self._socket.recv(size, socket.MSG_WAITALL)
        while len(read) < size:
            more = self._socket.recv(size - len(read), socket.MSG_WAITALL)
            if not more:
                raise EOFError
            read += more
        return read


_let_others_run: Callable[[], Any] = getattr(os, "sched_yield", partial(sleep, 0.0))
