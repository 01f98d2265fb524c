"""Runs on this machine: one after the other in this process, or a process for each."""

import contextlib
import os
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, final

from olive_iw.processes import Channel, ChildProcess, limit_torch, usable_cores
from olive_iw.sweeps.engines.base import Job, RunError, Work, attempt, attempt_apart, log_tail
from olive_iw.sweeps.options import EngineOptions

GRACE = 8.0
"""Seconds a worker has to stop when asked; then it is killed, which its folder survives too."""
_LIBRARIES = ("OMP", "MKL", "OPENBLAS", "NUMEXPR", "NUMBA")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in _LIBRARIES}
"""Read by numerical libraries when they are loaded."""


@final
class InlineEngine:
    """Does a job at once, when it is submitted; Ctrl-C and debuggers work as usual."""

    workers = 1

    def __init__(self, options: EngineOptions) -> None:
        options.refuse_ray_options("inline")

    def submit(self, work: Work, job: Job) -> Future[Any]:
        """Do `work(job)` now."""
        future: Future[Any] = Future()
        value, problem = attempt(work, job)
        if problem is None:
            future.set_result(value)
        elif problem.kind == "stopped":
            raise KeyboardInterrupt
        else:
            future.set_exception(problem)
        return future

    def stop(self) -> None:
        """Do nothing: nothing is going on."""


@final
class LocalEngine:
    """Starts a process for every job, `workers` at a time: whatever kills it costs that run only.

    A thread waits for each process, so that its end, however it comes, ends the future. Each
    process uses one thread, so that they do not fight for cores.
    """

    def __init__(self, options: EngineOptions) -> None:
        options.refuse_ray_options("local")
        self.workers = options.workers or usable_cores()
        self._threads = ThreadPoolExecutor(self.workers, "run")
        self._processes: set[ChildProcess] = set()
        self._stopping = threading.Event()
        self._start_one_at_a_time = threading.Lock()
        self._environment = {name: os.environ.get(name) for name in ONE_THREAD}
        os.environ.update(ONE_THREAD)

    def submit(self, work: Work, job: Job) -> Future[Any]:
        """Do `work(job)` in a process of its own."""
        return self._threads.submit(self._in_process, work, job)

    def _in_process(self, work: Work, job: Job) -> Any:
        spec = job.config.spec
        with self._start_one_at_a_time:
            if self._stopping.is_set():
                raise RunError("stopped", "the sweep was asked to stop")
            # Loading torch takes seconds; so runs that need it share them, and the memory.
            preload = "olive_iw.features.vae.devices" if spec.needs_torch else "olive_iw.runs.run"
            # Runs may have search workers.
            process = ChildProcess(_serve, work, job, preload=preload, has_children=True)
            self._processes.add(process)
        answer = None
        with contextlib.suppress(EOFError, OSError):
            answer = process.channel.receive_object()
        ended = process.how_it_ended()
        process.channel.close()
        self._processes.discard(process)
        value, problem = answer or (None, RunError("died", f"the worker {ended}", log_tail(job)))
        if problem is not None:
            raise problem
        return value

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
            for name, value in self._environment.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def _serve(channel: Channel, work: Work, job: Job) -> None:
    """Do a job in a worker process, and send back what came of it."""
    threading.Thread(target=_end_with, args=(channel,), daemon=True).start()
    # Whoever started this process may have loaded the libraries before there was a sweep.
    os.environ.update(ONE_THREAD)
    limit_torch(1)
    channel.send_object(attempt_apart(work, job))


def _end_with(channel: Channel) -> None:
    """End this process at once when the sweep's process is gone: every file is whole anyway."""
    with contextlib.suppress(EOFError, OSError):
        channel.receive()
    os._exit(1)
