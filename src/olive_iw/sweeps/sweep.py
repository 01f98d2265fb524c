"""Many runs: all that a sweep file asks for and that are not finished yet."""

import time
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from rich.console import Console

from olive_iw.agents import Episode, Observer
from olive_iw.errors import InputError, shown, unknown_name
from olive_iw.features.vae import TrainingStep
from olive_iw.files import make_folder, write_text
from olive_iw.planners import Decision, Planner
from olive_iw.processes import peak_memory, usable_cores
from olive_iw.randomness import generator
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.records import Failure, Pulse, Result
from olive_iw.runs.run import run
from olive_iw.runs.stopping import stopping_on_signals
from olive_iw.sweeps.display import LiveTable, SweepReport, plan_table
from olive_iw.sweeps.engines import ENGINES, Engine, Job, RunError, Work, make_engine
from olive_iw.sweeps.estimate import Estimator
from olive_iw.sweeps.file import read_sweep
from olive_iw.sweeps.options import EngineOptions
from olive_iw.sweeps.status import SWEEP_FILES

RETRIES = 2
"""Times that a run is tried again after its first attempt."""
PULSE_EVERY = 2.0
"""Seconds between two notes of where a run is."""
_POLL = 0.5
Order: TypeAlias = Literal["shuffled", "rounds"]
"""Of a sweep's runs: at random, or all games once, then all again with the file's next algorithm or
seed, so that wherever it stops its systems have played the same games."""


class PulseWriter(Observer):
    """Notes every few seconds where a run is just now, in a small file in its folder.

    Events are written at the end of episodes, which can be an hour apart; a sweep's table and
    `status` want to show more than that.
    """

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self._began = self._written = time.monotonic()
        self._calls = 0
        self._phase, self._episode = "training", 0

    def on_episode_start(self, phase: str, number: int) -> None:
        """Note the phase."""
        self._phase, self._episode = phase, number
        self._write()

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        """Count the calls."""
        self._calls += decision.calls
        self._write(PULSE_EVERY)

    def on_network_step(self, step: TrainingStep) -> None:
        """Show that the process lives."""
        self._write(PULSE_EVERY)

    def on_evaluation_episode(self, number: int, episode: Episode) -> None:
        """Leave the run's last figures, its peak memory among them."""
        self._write()

    def _write(self, pause: float = 0.0) -> None:
        now = time.monotonic()
        if now - self._written >= pause:
            self._written = now
            spent = (self._calls, now - self._began, peak_memory())
            self._run.write(Pulse(self._phase, self._episode, *spent))


def do_run(job: Job) -> Result:
    """Do a run, from wherever it stands; the work that engines are given."""
    return run(job.config, job.out / job.variation, PulseWriter(job.run), job.device)


def sweep(
    file: Path,
    out: Path,
    engine: str | Engine = "local",
    options: EngineOptions | None = None,
    *,
    only: Sequence[str] = (),
    dry_run: bool = False,
    order: Order = "shuffled",
    order_seed: int = 0,
    retries: int = RETRIES,
    device: str = "auto",
    console: Console | None = None,
    work: Work = do_run,
) -> SweepReport:
    """Do all runs of a sweep file that are not finished.

    `only` names algorithms or games of the file, to do a part of it; `order` is that of the runs.
    Every run is checked before the first one starts. Stopped by Ctrl-C or SIGTERM it raises
    `KeyboardInterrupt`; called again it goes on. A run that fails is tried `retries` more times
    from its checkpoint, then given up; the others go on. The engine, which may be an object, is
    stopped in the end.
    """
    for name, value in (("retries", retries), ("order_seed", order_seed)):
        if value < 0:
            raise InputError(f"{name} = {shown(value)} is not possible; it must be 0 or greater")
    if isinstance(engine, str):
        ENGINES[engine]  # an unknown one is told before anything else
    console, options = console or Console(), options or EngineOptions()
    jobs = _chosen(read_sweep(file, out.absolute(), device), only)
    todo = _ordered(_check(jobs), jobs, order, order_seed)
    estimator = Estimator(out)
    if dry_run:
        at_a_time = 1 if engine == "inline" else options.workers or usable_cores()
        expected = estimator.estimate(todo, at_a_time)
        console.print(plan_table(jobs, todo))
        console.print(f"{expected}; with {at_a_time} at a time", highlight=False)
        return SweepReport(expected, len(jobs), len(jobs) - len(todo))
    kept = out / SWEEP_FILES / f"{file.stem}.toml"  # for `status` to know what is missing
    make_folder(kept.parent, out)
    write_text(kept, file.read_text(encoding="utf-8"))
    place = make_engine(engine, options)
    try:
        with stopping_on_signals():
            expected = estimator.estimate(todo, place.workers)
            report = SweepReport(expected, len(jobs), len(jobs) - len(todo))
            console.print(str(expected), highlight=False, soft_wrap=True)
            with LiveTable(console, f"{file.name}: {place.workers} at a time") as table:
                _Sweep(deque(todo), place, work, retries, estimator, report, table).do()
    finally:
        place.stop()
    return report


