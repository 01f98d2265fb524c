"""Processes of our own, each with a channel to it: how they start, talk and end."""

import contextlib
import multiprocessing
import os
import pickle
import queue
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from struct import Struct
from time import perf_counter, sleep
from typing import Any, final

ROOM = 1 << 18
"""Bytes that can be on their way before the sender has to wait; the system may allow fewer."""
_LENGTH = Struct("<Q")


def limit_torch(threads: int) -> None:
    """Let torch use so many threads in this process, whether it is loaded yet, later or never."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


@final
class Channel:
    """One end of a line between two processes: messages of bytes, or of objects, both ways.

    A process that waits for a message looks out for it for `patience` seconds before it lets its
    core sleep: to wake a core up takes longer than a message does. Where nothing comes or goes for
    `limit` seconds, a `TimeoutError` is raised; None waits for ever.
    """

    def __init__(
        self, end: socket.socket, patience: float = 0.0, limit: float | None = None
    ) -> None:
        self._socket = end
        self._patience = patience
        self.set_limit(limit)
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            end.setsockopt(socket.SOL_SOCKET, option, ROOM)
        self.fileno = end.fileno
        self.ready: Callable[[], object]
        """Whether there is a message, or the end of the line."""
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(end, select.POLLIN)
            self.ready = partial(poll.poll, 0)
        else:
            self.ready = lambda: select.select([end], [], [], 0)[0]

    def set_limit(self, seconds: float | None) -> None:
        """Change the limit."""
        self.limit = seconds
        self._socket.settimeout(seconds)

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

    def send_object(self, content: Any) -> None:
        """Send anything that can be pickled."""
        self.send(pickle.dumps(content))

    def receive_object(self) -> Any:
        """Wait for what `send_object` sent; both ends are processes of ours."""
        return pickle.loads(self.receive())

    def close(self) -> None:
        """End the line, for the other end too."""
        self._socket.close()

    def _read(self, size: int) -> bytes:
        read = b""
        # Mostly one piece; a signal may cut it.
        while len(read) < size:
            more = self._socket.recv(size - len(read), socket.MSG_WAITALL)
            if not more:
                raise EOFError
            read += more
        return read


_let_others_run: Callable[[], Any] = getattr(os, "sched_yield", partial(sleep, 0.0))


@final
class ChildProcess:
    """A process that does `work(channel, *arguments)`; `channel` here is the other end.

    It copies neither the threads nor the open files of this process, and ignores Ctrl-C, which
    reaches every process of a terminal: the one that started it decides what that means.
    """

    def __init__(
        self,
        work: Callable[..., None],
        *arguments: Any,
        preload: str | None = None,
        has_children: bool = False,
        patience: float = 0.0,
        limit: float | None = None,
    ) -> None:
        """Start it; `work` must be importable there.

        preload: module that is loaded once for all such processes, which then share its memory
        (where the system can do that); None: each is an interpreter of its own
        has_children: whether it may start processes too; without it, it ends with this one
        patience, limit: of the channel, see there
        """
        ours, theirs = socket.socketpair()
        enter = (theirs, patience, work, arguments)
        make = _context(preload).Process
        self._process = make(target=_enter, args=enter, daemon=not has_children)
        with _without_ctrl_c():
            self._process.start()
        # With our copy closed, the line ends when the process does, however it does.
        theirs.close()
        self.channel = Channel(ours, patience, limit)
        self.pid: int = self._process.pid
        self.join = self._process.join
        self.kill = self._process.kill
        self.ask_to_stop = self._process.terminate
        """Send it SIGTERM; neither this nor `kill` waits for its end, `join` does."""

    @property
    def exit_code(self) -> int | None:
        """None while it lives, and minus a signal's number if that has ended it."""
        code: int | None = self._process.exitcode
        return code

    def close(self) -> None:
        """End it at once, and the line with it."""
        self.kill()
        self.join()
        self.channel.close()

    def how_it_ended(self) -> str:
        """Wait for its end and say how it came, as what follows "the process"."""
        self.join()
        code = self.exit_code
        if code is None or code >= 0:
            return f"ended with exit code {code}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        hint = ", perhaps for want of memory" if name == "SIGKILL" else ""
        return f"was ended by {name}{hint}"


def map_in_processes(
    work: Callable[[Any], Any], items: Sequence[Any], workers: int, preload: str
) -> list[Any]:
    """Do `work(item)` for all items in so many processes; what it returns, in their order.

    `work` must be importable there and never raise. `preload` as of `ChildProcess`.
    """
    free: queue.SimpleQueue[ChildProcess] = queue.SimpleQueue()
    children = [
        ChildProcess(_serve_map, work, preload=preload) for _ in range(min(workers, len(items)))
    ]
    for child in children:
        free.put(child)

    def ask(item: Any) -> Any:
        child = free.get()
        try:
            child.channel.send_object(item)
            return child.channel.receive_object()
        except (EOFError, OSError):
            raise RuntimeError(f"a process {child.how_it_ended()}") from None
        finally:
            free.put(child)

    with ThreadPoolExecutor(len(children) or 1) as threads:
        try:
            return list(threads.map(ask, items))
        finally:  # after an interrupt, what still waits ends at once
            for child in children:
                child.close()


def _serve_map(channel: Channel, work: Callable[[Any], Any]) -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            channel.send_object(work(channel.receive_object()))


@contextlib.contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Let processes that this thread starts meanwhile be deaf to Ctrl-C from their first moment.

    They ignore it later, but loading libraries takes seconds, and one that is interrupted there
    prints a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    # It is started with the first process, and would undo this.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _context(preload: str | None) -> Any:
    if preload is None or "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    # Counts for the first process of a program, which starts the server.
    context.set_forkserver_preload([preload, "numba"])  # nearly every process compiles
    return context


def _enter(end: socket.socket, patience: float, work: Callable[..., None], rest: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A program that is about to end ignores it, and its children would inherit that.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    work(Channel(end, patience), *rest)


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def forget_peak_memory() -> None:
    """Let `peak_memory` count from now on, where the system can do that (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int | None:
    """Most memory that this process has held, in bytes; None where the system does not say.

    Since `forget_peak_memory`, or else since its start.
    """
    with contextlib.suppress(OSError):
        # Not getrusage: on Linux a new process's peak there starts at its parent's.
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
