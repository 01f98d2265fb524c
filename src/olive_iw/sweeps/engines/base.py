"""What an engine is: something shaped like `concurrent.futures` that does runs."""

import faulthandler
import os
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from olive_iw.errors import DamagedFileError, InputError, SimulatorError
from olive_iw.files import make_folder, open_own
from olive_iw.processes import limit_torch
from olive_iw.reading import open_plain
from olive_iw.runs.config import RunConfig
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.lock import BusyError
from olive_iw.runs.stopping import stopping_on_signals


@dataclass(frozen=True, slots=True)
class Job:
    """One run that is to be done."""

    config: RunConfig
    out: Path
    """Folder of the sweep."""
    variation: str = ""
    """Folder below it where a sweep lists lengths, such as `max_actions=1200`; otherwise empty."""
    device: str = "auto"

    @property
    def name(self) -> str:
        """The run's name for people."""
        spec = self.config.spec
        return f"{self.config.game} {spec.label} seed {spec.seed} {self.variation}".strip()

    @property
    def folder(self) -> Path:
        """Where the run lives."""
        return self.config.folder(self.out / self.variation)

    @property
    def run(self) -> RunFolder:
        """The run's files."""
        return RunFolder(self.folder, within=self.out)

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        return self.run.done(self.config)


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


class Engine(Protocol):
    """Does jobs, some at a time."""

    @property
    def workers(self) -> int:
        """Jobs that can be done at the same time now."""

    def submit(self, work: Work, job: Job) -> Future[Any]:
        """Do `work(job)` some time; the future has what it returned, or a `RunError`."""

    def stop(self) -> None:
        """End everything within seconds; run folders stay as they should be."""


def attempt(work: Work, job: Job) -> tuple[Any, RunError | None]:
    """Do a job; return what it returned, or else what went wrong, and never raise."""
    try:
        return work(job), None
    except BusyError as error:
        return None, RunError("busy", str(error))
    except (InputError, SimulatorError) as error:
        return None, RunError("input", str(error), traceback.format_exc())
    except KeyboardInterrupt:
        return None, RunError("stopped", "the worker was asked to stop")
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        return None, RunError("error", reason, traceback.format_exc())


def attempt_apart(work: Work, job: Job) -> tuple[Any, RunError | None]:
    """Do a job as `attempt` does, in a process of its own: what it prints goes to the run's log."""
    try:
        # Ray's own handler of SIGTERM, which nodes send that shut down, would end the process.
        with stopping_on_signals():
            return attempt(partial(_work_apart, work), job)
    except KeyboardInterrupt:
        return None, RunError("stopped", "the worker was asked to stop")


def _work_apart(work: Work, job: Job) -> Any:
    make_folder(job.folder, job.out)
    log = open_own(job.run.log_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    # The descriptors, not Python's streams: what libraries print by themselves belongs there too.
    for stream, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
        stream.flush()
        os.dup2(log, descriptor)
    os.close(log)
    began = time.strftime("%Y-%m-%d %H:%M:%S")
    os.write(2, f"--- process {os.getpid()}, {began}\n".encode())
    faulthandler.enable(file=2)
    limit_torch(1)
    return work(job)


def log_tail(job: Job, size: int = 4000) -> str:
    """Return what the last attempt at a job printed, at most the last `size` bytes."""
    path = job.run.log_path
    try:
        with open_plain(path) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - size))
            text = file.read(size).decode(errors="replace")
    except (OSError, DamagedFileError):
        return ""
    return text.rpartition("--- process ")[2].partition("\n")[2].strip()
