"""Runs as tasks of a Ray cluster: one that is there, or a local one started for the sweep."""

import contextlib
import io
import os
import shutil
import socket
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, final

from olive_iw.errors import InputError, needing
from olive_iw.processes import usable_cores
from olive_iw.runs.lock import BusyError
from olive_iw.sweeps.engines.base import Job, Kind, RunError, Work, attempt_apart, log_tail
from olive_iw.sweeps.options import EngineOptions

GRACE = 8.0
"""Seconds that tasks have to stop when asked; then their processes are ended."""
BACK_OFF = (1, 2, 4, 8, 16, 32, 64, 128)
"""Seconds between attempts to reach a cluster that is gone; four minutes in all."""


@final
class RayEngine:
    """Does every job as a task of a Ray cluster.

    Run folders are on a disk that all nodes share, or, with `fetch`, travel with the tasks. Ray
    itself does not retry: that is for the sweep to do, the same way for every engine.
    """

    def __init__(self, options: EngineOptions) -> None:
        self._options = options
        self._ray = _import_ray()
        self._running: dict[Any, Callable[[Future[Any]], None]] = {}
        self._is_ours = not self._ray.is_initialized()
        self._connect()

    def _connect(self) -> None:
        """Connect to the cluster, unless this process has a connection of its own already."""
        options, address = self._options, self._options.address or ""
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        if self._is_ours and address:
            try:
                if not _answers(address):
                    raise OSError("nobody listens there")
                self._ray.init(address=address, **quiet)
            except (OSError, ValueError) as error:
                reason = str(error).strip().splitlines()[0]
                raise InputError(f"no Ray cluster answers at {address}: {reason}") from None
        elif self._is_ours:
            cores = max(1, round((options.workers or usable_cores()) * options.cpus))
            # "local": never a cluster that merely happens to be running on this machine.
            self._ray.init(address="local", num_cpus=cores, include_dashboard=False, **quiet)
        is_place = self._is_ours and ":" in address
        self._head = address if is_place else self._ray.get_runtime_context().gcs_address
        needs = {"num_cpus": options.cpus, "num_gpus": options.gpus, "max_retries": 0}
        # A process per run, as everywhere: no run inherits another's memory or trouble.
        self._task = self._ray.remote(**needs, max_calls=1)(_do)

    @property
    def workers(self) -> int:
        """Tasks that the cluster, as it is now, can do at the same time."""
        # Asked first: without an answer Ray would wait for a minute and then end this process.
        if not _answers(self._head):
            self._wait_for_cluster()
        there = self._ray.cluster_resources()
        counts = [there.get("CPU", 0.0) / self._options.cpus]
        if self._options.gpus:
            counts.append(there.get("GPU", 0.0) / self._options.gpus)
        # With nothing there yet, one waiting task makes a cluster that can grow do so.
        found = max(1, int(min(counts)))
        return min(found, self._options.workers or found)

    def _wait_for_cluster(self) -> None:
        """Try to reach a cluster that is gone again, ever less often; in the end give up."""
        lost: Future[Any] = Future()
        lost.set_exception(RunError("died", "the Ray cluster is gone"))
        for settle in list(self._running.values()):
            settle(lost)
        gone = f"the Ray cluster at {self._head} is gone"
        pauses = BACK_OFF if self._is_ours else ()
        if pauses:
            warnings.warn(f"{gone}; asking for it for {sum(pauses)} s", stacklevel=2)
        for seconds in pauses:
            self._ray.shutdown()
            time.sleep(seconds)
            if self._options.address is None or _answers(self._head):
                with contextlib.suppress(InputError):
                    return self._connect()
        raise InputError(
            f"{gone}; when it is there again give the same command: finished runs are skipped, "
            "and the others go on"
        )

    def submit(self, work: Work, job: Job) -> Future[Any]:
        """Do `work(job)` as a task."""
        future: Future[Any] = Future()
        held, archive = ExitStack(), None
        if self._options.fetch:
            try:
                held.enter_context(job.run.hold())
            except InputError as error:
                kind: Kind = "busy" if isinstance(error, BusyError) else "input"
                future.set_exception(RunError(kind, str(error)))
                return future
            archive = pack(job.folder)
        reference = self._task.remote(work, job, archive)
        settle = partial(self._settle, reference, future, held, job)
        self._running[reference] = settle
        reference.future().add_done_callback(settle)
        return future

    def _settle(
        self, reference: Any, future: Future[Any], held: ExitStack, job: Job, done: Future[Any]
    ) -> None:
        """Turn what Ray says of a task into what an engine says of a job, once."""
        if self._running.pop(reference, None) is None:
            return
        value, problem = None, None
        with held:
            try:
                value, problem, archive = done.result()
                if archive is not None:
                    unpack(archive, job.folder)
            except BaseException as error:
                problem = self._problem(error, job)
        if problem is not None:
            future.set_exception(problem)
        else:
            future.set_result(value)

    def _problem(self, error: BaseException, job: Job) -> RunError:
        """Say what went wrong outside of a job."""
        errors = self._ray.exceptions
        if isinstance(error, RunError):
            return error
        if isinstance(error, (errors.TaskCancelledError, KeyboardInterrupt)):
            return RunError("stopped", "the task was cancelled")
        lines = str(error).strip().splitlines() or [""]
        if isinstance(error, errors.RayTaskError):
            # The task never began, or could not answer; what went wrong there stands last.
            return RunError("error", lines[-1], str(error))
        reason = f"{type(error).__name__}: {lines[0]}"
        if isinstance(error, errors.RayError):
            return RunError("died", reason, log_tail(job) or str(error))
        return RunError("error", f"the run's folder cannot be written: {reason}")

    def stop(self) -> None:
        """Cancel the tasks, first kindly; leave the cluster, or end it if it was started here."""
        try:
            for force in (False, True):
                for reference in list(self._running):
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
    with needing("ray", "the engine ray"):
        import ray
        import ray.exceptions
    return ray


