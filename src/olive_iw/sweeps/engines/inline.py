"""Runs one after the other in this process, for debugging."""

from concurrent.futures import Future
from typing import Any, final

from olive_iw.sweeps.engines.base import Job, RunError, Work, attempt
from olive_iw.sweeps.options import EngineOptions


@final
class InlineEngine:
    """Does a job at once, when it is submitted; Ctrl-C and debuggers work as usual."""

    def __init__(self, options: EngineOptions) -> None:
        options.refuse_ray_options("inline")

    @property
    def workers(self) -> int:
        """Always one."""
        return 1

    def submit(self, work: Work, job: Job) -> Future[Any]:
        """Do `work(job)` now."""
        future: Future[Any] = Future()
        try:
            future.set_result(attempt(work, job))
        except RunError as error:
            if error.kind == "stopped":
                raise KeyboardInterrupt from None
            future.set_exception(error)
        return future

    def stop(self) -> None:
        """Do nothing: nothing is going on."""
