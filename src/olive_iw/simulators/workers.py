"""Copies of a simulator in processes of their own, for calls at the same time.

A saved state travels as bytes: pickled once, where it was saved, and unpickled where a call starts
from it. A worker that dies, or does not answer in time, is replaced, and what it was asked is asked
again.
"""

import contextlib
import pickle
import warnings
import weakref
from collections import deque
from time import process_time
from typing import final

import numpy as np
from numpy.typing import NDArray

from olive_iw.errors import InputError, SimulatorError
from olive_iw.processes import Channel, ChildProcess, usable_cores
from olive_iw.simulators.base import Simulator, Step
from olive_iw.simulators.messages import (
    Answer,
    CallRequest,
    answer_message,
    freeze,
    read_answer,
    read_request,
    request_message,
    thaw,
)

MOST_TRIES = 3
"""Workers that may die or hang over one call; then it is the call that is the cause."""
CALL_SECONDS = 60.0
"""Seconds after which a call that has not been answered hangs."""
START_SECONDS = 120.0
"""Least seconds that the first answer of a process may take: it loads libraries before it."""
RESET = -1
"""Asked for in place of an action: begin an episode."""
MOST_ASKED = 2
"""Calls that a worker can be asked for at a time: while the answer to one is on its way, and the
next question is thought of, it makes the other."""
PATIENCE = 0.005
"""Seconds for which a process that waits for a message keeps its core awake (see `Channel`)."""
_UNGUARDED = (
    ". If they did not even start, as errors above would say: each reads the script that is "
    'running, so what that does must stand under `if __name__ == "__main__":`'
)
_SMALL = 1 << 15
"""Bytes that a line takes at once, though nobody reads them yet."""


@final
class Workers:
    """Processes that each hold a copy of a simulator and make one call at a time.

    Workers are numbered from 0. Each can be asked for `MOST_ASKED` calls, `ask(worker, request)`,
    and answers them in their order, `answer(worker)`. Calls are deterministic, so one that is made
    again by another worker shows the same.
    """

    def __init__(self, simulator: Simulator, count: int, tries: int = MOST_TRIES) -> None:
        """Start `count` processes; the simulator must be picklable, as its states are anyway.

        tries: processes that may die or hang over one call
        """
        if count < 0:
            raise InputError(f"{count} workers are not possible; it must be at least 0")
        self._tries = tries
        self.call_seconds: float = getattr(simulator, "call_seconds", CALL_SECONDS)
        """Seconds that a call may take; see `LimitedSimulator`."""
        try:
            self._pickled = pickle.dumps(simulator) if count else b""
        except Exception as error:
            raise InputError(
                f"{type(simulator).__name__} cannot be copied into other processes ({error}); "
                "make it picklable, or search with one worker"
            ) from error
        # Where cores must be shared, nobody may hold one only to wait.
        self.patience = PATIENCE if count < usable_cores() else 0.0
        """Seconds for which a process that waits keeps its core awake."""
        # The colours that workers meet are the simulator's too: see `Simulator`.
        self._colours = _colours(simulator)
        self._workers = [self._start() for _ in range(count)]
        self._asked: list[deque[CallRequest]] = [deque() for _ in range(count)]
        self._arrived: list[deque[bytes]] = [deque() for _ in range(count)]
        self.processor_seconds = 0.0
        """Processor time of all calls so far."""
        self._finalizer = weakref.finalize(self, _close_all, self._workers)

    def __len__(self) -> int:
        return len(self._workers)

    @property
    def processes(self) -> list[int]:
        """Process ids, by worker."""
        return [worker.pid for worker in self._workers]

    def ask(self, worker: int, request: CallRequest) -> None:
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
        except OSError as error:
            self._replace(worker, error)

    def answered(self) -> list[int]:
        """Workers whose answers can be had without waiting."""
        return [
            worker
            for worker, asked in enumerate(self._asked)
            if asked and (self._arrived[worker] or self._workers[worker].channel.ready())
        ]

    def answer(self, worker: int) -> Answer:
        """Wait for a worker's next answer; what the simulator raised is raised here."""
        arrived = self._arrived[worker]
        message = arrived.popleft() if arrived else self._received(worker)
        self._asked[worker].popleft()
        answer = read_answer(message)
        self.processor_seconds += answer.seconds
        for ours, theirs in zip(self._colours, answer.colours, strict=False):
            if ours.flags.writeable:
                known = theirs != 0
                ours[known] = theirs[known]
        return answer

    def forget(self) -> None:
        """Drop what is being worked on, by ending the processes that have not answered.

        Others take their places when they are asked: one that cannot start must not speak up
        after the error for which this is done.
        """
        for worker, asked in enumerate(self._asked):
            if asked:
                asked.clear()
                self._arrived[worker].clear()
                self._workers[worker].close()

    def close(self) -> None:
        """End the processes."""
        self._finalizer()

    def _send(self, worker: int, request: CallRequest) -> None:
        self._workers[worker].channel.send(request_message(request))

    def _received(self, worker: int) -> bytes:
        """Wait for the bytes of a worker's next answer, however many processes it takes."""
        tried = 0
        while True:
            channel = self._workers[worker].channel
            try:
                message = channel.receive()
            except (EOFError, OSError) as error:
                tried += 1
                if tried == self._tries:
                    raise self._given_up(worker, error) from None
                self._replace(worker, error)
            else:
                channel.set_limit(self.call_seconds)
                return message

    def _given_up(self, worker: int, error: Exception) -> SimulatorError:
        """Return the error for a call that no process has answered."""
        action = self._asked[worker][len(self._arrived[worker])].action
        process, hint = self._workers[worker], ""
        if isinstance(error, TimeoutError):
            what = f"did not answer within {process.channel.limit:g} seconds"
        else:
            process.join(1.0)
            what, hint = "died", "; without other processes its own error would show"
            # So ends what Python could not start; a crash ends otherwise.
            hint += _UNGUARDED if process.exit_code == 1 else ""
        who = "a process" if self._tries == 1 else f"{self._tries} processes"
        row = "" if self._tries == 1 else " one after another"
        told = "reset" if action == RESET else f"do action {action}"
        self.forget()
        return SimulatorError(f"{who} {what}{row} when the simulator was told to {told}{hint}")

    def _replace(self, worker: int, error: Exception) -> None:
        """Start another process in place of one that failed, and ask it what is unanswered."""
        if isinstance(error, TimeoutError):
            limit = self._workers[worker].channel.limit
            warnings.warn(
                f"a search worker did not answer within {limit:g} seconds; another took its place",
                RuntimeWarning,
                stacklevel=4,
            )
        self._workers[worker].close()
        self._workers[worker] = self._start()
        with contextlib.suppress(OSError):  # it may die as well: that shows when it is to answer
            for request in list(self._asked[worker])[len(self._arrived[worker]) :]:
                # The new one does not stand where the old one stood.
                self._send(worker, request._replace(continues=False))

    def _start(self) -> ChildProcess:
        return ChildProcess(
            _serve,
            self._pickled,
            preload="olive_iw.simulators.workers",
            patience=self.patience,
            limit=max(self.call_seconds, START_SECONDS),
        )


