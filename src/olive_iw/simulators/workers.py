"""Copies of a simulator in processes of their own, for calls at the same time.

A saved state travels as bytes: pickled once, where it was saved, and unpickled where a call starts
from it. A worker that dies is replaced, and what it was asked is asked again.
"""

import contextlib
import multiprocessing
import pickle
import select
import signal
import weakref
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from time import process_time
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.errors import InputError
from olive_iw.simulators.base import Simulator, SimulatorError, Step, read_only

MOST_DEATHS = 3
"""Workers that may die over one call; then it is the call that kills them."""
MOST_ASKED = 2
"""Calls that a worker can be asked for at a time: while the answer to one is on its way, and the
next question is thought of, it makes the other."""
_SMALL = 1 << 15
"""Bytes that a pipe takes at once, though nobody reads them yet."""


class Request(NamedTuple):
    """One call."""

    state: bytes
    """Where it starts, as `freeze` made it."""
    action: int
    continues: bool
    """Whether it starts where the worker's last call ended, so that nothing must be restored."""


class Reply(NamedTuple):
    """What a call showed."""

    step: Step
    state: bytes | None
    """State after it; None at the end of an episode."""


def freeze(state: Any) -> bytes:
    """Turn a saved state, or anything else, into bytes."""
    return pickle.dumps(state, pickle.HIGHEST_PROTOCOL)


def thaw(state: bytes) -> Any:
    """Turn bytes back into what they were."""
    return pickle.loads(state)


@final
class Workers:
    """Processes that each hold a copy of a simulator and make one call at a time.

    Workers are numbered from 0. Each can be asked for `MOST_ASKED` calls, `ask(worker, request)`,
    and answers them in their order, `answer(worker)`. Calls are deterministic, so one that is made
    again by another worker shows the same.
    """

    def __init__(self, simulator: Simulator, count: int) -> None:
        """Start `count` processes; the simulator must be picklable, as its states are anyway."""
        if count < 0:
            raise InputError(f"{count} workers are not possible; it must be at least 0")
        self._pickled = _pickled(simulator) if count else b""
        # The colours that workers meet are the simulator's too: see `Simulator`.
        self._colours = _colours(simulator)
        self._workers = [_start(self._pickled) for _ in range(count)]
        self._asked: list[deque[Request]] = [deque() for _ in range(count)]
        self._arrived: list[deque[bytes]] = [deque() for _ in range(count)]
        self.processor_seconds = 0.0
        """Processor time of all calls so far."""
        self._finalizer = weakref.finalize(self, _stop, self._workers)

    def __len__(self) -> int:
        return len(self._workers)

    @property
    def processes(self) -> list[int]:
        """Process ids, by worker."""
        return [worker.process.pid for worker in self._workers]

    def ask(self, worker: int, request: Request) -> None:
        """Let a worker make a call, after those that it has not answered yet."""
        asked, arrived = self._asked[worker], self._arrived[worker]
        if len(asked) == MOST_ASKED:
            raise RuntimeError(f"worker {worker} has not answered yet")
        # A long question must not meet a long answer: each would wait for the other to be read.
        while len(request.state) > _SMALL and len(arrived) < len(asked):
            arrived.append(self._received(worker))
        asked.append(request)
        try:
            self._send(worker, request)
        except OSError:
            self._replace(worker)

    def answered(self) -> list[int]:
        """Workers whose answers can be had without waiting."""
        asked = [worker for worker, requests in enumerate(self._asked) if requests]
        ready = _ready([self._workers[worker].connection for worker in asked])
        return [
            worker
            for worker, is_ready in zip(asked, ready, strict=True)
            if is_ready or self._arrived[worker]
        ]

    def answer(self, worker: int) -> Reply:
        """Wait for a worker's next answer; what the simulator raised is raised here."""
        arrived = self._arrived[worker]
        answer = thaw(arrived.popleft() if arrived else self._received(worker))
        self._asked[worker].popleft()
        if isinstance(answer, BaseException):
            raise answer
        (screen, reward, terminal, lives, ram, state), colours, seconds = answer
        self.processor_seconds += seconds
        for ours, theirs in zip(self._colours, colours, strict=False):
            if ours.flags.writeable:
                known = theirs != 0
                ours[known] = theirs[known]
        ram = None if ram is None else read_only(ram)
        return Reply(Step(read_only(screen), reward, terminal, lives, ram), state)

    def forget(self) -> None:
        """Drop what is being worked on, by replacing the workers that have not answered."""
        for worker, asked in enumerate(self._asked):
            if asked:
                asked.clear()
                self._renew(worker)

    def close(self) -> None:
        """End the processes."""
        self._finalizer()

    def _send(self, worker: int, request: Request) -> None:
        state = None if request.continues else request.state
        self._workers[worker].connection.send_bytes(freeze((state, request.action)))

    def _received(self, worker: int) -> bytes:
        """Wait for the bytes of a worker's next answer, however many processes it takes."""
        deaths = 0
        while True:
            try:
                return self._workers[worker].connection.recv_bytes()
            except (EOFError, OSError):
                deaths += 1
                if deaths == MOST_DEATHS:
                    action = self._asked[worker][len(self._arrived[worker])].action
                    self.forget()
                    raise SimulatorError(
                        f"{MOST_DEATHS} processes died one after another when the simulator was "
                        f"told to do action {action}; without search workers its own error would "
                        "show"
                    ) from None
                self._replace(worker)

    def _replace(self, worker: int) -> None:
        """Start another process in place of one that died, and ask it what is unanswered."""
        arrived = self._arrived[worker].copy()
        self._renew(worker)
        self._arrived[worker].extend(arrived)
        with contextlib.suppress(OSError):  # it may die as well: that shows when it is to answer
            for request in list(self._asked[worker])[len(arrived) :]:
                # The new one does not stand where the old one stood.
                self._send(worker, request._replace(continues=False))

    def _renew(self, worker: int) -> None:
        _stop([self._workers[worker]])
        self._arrived[worker].clear()
        self._workers[worker] = _start(self._pickled)


