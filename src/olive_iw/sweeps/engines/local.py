"""One process per run on this machine: whatever kills it costs that run only."""

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any, final

from olive_iw.cores import usable_cores
from olive_iw.runs.stopping import stopping_on_signals
from olive_iw.sweeps.engines.base import (
    EngineOptions,
    Job,
    RunError,
    Work,
    attempt,
    begin_worker,
    log_tail,
    one_thread_each,
)

GRACE = 8.0
"""Seconds a worker has to stop when asked; then it is killed, which its folder survives too."""
_PRELOADED = ["olive_iw.runs.run"]


@final
class LocalEngine:
    """Starts a process for every job, `workers` at a time.

    A thread waits for each process, so that its end, however it comes, ends the future.
    """

    def __init__(self, options: EngineOptions) -> None:
        options.refuse_ray_options("local")
        self._workers = options.workers or usable_cores()
        self._threads = ThreadPoolExecutor(self._workers, "run")
        self._processes: set[Any] = set()
        self._stopping = threading.Event()
        self._start_one_at_a_time = threading.Lock()
        self._context = _context()
        self._environment = contextlib.ExitStack()
        self._environment.enter_context(one_thread_each())

    @property
    def workers(self) -> int:
        """Processes at the same time."""
        return self._workers

    def submit(self, work: Work, job: Job) -> Future[Any]:
        """Do `work(job)` in a process of its own."""
        return self._threads.submit(self._in_process, work, job)

    def _in_process(self, work: Work, job: Job) -> Any:
        ours, theirs = self._context.Pipe()
        with self._start_one_at_a_time:
            if self._stopping.is_set():
                raise RunError("stopped", "the sweep was asked to stop")
            process = self._context.Process(target=_serve, args=(theirs, work, job))
            process.start()
            self._processes.add(process)
        # With our copy closed, the pipe ends when the process does, however it does.
        theirs.close()
        try:
            answer = ours.recv()
        except (EOFError, OSError):
            answer = None
        process.join()
        ours.close()
        self._processes.discard(process)
        if answer is None:
            raise RunError("died", how_it_ended(process.exitcode), log_tail(job.log))
        if isinstance(answer, RunError):
            raise answer
        return answer[0]

    def stop(self) -> None:
        """Ask all workers to stop, and kill those that do not within some seconds."""
        with self._start_one_at_a_time:
            self._stopping.set()
            processes = list(self._processes)
        for process in processes:
            process.terminate()
        deadline = time.monotonic() + GRACE
        try:
            # Their threads wait for the processes; here we only look.
            while self._processes and time.monotonic() < deadline:
                time.sleep(0.02)
        finally:
            for process in list(self._processes):
                process.kill()
            self._threads.shutdown(wait=True, cancel_futures=True)
            self._environment.close()


def _context() -> Any:
    """Return how processes are started: from a clean server that has loaded torch, or afresh.

    Neither copies this process's threads and open files. The server saves each run the seconds of
    loading the libraries, and its workers share that memory.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    return context


def _serve(connection: Connection, work: Work, job: Job) -> None:
    """Do a job in a worker process, and send back what came of it."""
    # Ctrl-C reaches the whole group of processes; the sweep alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
    answer: tuple[Any] | RunError
    try:
        with stopping_on_signals():
            begin_worker(job)
            answer = (attempt(work, job),)
    except RunError as error:
        answer = error
    except KeyboardInterrupt:
        answer = RunError("stopped", "the worker was asked to stop")
    connection.send(answer)


def _end_with(connection: Connection) -> None:
    """End this process at once when the sweep's process is gone: every file is whole anyway."""
    with contextlib.suppress(EOFError, OSError):
        connection.recv()
    os._exit(1)


def how_it_ended(code: int | None) -> str:
    """Say in words what an exit code of a process means."""
    if code is None or code >= 0:
        return f"the worker ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = ", perhaps for want of memory" if -code == getattr(signal, "SIGKILL", 9) else ""
    return f"the worker was ended by {name}{hint}"
