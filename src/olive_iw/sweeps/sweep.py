"""Many runs: all that a sweep file asks for and that are not finished yet."""

import time
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from olive_iw.cores import usable_cores
from olive_iw.errors import InputError
from olive_iw.files import write_text
from olive_iw.randomness import generator
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.records import Failure, Result
from olive_iw.runs.run import run
from olive_iw.runs.stopping import stopping_on_signals
from olive_iw.sweeps.engines import Engine, EngineOptions, Job, RunError, Work, make_engine
from olive_iw.sweeps.estimate import Estimate, Estimator
from olive_iw.sweeps.file import read_sweep
from olive_iw.sweeps.heartbeat import Heartbeat
from olive_iw.sweeps.live_table import LiveTable, SweepProgress
from olive_iw.sweeps.plan import plan_table
from olive_iw.sweeps.status import SWEEP_FILES

RETRIES = 2
"""Times that a run is tried again after its first attempt."""
_POLL = 0.5


@dataclass(frozen=True, slots=True)
class FailedRun:
    """A run that was given up."""

    name: str
    folder: Path
    reason: str
    log: Path | None

    def __str__(self) -> str:
        where = f"log: {self.log}" if self.log else f"folder: {self.folder}"
        return f"{self.name}: {self.reason} ({where})"


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What became of a sweep."""

    total: int
    skipped: int
    """Runs that were finished before."""
    done: int
    """Runs that finished meanwhile, here or in another process."""
    failed: tuple[FailedRun, ...]
    estimate: Estimate

    @property
    def exit_code(self) -> int:
        """For the command line: 1 if some run failed."""
        return 1 if self.failed else 0


def do_run(job: Job) -> Result:
    """Do a run, from wherever it stands; the work that engines are given."""
    return run(job.config, job.out / job.variation, Heartbeat(job.folder), job.device)


def sweep(
    file: Path,
    out: Path,
    engine: str = "local",
    *,
    workers: int | None = None,
    address: str | None = None,
    fetch: bool = False,
    cpus: float = 1.0,
    gpus: float = 0.0,
    dry_run: bool = False,
    order_seed: int = 0,
    retries: int = RETRIES,
    device: str = "auto",
    console: Console | None = None,
    work: Work = do_run,
) -> SweepReport:
    """Do all runs of a sweep file that are not finished, in a shuffled order.

    Stopped by Ctrl-C or SIGTERM it raises `KeyboardInterrupt`; called again it goes on. A run that
    fails is tried `retries` more times from its checkpoint, then given up; the others go on.
    """
    if retries < 0:
        raise InputError(f"retries = {retries} is not possible; it must be 0 or greater")
    options = EngineOptions(workers, address, fetch, cpus, gpus)
    console = console or Console()
    jobs = [planned.job(out.absolute(), device) for planned in read_sweep(file)]
    _check_folders(jobs)
    todo = [job for job in jobs if not RunFolder(job.folder).done(job.config)]
    generator(order_seed).shuffle(todo)
    estimator = Estimator(out)
    if dry_run:
        at_a_time = 1 if engine == "inline" else workers or usable_cores()
        expected = estimator.estimate(todo, at_a_time)
        console.print(plan_table(jobs, todo))
        console.print(f"{expected}; with {at_a_time} at a time", highlight=False)
        return SweepReport(len(jobs), len(jobs) - len(todo), 0, (), expected)
    _keep_file(file, out)
    place = make_engine(engine, options)
    try:
        with stopping_on_signals():
            expected = estimator.estimate(todo, place.workers)
            console.print(str(expected), highlight=False, soft_wrap=True)
            with LiveTable(console, f"{file.name}: {engine}, {place.workers} at a time") as table:
                doing = _Sweep(
                    jobs,
                    todo,
                    engine=place,
                    work=work,
                    retries=retries,
                    estimator=estimator,
                    table=table,
                )
                doing.do()
    finally:
        place.stop()
    return SweepReport(len(jobs), len(jobs) - len(todo), doing.done, tuple(doing.failed), expected)


def _check_folders(jobs: Sequence[Job]) -> None:
    """Refuse, before anything is done, to go on in a folder of another configuration."""
    for job in jobs:
        run = RunFolder(job.folder)
        # A finished run stays what it is when packages are updated; it says with which.
        run.check(job.config, versions_too=not run.done(job.config))


def _keep_file(file: Path, out: Path) -> None:
    """Copy the sweep file, for `status` to know what is missing."""
    kept = out / SWEEP_FILES / f"{file.stem}.toml"
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_text(kept, file.read_text(encoding="utf-8"))


class _Sweep:
    """A sweep that is being done."""

    def __init__(
        self,
        jobs: Sequence[Job],
        todo: Sequence[Job],
        *,
        engine: Engine,
        work: Work,
        retries: int,
        estimator: Estimator,
        table: LiveTable,
    ) -> None:
        self.done = 0
        self.failed: list[FailedRun] = []
        self._skipped = len(jobs) - len(todo)
        self._total = len(jobs)
        self._engine = engine
        self._work = work
        self._retries = retries
        self._estimator = estimator
        self._table = table
        self._waiting = deque(todo)
        self._running: dict[Future[Any], Job] = {}
        self._began: dict[Job, float] = {}
        self._elsewhere: list[Job] = []
        self._attempts: Counter[Job] = Counter()
        self._seconds_left: float | None = None

    def do(self) -> None:
        """Do everything."""
        self._guess_seconds_left()
        while self._waiting or self._running or self._elsewhere:
            self._submit()
            self._show()
            if self._running:
                finished, _ = wait(self._running, _POLL, FIRST_COMPLETED)
                for future in finished:
                    self._settle(self._running.pop(future), future)
            elif self._elsewhere:
                time.sleep(_POLL)
            self._look_elsewhere()

    def _submit(self) -> None:
        """Give the engine as much as it can do at once: what waits here can still be left out."""
        free = self._engine.workers - len(self._running)
        while self._waiting and free > 0:
            job = self._waiting.popleft()
            if RunFolder(job.folder).done(job.config):
                self._note_done(job)
            elif RunFolder(job.folder).locked:
                self._elsewhere.append(job)
            else:
                RunFolder(job.folder).write_failure(None)
                self._began[job] = time.monotonic()
                self._running[self._engine.submit(self._work, job)] = job
                free -= 1

    def _settle(self, job: Job, future: Future[Any]) -> None:
        error = future.exception()
        if error is None and not RunFolder(job.folder).done(job.config):
            error = RunError(
                "error",
                f"the worker has finished the run, but there is no result in {job.folder}: if that "
                "is not on a disk that all nodes share, give --fetch",
            )
        if error is None:
            seconds = time.monotonic() - self._began[job]
            self._note_done(job, f" in {seconds:.0f} s")
        elif isinstance(error, RunError) and error.kind == "busy":
            self._elsewhere.append(job)
        else:
            problem = error if isinstance(error, RunError) else RunError("error", repr(error))
            self._note_failure(job, problem)

    def _note_done(self, job: Job, how: str = ", by another process") -> None:
        self.done += 1
        RunFolder(job.folder).write_failure(None)
        self._estimator.learn(job.folder)
        self._guess_seconds_left()
        self._table.say(f"done: {job.name}{how}")

    def _note_failure(self, job: Job, error: RunError) -> None:
        self._attempts[job] += 1
        attempts = self._attempts[job]
        if error.kind != "input" and attempts <= self._retries:
            self._table.say(
                f"failed, will be tried again ({attempts} of {self._retries}): "
                f"{job.name}: {error.reason}",
                "yellow",
            )
            self._waiting.append(job)
            return
        log = job.log if job.log.exists() else None
        RunFolder(job.folder).write_failure(
            Failure(
                error.kind,
                error.reason,
                error.trace,
                attempts,
                log=log.name if log else None,
                time=time.time(),
            )
        )
        failed = FailedRun(job.name, job.folder, error.reason, log)
        self.failed.append(failed)
        self._table.say(f"failed, given up: {failed}", "red")

    def _look_elsewhere(self) -> None:
        """Take back what another process has finished, or has let go of."""
        busy = []
        for job in self._elsewhere:
            if RunFolder(job.folder).done(job.config):
                self._note_done(job)
            elif RunFolder(job.folder).locked:
                busy.append(job)
            else:
                self._waiting.append(job)
        self._elsewhere = busy

    def _guess_seconds_left(self) -> None:
        left = [*self._waiting, *self._running.values(), *self._elsewhere]
        expected = self._estimator.estimate(left, self._engine.workers)
        self._seconds_left = None if expected.unknown else expected.seconds

    def _show(self) -> None:
        running = {job: self._began[job] for job in self._running.values()}
        progress = SweepProgress(
            total=self._total,
            done=self._skipped + self.done,
            failed=len(self.failed),
            elsewhere=len(self._elsewhere),
            seconds_left=self._seconds_left,
            running=running,
        )
        self._table.show(progress)