@dataclass(frozen=True, slots=True)
class _Worker:
    process: Any
    connection: Connection


def _pickled(simulator: Simulator) -> bytes:
    try:
        return pickle.dumps(simulator)
    except Exception as error:
        raise InputError(
            f"{type(simulator).__name__} cannot be copied into other processes ({error}); "
            "make it picklable, or search with one worker"
        ) from error


def _start(pickled: bytes) -> _Worker:
    # Processes that copy neither the threads nor the open files of this one.
    methods = multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    # For the first processes of a program; without it each loads the libraries anew.
    context.set_forkserver_preload(["olive_iw.simulators.workers"])
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, pickled), daemon=True)
    process.start()
    # With our copy closed, the pipe ends when the process does, however it does.
    theirs.close()
    return _Worker(process, ours)


def _stop(workers: Iterable[_Worker]) -> None:
    for worker in workers:
        worker.connection.close()
        worker.process.kill()
    for worker in workers:
        worker.process.join()


def _ready(connections: list[Connection]) -> list[bool]:
    """Whether each connection has something to be read."""
    if not hasattr(select, "poll"):
        return [connection.poll() for connection in connections]
    # A tenth of the time that `Connection.poll` takes.
    poll = select.poll()
    for connection in connections:
        poll.register(connection, select.POLLIN)
    found = {number for number, _ in poll.poll(0)}
    return [connection.fileno() in found for connection in connections]


def _colours(simulator: Simulator) -> list[NDArray[np.uint8]]:
    """Arrays in which a simulator says how to read its screens, those there are."""
    arrays = (getattr(simulator, name, None) for name in ("palette", "grey_levels"))
    return [array for array in arrays if isinstance(array, np.ndarray)]


def _serve(connection: Connection, pickled: bytes) -> None:
    """Make the calls that are asked for, until the pipe ends."""
    # Ctrl-C reaches the whole group of processes; the planner's process decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    simulator: Simulator = pickle.loads(pickled)
    told: list[NDArray[np.uint8]] = []
    with contextlib.suppress(EOFError, OSError):
        while True:
            state, action = thaw(connection.recv_bytes())
            began = process_time()
            try:
                shown = _call(simulator, state, action)
            except Exception as error:
                connection.send_bytes(freeze(_portable(error)))
                continue
            colours = _colours(simulator)
            news = len(told) != len(colours) or not all(map(np.array_equal, colours, told))
            if news:
                told = [array.copy() for array in colours]
            seconds = process_time() - began
            connection.send_bytes(freeze((shown, told if news else [], seconds)))


def _call(simulator: Simulator, state: bytes | None, action: int) -> tuple[Any, ...]:
    if state is not None:
        simulator.restore(thaw(state))
    step = simulator.step(action)
    if not isinstance(step, Step):
        raise SimulatorError(f"step({action}) returned {type(step).__name__}, not a Step")
    after = None if step.terminal else freeze(simulator.save())
    return step.screen, step.reward, step.terminal, step.lives, step.ram, after


def _portable(error: Exception) -> Exception:
    """Return an error that survives the way to another process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return SimulatorError(f"{type(error).__name__}: {error}")
    return error
