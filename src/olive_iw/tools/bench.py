"""`olive-iw bench`: how fast planning is on this machine, beside the bare emulator.

Each system is measured in a process of its own, one at a time, with one thread.
After every few decisions the same calls are made again by a bare simulator, so that the ratio of
the two times stands still when the machine does not.
"""

import os
import platform
import re
import traceback
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import torch

from olive_iw.algorithms import make_agent
from olive_iw.errors import InputError
from olive_iw.processes import Channel, ChildProcess
from olive_iw.registry import Registry
from olive_iw.runs.config import versions
from olive_iw.search.rule import Rule
from olive_iw.settings import AT_LEAST_ONE
from olive_iw.simulators import make_simulator
from olive_iw.tools.bench_measure import SCREENS, TRUE_SHARE, BenchJob, BenchSystem, measure
from olive_iw.tools.bench_report import BenchReport, BenchRow


def _rules_of(algorithm: str) -> tuple[Rule, ...]:
    """Rules that an algorithm plans by under the profile laptop."""
    return make_agent(algorithm).planner.rules


LAPTOP = _rules_of("olive")
SYSTEMS: Registry[BenchSystem] = Registry(
    "system",
    "olive_iw.bench_systems",
    {
        "rollout-iw": BenchSystem("uniform", "bprost"),
        "olive-laptop": BenchSystem("ttts", profile="laptop", rules=LAPTOP),
        "olive-laptop-2": BenchSystem("ttts", profile="laptop", search_workers=2, rules=LAPTOP),
        "olive-plus": BenchSystem("ttts", profile="laptop", rules=_rules_of("olive-plus")),
        "olive-paper": BenchSystem("ttts", profile="paper"),
        "patch-iw": BenchSystem("ttts", "patches"),
    },
)
DEFAULT_GAMES = ("space_invaders", "breakout", "freeway", "ms_pacman")
"""The first spends 1,000 calls on novel states, which Breakout has not: there growth shows."""
DEFAULT_SYSTEMS = ("rollout-iw", "olive-laptop", "olive-laptop-2", "olive-paper")
THREADS = 1
"""Threads of a measuring process: figures for one core can be compared between machines."""

NOTES = {
    "laptop": f"laptop encoder: its profile's training on {SCREENS['laptop']} screens of the game, "
    "which its peak memory includes",
    "paper": "paper encoder: a stand-in of the same size, not trained; its last biases are set so "
    f"that {TRUE_SHARE:.0%} of the latents are true, for planning to go deep",
}

Tell: TypeAlias = Callable[[int, int, str], None]
"""Called with how many of how many games and systems are done, and what is being done now."""


class BenchError(RuntimeError):
    """A measuring process failed; the message has its traceback."""


def bench(
    games: Sequence[str] = DEFAULT_GAMES,
    *,
    decisions: int = 10,
    calls_per_action: int = 100,
    seed: int = 0,
    systems: Sequence[str] = DEFAULT_SYSTEMS,
    training: bool = True,
    growth: bool = True,
    on_progress: Tell | None = None,
) -> BenchReport:
    """Measure systems in games.

    decisions: measured decisions of each
    training: also measure how fast the networks train, in the first game
    growth: also measure decisions of 10 and 1,000 calls, in the first game

    Starts processes, so a script that calls it needs `if __name__ == "__main__":`.
    """
    AT_LEAST_ONE.check("decisions", decisions)
    AT_LEAST_ONE.check("calls_per_action", calls_per_action)
    _check(games, systems)
    created, machine = datetime.now(UTC).isoformat(timespec="seconds"), describe_machine()
    rows: list[BenchRow] = []
    tell = on_progress or (lambda *_: None)
    for number, name in enumerate(systems):
        once = SYSTEMS[name].search_workers == 1
        jobs = [
            BenchJob(
                *(game, name, SYSTEMS[name], decisions, calls_per_action, seed),
                training=training and once and game == games[0],
                growth=growth and once and game == games[0],
            )
            # The first game last: what is only measured there would swell the others' memory.
            for game in reversed(games)
        ]
        rows += _in_process(jobs, number * len(games), len(systems) * len(games), tell)
    # A reader compares the systems of one game; the games of one system share a process.
    rows.sort(key=lambda row: games.index(row.game))
    settings: dict[str, int | list[str]] = {"games": list(games), "systems": list(systems)}
    settings |= {"decisions": decisions, "calls_per_action": calls_per_action, "seed": seed}
    profiles = dict.fromkeys(SYSTEMS[system].profile for system in systems)
    return BenchReport(
        created=created,
        versions=versions(),
        machine=machine,
        settings=settings,
        rows=rows,
        notes=[NOTES[profile] for profile in profiles if profile is not None],
    )


def _check(games: Sequence[str], systems: Sequence[str]) -> None:
    for kind, names in (("game", games), ("system", systems)):
        if not names:
            raise InputError(f"there is nothing to measure; name at least one {kind}")
        if len(set(names)) < len(names):
            raise InputError(f"a {kind} is named twice in {', '.join(names)}")
    for system in systems:
        SYSTEMS[system]
    for game in games:
        make_simulator(game)


def _in_process(jobs: list[BenchJob], done: int, total: int, tell: Tell) -> Iterator[BenchRow]:
    """Do jobs in a fresh interpreter, so that its memory and its threads are its own."""
    tell(done, total, f"{jobs[0].name}: starting")
    process = ChildProcess(_measure_and_send, jobs, has_children=True)  # those are search workers
    try:
        for number, job in enumerate(jobs):
            while isinstance(found := process.channel.receive_object(), str):
                tell(done + number, total, f"{job.name} in {job.game}: {found}")
            if isinstance(found, Exception):
                raise found
            yield from found
    except (EOFError, ConnectionError):
        where = f"{job.name} in {job.game}"
        raise BenchError(f"{where}: the measuring process {process.how_it_ended()}") from None
    finally:
        process.close()
    tell(done + len(jobs), total, f"{job.name}: done")


def _measure_and_send(channel: Channel, jobs: list[BenchJob]) -> None:
    """Send words on what is being done and, for each job, its rows, or an error."""
    torch.set_num_threads(THREADS)
    for job in jobs:
        try:
            channel.send_object(measure(job, channel.send_object))
        except InputError as error:
            channel.send_object(InputError(f"{job.name} in {job.game}: {error}"))
        except Exception:
            trace = traceback.format_exc()
            channel.send_object(BenchError(f"{job.name} in {job.game} failed:\n{trace}"))


def describe_machine() -> dict[str, str | int | float]:
    """Where the figures come from; `load` is that of the minute before the bench."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    path = Path("/proc/cpuinfo")
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    model = re.search(r"model name\s*:\s*(.+)", text)
    return {
        "processor": model[1] if model else platform.processor() or "unknown",
        "cores": os.cpu_count() or 1,
        "threads": THREADS,
        "system": f"{platform.system()} {platform.machine()}",
        "load": round(load, 2),
    }
