"""One process per run on this machine: whatever kills it costs that run only."""

import contextlib
import os
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, final

from olive_iw.processes import Channel, ChildProcess, usable_cores
from olive_iw.runs.stopping import stopping_on_signals
from olive_iw.sweeps.engines.base import (
    Job,
    RunError,
    Work,
    attempt_apart,
    log_tail,
    one_thread_each,
)
from olive_iw.sweeps.options import EngineOptions

GRACE = 8.0
"""Seconds a worker has to stop when asked; then it is killed, which its folder survives too."""


@final
class LocalEngine:
    """Starts a process for every job, `workers` at a time.

    A thread waits for each process, so that its end, however it comes, ends the future.
    """

    def __init__(self, options: EngineOptions) -> None:
        options.refuse_ray_options("local")
        self._workers = options.workers or usable_cores()
        self._threads = ThreadPoolExecutor(self._workers, "run")
        self._processes: set[ChildProcess] = set()
        self._stopping = threading.Event()
        self._start_one_at_a_time = threading.Lock()
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
        learns = job.config.spec.learns
        with self._start_one_at_a_time:
            if self._stopping.is_set():
                raise RunError("stopped", "the sweep was asked to stop")
            # Loading torch takes seconds; so runs that learn share them, and the memory.
            preload = "olive_iw.features.binary_vae.train" if learns else "olive_iw.runs.run"
            # Runs may have search workers.
            process = ChildProcess(_serve, work, job, preload=preload, has_children=True)
            self._processes.add(process)
        try:
            answer = process.channel.receive_object()
        except (EOFError, OSError):
            answer = None
        ended = process.how_it_ended()
        process.channel.close()
        self._processes.discard(process)
        if answer is None:
            raise RunError("died", f"the worker {ended}", log_tail(job))
        if isinstance(answer, RunError):
            raise answer
        return answer[0]

    def stop(self) -> None:
        """Ask all workers to stop, and kill those that do not within some seconds.

        An interrupt meanwhile shortens the wait; still no worker is left.
        """
        self._stopping.set()
        try:
            with self._start_one_at_a_time:
                for process in self._processes.copy():
                    process.ask_to_stop()
            deadline = time.monotonic() + GRACE
            # Their threads wait for the processes; here we only look.
            while self._processes and time.monotonic() < deadline:
                time.sleep(0.02)
        finally:
            with self._start_one_at_a_time:
                for process in self._processes.copy():
                    process.kill()
            self._threads.shutdown(wait=True, cancel_futures=True)
            self._environment.close()


def _serve(channel: Channel, work: Work, job: Job) -> None:
    """Do a job in a worker process, and send back what came of it."""
    threading.Thread(target=_end_with, args=(channel,), daemon=True).start()
    answer: tuple[Any] | RunError
    try:
        with stopping_on_signals():
            answer = (attempt_apart(work, job),)
    except RunError as error:
        answer = error
    except KeyboardInterrupt:
        answer = RunError("stopped", "the worker was asked to stop")
    channel.send_object(answer)


def _end_with(channel: Channel) -> None:
    """End this process at once when the sweep's process is gone: every file is whole anyway."""
    with contextlib.suppress(EOFError, OSError):
        channel.receive()
    os._exit(1)
