"""What an engine is: something shaped like `concurrent.futures` that does runs."""

import contextlib
import faulthandler
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from olive_iw.errors import InputError
from olive_iw.runs.config import RunConfig
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.lock import BusyError
from olive_iw.simulators.base import SimulatorError

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
"""Read by numerical libraries when they are loaded."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run that is to be done."""

    config: RunConfig
    out: Path
    """Folder of the sweep."""
    variation: str = ""
    """Folder below it, for example `extend_share=0.1`; empty for the sweep's own."""
    device: str = "auto"

    @property
    def name(self) -> str:
        """The run's name for people."""
        spec = self.config.spec
        name = f"{self.config.game} {spec.algorithm}-{spec.profile} seed {spec.seed}"
        return f"{name} {self.variation}".strip()

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return self.config.folder(self.out / self.variation)

    @property
    def log(self) -> Path:
        """What its workers printed, crashes included."""
        return RunFolder(self.folder).log_path


Work: TypeAlias = Callable[[Job], Any]
"""What is done with a job; it must be importable in another process."""

Kind: TypeAlias = Literal["busy", "input", "error", "died", "stopped"]


class RunError(Exception):
    """Why a run did not end well."""

    def __init__(self, kind: Kind, reason: str, trace: str = "") -> None:
        """Say what happened: `reason` in one line, `trace` where in the code.

        The kinds: "busy" (another process works on the run), "input" (an error that comes again
        however often it is tried), "error" (any other exception), "died" (the worker ended
        without a word) and "stopped" (by request).
        """
        super().__init__(kind, reason, trace)
        self.kind = kind
        self.reason = reason
        self.trace = trace

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What engines can be told; each takes what concerns it and refuses what it cannot do."""

    workers: int | None = None
    """Runs at the same time; None: as many as there are cores."""
    address: str | None = None
    """Of a Ray cluster that is there already."""
    fetch: bool = False
    """Bring run folders back through Ray, because there is no shared disk."""
    cpus: float = 1.0
    """Cores that a run needs on a Ray cluster."""
    gpus: float = 0.0
    """GPUs, or the share of one, that a run needs on a Ray cluster."""

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise InputError(f"workers = {self.workers} is not possible; at least 1 is")
        if self.cpus <= 0 or self.gpus < 0:
            raise InputError(
                f"cpus = {self.cpus} and gpus = {self.gpus} are not possible; "
                "a run needs more than 0 cores and at least 0 GPUs"
            )

    def refuse_ray_options(self, engine: str) -> None:
        """Raise if something was asked that only the engine `ray` can do."""
        asked = {
            "address": self.address is not None,
            "fetch": self.fetch,
            "cpus": self.cpus != 1.0,
            "gpus": self.gpus != 0.0,
        }
        names = ", ".join(name for name, given in asked.items() if given)
        if names:
            raise InputError(f"{names}: only the engine ray knows this, not {engine}")


class Engine(Protocol):
    """Does jobs, some at a time."""

    @property
    def workers(self) -> int:
        """Jobs that can be done at the same time now."""
        ...

    def submit(self, work: Work, job: Job) -> Future[Any]:
        """Do `work(job)` some time; the future has what it returned, or a `RunError`."""
        ...

    def stop(self) -> None:
        """End everything within seconds; run folders stay as they should be."""
        ...


def attempt(work: Work, job: Job) -> Any:
    """Do a job; whatever goes wrong becomes a `RunError`."""
    try:
        return work(job)
    except BusyError as error:
        raise RunError("busy", str(error)) from error
    except (InputError, SimulatorError) as error:
        raise RunError("input", str(error), traceback.format_exc()) from error
    except KeyboardInterrupt as error:
        raise RunError("stopped", "the worker was asked to stop") from error
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        raise RunError("error", reason, traceback.format_exc()) from error


def begin_worker(job: Job) -> None:
    """Make this process a worker for one job: its output goes to the log, torch has one thread."""
    job.folder.mkdir(parents=True, exist_ok=True)
    with job.log.open("ab") as log:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    began = time.strftime("%Y-%m-%d %H:%M:%S")
    os.write(2, f"--- process {os.getpid()}, {began}\n".encode())
    faulthandler.enable(file=2)
    import torch

    torch.set_num_threads(1)


@contextlib.contextmanager
def one_thread_each() -> Iterator[None]:
    """Let processes that are started meanwhile use one thread, so that they do not fight."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def log_tail(path: Path, size: int = 4000) -> str:
    """Return the last attempt's part of a log, at most its last `size` bytes."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - size))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return text.rpartition("--- process ")[2].partition("\n")[2].strip()
