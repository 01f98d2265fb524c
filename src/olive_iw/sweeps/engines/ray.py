"""Runs as tasks of a Ray cluster: one that is there, or a local one started for the sweep."""

import io
import os
import shutil
import socket
import tempfile
import threading
import time
import zipfile
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, final

from olive_iw.cores import usable_cores
from olive_iw.errors import InputError
from olive_iw.runs.lock import BusyError, locked
from olive_iw.runs.stopping import stopping_on_signals
from olive_iw.sweeps.engines.base import (
    EngineOptions,
    Job,
    RunError,
    Work,
    attempt,
    begin_worker,
    log_tail,
)

GRACE = 8.0
"""Seconds that tasks have to stop when asked; then their processes are ended."""


@final
class RayEngine:
    """Submits every job as a task with its needs of cores and GPUs.

    Run folders are on a disk that all nodes share, or, with `fetch`, travel with the tasks. Ray
    itself does not retry: that is for the sweep to do, the same way for every engine.
    """

    def __init__(self, options: EngineOptions) -> None:
        self._options = options
        self._ray = _import_ray()
        self._running: dict[Any, Any] = {}
        self._lock = threading.Lock()
        self._is_ours = not self._ray.is_initialized()
        if self._is_ours:
            _connect(self._ray, options)
        self._task = self._ray.remote(
            num_cpus=options.cpus,
            num_gpus=options.gpus,
            max_retries=0,
            # A process per run, as everywhere: no run inherits another's memory or trouble.
            max_calls=1,
        )(_fetched if options.fetch else _shared)

    @property
    def workers(self) -> int:
        """Tasks that the cluster, as it is now, can do at the same time."""
        there = self._ray.cluster_resources()
        counts = [there.get("CPU", 0.0) / self._options.cpus]
        if self._options.gpus:
            counts.append(there.get("GPU", 0.0) / self._options.gpus)
        # With nothing there yet, one waiting task makes a cluster that can grow do so.
        found = max(1, int(min(counts)))
        return min(found, self._options.workers or found)

    def submit(self, work: Work, job: Job) -> Future[Any]:
        """Do `work(job)` as a task."""
        future: Future[Any] = Future()
        held = ExitStack()
        arguments: list[Any] = [work, job]
        if self._options.fetch:
            try:
                job.folder.mkdir(parents=True, exist_ok=True)
                held.enter_context(locked(job.folder / "lock"))
            except BusyError as error:
                future.set_exception(RunError("busy", str(error)))
                return future
            arguments.append(pack(job.folder))
        reference = self._task.remote(*arguments)
        with self._lock:
            self._running[reference] = future
        reference.future().add_done_callback(
            lambda done: self._settle(reference, done, future, held, job)
        )
        return future

    def _settle(
        self, reference: Any, done: Future[Any], future: Future[Any], held: ExitStack, job: Job
    ) -> None:
        """Turn what Ray says of a task into what an engine says of a job."""
        with self._lock:
            self._running.pop(reference, None)
        try:
            with held:
                value, problem, archive = self._unwrap(done, job)
                if archive is not None:
                    unpack(archive, job.folder)
        except RunError as error:
            problem = error
        except Exception as error:
            problem = RunError("error", f"the run's folder cannot be written: {error}")
        if problem is not None:
            future.set_exception(problem)
        else:
            future.set_result(value)

    def _unwrap(self, done: Future[Any], job: Job) -> tuple[Any, RunError | None, bytes | None]:
        error = done.exception()
        if error is None:
            answer: tuple[Any, RunError | None, bytes | None] = done.result()
            return answer
        errors = self._ray.exceptions
        if isinstance(error, (errors.TaskCancelledError, KeyboardInterrupt)):
            raise RunError("stopped", "the task was cancelled")
        lines = str(error).strip().splitlines() or [""]
        if isinstance(error, errors.RayTaskError):
            # The task never began, or could not answer; what went wrong there stands last.
            raise RunError("error", lines[-1], str(error))
        reason = f"{type(error).__name__}: {lines[0]}"
        raise RunError("died", reason, log_tail(job.log) or str(error))

    def stop(self) -> None:
        """Cancel the tasks, first kindly; leave the cluster, or end it if it was started here."""
        try:
            for force in (False, True):
                with self._lock:
                    running = list(self._running)
                for reference in running:
                    self._ray.cancel(reference, force=force)
                deadline = time.monotonic() + GRACE
                while self._running and time.monotonic() < deadline:
                    time.sleep(0.05)
        finally:
            if self._is_ours:
                self._ray.shutdown()


def _import_ray() -> Any:
    # Ray reads these when it is imported and started; a sweep has no use for what they turn off.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise InputError(
            "the engine ray needs the package ray: pip install 'olive-iw[ray]'"
        ) from None
    return ray


def _connect(ray: Any, options: EngineOptions) -> None:
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    if options.address is not None:
        try:
            _knock(options.address)
            ray.init(address=options.address, **quiet)
        except (OSError, ValueError) as error:
            reason = str(error).strip().splitlines()[0]
            raise InputError(f"no Ray cluster answers at {options.address}: {reason}") from None
        return
    cores = max(1, round((options.workers or usable_cores()) * options.cpus))
    # "local": never a cluster that merely happens to be running on this machine.
    ray.init(address="local", num_cpus=cores, include_dashboard=False, **quiet)


def _knock(address: str) -> None:
    """Raise `OSError` if nothing listens at HOST:PORT; Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=10).close()


def _shared(work: Work, job: Job) -> tuple[Any, RunError | None, None]:
    """Do a job whose folder is on a shared disk; runs in a worker process of Ray."""
    value, problem = _do(work, job)
    return value, problem, None


def _fetched(work: Work, job: Job, archive: bytes) -> tuple[Any, RunError | None, bytes]:
    """Do a job in a folder of this node's own, from an archive to an archive.

    A run that fails or is stopped comes back too, so that it can go on from its checkpoint.
    """
    with tempfile.TemporaryDirectory(prefix="olive-iw-") as out:
        here = replace(job, out=Path(out))
        unpack(archive, here.folder)
        value, problem = _do(work, here)
        return value, problem, pack(here.folder)


def _do(work: Work, job: Job) -> tuple[Any, RunError | None]:
    try:
        # Ray's own handler would end the process; a node that shuts down sends SIGTERM.
        with stopping_on_signals():
            begin_worker(job)
            return attempt(work, job), None
    except RunError as error:
        return None, error


def pack(folder: Path) -> bytes:
    """Files of a run's folder as an archive; the lock belongs to a place, not to the run."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != "lock":
                archive.write(path, path.relative_to(folder).as_posix())
    return target.getvalue()


def unpack(archive: bytes, folder: Path) -> None:
    """Bring a run's folder to the state of an archive; `result.json`, which ends a run, last."""
    folder.mkdir(parents=True, exist_ok=True)
    aside = folder / ".fetched"
    shutil.rmtree(aside, ignore_errors=True)
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        files.extractall(aside)
        names = sorted(files.namelist(), key=lambda name: (name == "result.json", name))
    shutil.rmtree(folder / "checkpoint", ignore_errors=True)
    for name in names:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (aside / name).replace(target)
    shutil.rmtree(aside, ignore_errors=True)