def _answers(address: str) -> bool:
    """Say whether somebody listens at HOST:PORT; true of addresses that do not say where."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal():
        return True
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError:
        return False
    return True


def _do(work: Work, job: Job, archive: bytes | None) -> tuple[Any, RunError | None, bytes | None]:
    """Do a job in a worker process of Ray; return its value, or its error, and its folder.

    With an archive it is done in a folder of the node's own. A run that fails or is stopped comes
    back too, so that it can go on from its checkpoint.
    """
    if archive is None:
        return *attempt_apart(work, job), None
    with tempfile.TemporaryDirectory(prefix="olive-iw-") as out:
        job = replace(job, out=Path(out))
        unpack(archive, job.folder)
        value, problem = attempt_apart(work, job)
        return value, problem, pack(job.folder)


def pack(folder: Path) -> bytes:
    """Files of a run's folder as an archive; the lock belongs to a place, not to the run."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != "lock":
                archive.write(path, path.relative_to(folder).as_posix())
    return target.getvalue()


def unpack(archive: bytes, folder: Path) -> None:
    """Bring a run's folder to the state of an archive.

    `config.toml`, which says what run it is, comes first, and `result.json`, which ends it, last.
    """
    folder.mkdir(parents=True, exist_ok=True)
    aside = folder / ".fetched"
    shutil.rmtree(aside, ignore_errors=True)
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        files.extractall(aside)
    shutil.rmtree(folder / "checkpoint", ignore_errors=True)
    (folder / "result.json").unlink(missing_ok=True)
    found = [path for path in aside.rglob("*") if path.is_file()]
    ends, begins = aside / "result.json", aside / "config.toml"
    for path in sorted(found, key=lambda path: (path == ends, path != begins)):
        target = folder / path.relative_to(aside)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)
    shutil.rmtree(aside, ignore_errors=True)
