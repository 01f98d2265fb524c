"""`olive-iw bench`: how fast planning is on this machine, beside the bare emulator.

Each system is measured in a process of its own, one at a time, with one thread.
After every few decisions the same calls are made again by a bare simulator, so that the ratio of
the two times stands still when the machine does not.
"""

import os
import platform
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

import torch

from olive_iw.errors import InputError
from olive_iw.processes import Channel, ChildProcess
from olive_iw.runs.config import versions
from olive_iw.simulators import make_simulator
from olive_iw.tools.bench_compare import Change, Comparison, compare
from olive_iw.tools.bench_encoder import NOTES
from olive_iw.tools.bench_history import latest_report, load_report, save_history
from olive_iw.tools.bench_measure import JobResult, run
from olive_iw.tools.bench_report import (
    BenchReport,
    PlanningRow,
    SpeedUpRow,
    TrainingRow,
)
from olive_iw.tools.bench_systems import SYSTEMS, Job
from olive_iw.tools.bench_table import bench_table

__all__ = [
    "DEFAULT_DECISIONS",
    "DEFAULT_GAMES",
    "DEFAULT_SYSTEMS",
    "SYSTEMS",
    "BenchError",
    "BenchReport",
    "Change",
    "Comparison",
    "PlanningRow",
    "Progress",
    "SpeedUpRow",
    "TrainingRow",
    "bench",
    "bench_table",
    "compare",
    "latest_report",
    "load_report",
    "save_history",
]

DEFAULT_GAMES = ("space_invaders", "breakout", "freeway", "ms_pacman")
"""The first spends 1,000 calls on novel states, which Breakout has not: there growth shows."""
DEFAULT_SYSTEMS = ("rollout-iw", "olive-laptop", "olive-laptop-2", "olive-paper")
DEFAULT_DECISIONS = 10
THREADS = 1
"""Threads of a measuring process: figures for one core can be compared between machines."""


class BenchError(RuntimeError):
    """A measuring process failed; the message has its traceback."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a bench has come."""

    done: int
    total: int
    """Things to do: decisions, mostly."""
    doing: str
    """What is being done now."""


def bench(
    games: Sequence[str] = DEFAULT_GAMES,
    *,
    decisions: int = DEFAULT_DECISIONS,
    calls_per_action: int = 100,
    seed: int = 0,
    systems: Sequence[str] = DEFAULT_SYSTEMS,
    training: bool = True,
    growth: bool = True,
    on_progress: Callable[[Progress], None] | None = None,
) -> BenchReport:
    """Measure systems in games.

    decisions: measured decisions of each; of slow systems only a share (`System.decisions_share`)
    training: also measure how fast the networks train, in the first game
    growth: also measure decisions of 10, 100 and 1,000 calls, in the first game

    Starts processes, so a script that calls it needs `if __name__ == "__main__":`.
    """
    _check(games, systems, decisions, calls_per_action)
    created = datetime.now(UTC).isoformat(timespec="seconds")
    machine = describe_machine()
    jobs = [
        Job(
            game,
            system,
            decisions,
            calls_per_action,
            seed,
            training=training and game == games[0] and SYSTEMS[system].search_workers == 1,
            growth=growth and game == games[0] and SYSTEMS[system].search_workers == 1,
        )
        for system in systems
        # The first game last: what is only measured there would swell the others' memory.
        for game in reversed(games)
    ]
    found = _run_all(jobs, on_progress)
    # A reader compares the systems of one game; the games of one system share a process.
    found.sort(key=lambda one: games.index(one.planning.game))
    profiles = dict.fromkeys(SYSTEMS[system].profile for system in systems)
    return BenchReport(
        created=created,
        versions=versions(),
        machine=machine,
        settings={
            "games": list(games),
            "systems": list(systems),
            "decisions": decisions,
            "calls_per_action": calls_per_action,
            "seed": seed,
        },
        planning=tuple(one.planning for one in found),
        growth=tuple(row for one in found for row in one.growth),
        training=tuple(one.training for one in found if one.training is not None),
        speed_ups=tuple(one.speed_up for one in found if one.speed_up is not None),
        notes=tuple(NOTES[profile] for profile in profiles if profile is not None),
    )


def _check(games: Sequence[str], systems: Sequence[str], decisions: int, calls: int) -> None:
    for kind, names in (("game", games), ("system", systems)):
        if not names:
            raise InputError(f"there is nothing to measure; name at least one {kind}")
        if len(set(names)) < len(names):
            raise InputError(f"a {kind} is named twice in {', '.join(names)}")
    for name, number in (("decisions", decisions), ("calls_per_action", calls)):
        if number < 1:
            raise InputError(f"{name} = {number} is not possible; it must be at least 1")
    for system in systems:
        SYSTEMS[system]
    for game in games:
        make_simulator(game)


def _run_all(jobs: list[Job], on_progress: Callable[[Progress], None] | None) -> list[JobResult]:
    """Run the jobs, those of each system in one process."""
    total = sum(job.ticks for job in jobs)
    done = 0

    def tell(doing: str, ticks: int) -> None:
        nonlocal done
        if on_progress is not None:
            on_progress(Progress(done, total, doing))
        done += ticks

    found: list[JobResult] = []
    for system, group in groupby(jobs, key=lambda job: job.system):
        tell(f"{system}: starting", 0)
        found += _run_apart(list(group), lambda doing: tell(doing, 1))
    tell("done", 0)
    return found


def _run_apart(jobs: list[Job], tell: Callable[[str], None]) -> Iterator[JobResult]:
    """Run jobs in a fresh interpreter, so that its memory and its threads are its own."""
    process = ChildProcess(_run_and_send, jobs, has_children=True)  # those are search workers
    left = len(jobs)
    try:
        while left:
            kind, content = process.channel.receive_object()
            if kind == "tick":
                tell(content)
            elif kind == "input error":
                raise InputError(content)
            elif kind == "error":
                raise BenchError(content)
            else:
                left -= 1
                yield content
    except EOFError:
        raise BenchError(
            f"{jobs[-left].game}, {jobs[-left].system}: "
            f"the measuring process {process.how_it_ended()}"
        ) from None
    finally:
        process.close()


def _run_and_send(channel: Channel, jobs: list[Job]) -> None:
    torch.set_num_threads(THREADS)
    for job in jobs:
        channel.send_object(_outcome(job, channel))


def _outcome(job: Job, channel: Channel) -> tuple[str, JobResult | str]:
    name = f"{job.system} in {job.game}"
    try:
        return "found", run(job, lambda doing: channel.send_object(("tick", f"{name}: {doing}")))
    except InputError as error:
        return "input error", f"{name}: {error}"
    except Exception:
        return "error", f"{name} failed:\n{traceback.format_exc()}"


def describe_machine() -> dict[str, str | int | float]:
    """Where the figures come from; `load` is that of the minute before the bench."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "threads": THREADS,
        "system": f"{platform.system()} {platform.machine()}",
        "load": round(load, 2),
    }


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    if path.exists():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