def _check(jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs that are to be done; refuse to go on in a folder of another configuration."""
    todo = []
    for job in jobs:
        done = job.done
        # A finished run stays what it is when packages are updated; it says with which.
        job.run.check(job.config, versions_too=not done)
        if not done:
            todo.append(job)
    return todo


def _chosen(jobs: list[Job], only: Sequence[str]) -> list[Job]:
    """Return the jobs of the algorithms and of the games that are named; of all, where none is."""
    names = [(job.config.game, job.config.spec.algorithm) for job in jobs]
    games, algorithms = (set(only) & set(part) for part in zip(*names, strict=True))
    for name in only:
        if name not in games | algorithms:
            raise unknown_name(
                "algorithm or game of the file", name, {n for pair in names for n in pair}
            )
    return [
        job
        for job, (game, algorithm) in zip(jobs, names, strict=True)
        if (not games or game in games) and (not algorithms or algorithm in algorithms)
    ]


def _ordered(todo: list[Job], jobs: Sequence[Job], order: Order, seed: int) -> list[Job]:
    """Put what is to do in order; that of rounds is the same whatever is done already."""
    random = generator(seed)
    if order == "shuffled":
        random.shuffle(todo)
        return todo
    games = list(dict.fromkeys(job.config.game for job in jobs))
    random.shuffle(games)
    rounds: Counter[str] = Counter()
    place = {}
    for job in jobs:
        game = job.config.game
        place[job] = (rounds[game], games.index(game))
        rounds[game] += 1
    return sorted(todo, key=lambda job: place[job])


@dataclass(slots=True)
class _Sweep:
    """A sweep that is being done; `report` says how far it has come."""

    waiting: deque[Job]
    """With the jobs that another process works on: it may leave them undone."""
    engine: Engine
    work: Work
    retries: int
    estimator: Estimator
    report: SweepReport
    table: LiveTable
    futures: dict[Future[Any], Job] = field(default_factory=dict)
    attempts: Counter[Job] = field(default_factory=Counter)

    def do(self) -> None:
        """Submit jobs and settle what came of them, until none is left."""
        self._guess_seconds_left()
        while self.waiting or self.futures:
            self._submit()
            self.table.show(self.report)
            if self.futures:
                finished, _ = wait(self.futures, _POLL, FIRST_COMPLETED)
                for future in finished:
                    self._settle(self.futures.pop(future), future)
            elif self.waiting:
                time.sleep(_POLL)

    def _submit(self) -> None:
        """Give the engine as much as it can do at once: what waits here can still be left out."""
        report, free = self.report, self.engine.workers - len(self.futures)
        # Once round the queue: what another process works on goes to its end, to be asked later.
        for _ in range(len(self.waiting)):
            if free <= 0:
                return
            job = self.waiting.popleft()
            report.elsewhere.discard(job)
            if job.done:
                self._note_done(job, ", by another process")
            elif job.run.locked:
                report.elsewhere.add(job)
                self.waiting.append(job)
            else:
                job.run.forget_failure()
                report.running[job] = time.monotonic()
                self.futures[self.engine.submit(self.work, job)] = job
                free -= 1

    def _settle(self, job: Job, future: Future[Any]) -> None:
        seconds = time.monotonic() - self.report.running.pop(job)
        error = future.exception()
        if error is None and not job.done:
            error = RunError(
                "error",
                f"the worker has finished the run, but there is no result in {job.folder}: if that "
                "is not on a disk that all nodes share, give --fetch",
            )
        if error is None:
            self._note_done(job, f" in {seconds:.0f} s")
        elif isinstance(error, RunError) and error.kind == "busy":
            self.waiting.append(job)
        else:
            problem = error if isinstance(error, RunError) else RunError("error", repr(error))
            self._note_failure(job, problem)

    def _note_done(self, job: Job, how: str) -> None:
        self.report.done += 1
        job.run.forget_failure()
        self.estimator.learn(job.run)
        self._guess_seconds_left()
        self.table.say(f"done: {job.name}{how}")

    def _note_failure(self, job: Job, error: RunError) -> None:
        self.attempts[job] += 1
        attempts = self.attempts[job]
        if error.kind != "input" and attempts <= self.retries:
            again = f"failed, will be tried again ({attempts} of {self.retries})"
            self.table.say(f"{again}: {job.name}: {error.reason}", "yellow")
            self.waiting.append(job)
            return
        log = job.run.log_path.name if job.run.log_path.exists() else None
        failure = Failure(error.kind, error.reason, error.trace, attempts, log, time.time())
        job.run.write(failure)
        self.report.failed[job] = failure
        where = f"log: {job.run.log_path}" if log else f"folder: {job.folder}"
        self.table.say(f"failed, given up: {job.name}: {error.reason} ({where})", "red")

    def _guess_seconds_left(self) -> None:
        left = [*self.waiting, *self.futures.values()]
        expected = self.estimator.estimate(left, self.engine.workers)
        self.report.seconds_left = None if expected.unknown else expected.seconds