def _close_all(workers: list[ChildProcess]) -> None:
    for worker in workers:
        worker.close()


def _colours(simulator: Simulator) -> list[NDArray[np.uint8]]:
    """Arrays in which a simulator says how to read its screens, those there are."""
    arrays = (getattr(simulator, name, None) for name in ("palette", "grey_levels"))
    return [array for array in arrays if isinstance(array, np.ndarray)]


def _serve(channel: Channel, pickled: bytes) -> None:
    """Make the calls that are asked for, until the line ends."""
    simulator: Simulator = pickle.loads(pickled)
    told: list[bytes] = []
    with contextlib.suppress(EOFError, OSError):
        while True:
            request = read_request(channel.receive())
            began = process_time()
            answer: Answer | Exception
            try:
                step, state = _call(simulator, request)
            except Exception as error:
                answer = _portable(error)
            else:
                colours = _colours(simulator)
                known = [array.tobytes() for array in colours]
                news, told = known != told, known
                answer = Answer(step, state, colours if news else [], process_time() - began)
            channel.send(answer_message(answer))


def _call(simulator: Simulator, request: CallRequest) -> tuple[Step, bytes | None]:
    """Make a call; also return the state after it, None at the end of an episode."""
    if request.action == RESET:
        return simulator.reset(), freeze(simulator.save())
    if not request.continues:
        simulator.restore(thaw(request.state))
    step = simulator.step(request.action)
    if not isinstance(step, Step):
        raise SimulatorError(f"step({request.action}) returned {type(step).__name__}, not a Step")
    return step, None if step.terminal else freeze(simulator.save())


def _portable(error: Exception) -> Exception:
    """Return an error that survives the way to another process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return SimulatorError(f"{type(error).__name__}: {error}")
    return error
