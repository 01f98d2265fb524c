"""The measuring itself: one system in one game, in a process of its own."""

import traceback
from collections.abc import Callable, Iterable
from time import perf_counter, process_time
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from olive_iw.algorithms import make_agent, make_spec
from olive_iw.errors import InputError
from olive_iw.planners import Planner
from olive_iw.processes import (
    Channel,
    ChildProcess,
    forget_peak_memory,
    limit_torch,
    peak_memory,
)
from olive_iw.randomness import child_seed, generator
from olive_iw.search.ledger import PARTS
from olive_iw.simulators import make_simulator
from olive_iw.simulators.base import Simulator

OPENING = 30
"""Actions played before an episode begins: the first seconds of many games are an intro."""
STRETCH = 5
"""Decisions timed in a row before the bare emulator's turn. Search workers sleep during it, and a
core that has slept is slow at first; in a game they never do."""
WARM_UP = 2
"""Decisions before the measured ones: they load compiled code and fill caches."""
TRAINING_CALLS = 1000
"""Calls whose screens learned features are trained on."""
THREADS = 1
"""Threads of a measuring process: figures for one core can be compared between machines."""
THE_REST = "the rest"
ALL_PARTS = (*PARTS, THE_REST)
"""Parts of a decision's wall time: the ledger's, and the rest, which none of its watches saw."""

Figures: TypeAlias = dict[str, float]
Calls: TypeAlias = list[tuple[Any, int]]
"""State where each call started, None if it was where the one before ended, and action."""


class BenchJob(NamedTuple):
    """One system in one game."""

    game: str
    algorithm: str
    search_workers: int
    decisions: int
    calls_per_action: int
    seed: int


class BenchError(RuntimeError):
    """A measuring process failed; the message has its traceback."""


def in_process(job: BenchJob, measuring: Callable[[BenchJob], Figures]) -> Figures:
    """Do a job in a fresh interpreter, so that its memory and its threads are its own."""
    process = ChildProcess(_send, job, measuring, has_children=True)  # those are search workers
    where = f"{job.algorithm} in {job.game}"
    try:
        found = process.channel.receive_object()
    except (EOFError, ConnectionError):
        raise BenchError(f"{where}: the measuring process {process.how_it_ended()}") from None
    finally:
        process.close()
    if isinstance(found, Exception):
        raise type(found)(f"{where}: {found}")
    figures: Figures = found
    return figures


def _send(channel: Channel, job: BenchJob, measuring: Callable[[BenchJob], Figures]) -> None:
    """Send what was measured, or an error."""
    limit_torch(THREADS)
    try:
        channel.send_object(measuring(job))
    except InputError as error:
        channel.send_object(InputError(str(error)))
    except Exception:
        channel.send_object(BenchError(f"failed:\n{traceback.format_exc()}"))


def measure(job: BenchJob) -> Figures:
    """Measure a system, with the threads there are; to be called in a process of its own."""
    forget_peak_memory()
    planner = planner_of(job)
    figures = planning_figures(time_decisions(planner, job))
    return figures | {"peak_mb": (peak_memory() or 0) / 1e6}


def planner_of(job: BenchJob) -> Planner:
    """Make an algorithm's planner; where it plans on learned features, they learn a little first.

    All that they learn comes from one episode on fixed features, so that it takes seconds.
    """
    settings: dict[str, Any] = {"search_workers": job.search_workers}
    if make_spec(job.algorithm).learns:
        settings |= {"first_share": 1.0}
    agent = make_agent(job.algorithm, seed=job.seed, **settings)
    agent.train(make_simulator(job.game), TRAINING_CALLS)
    return agent.planner


def begin(planner: Planner, simulator: Simulator, seed: int, episode: int) -> None:
    """Begin an episode with an opening of random actions, the same in every one."""
    planner.start(simulator, child_seed(seed, episode))
    for action in generator(seed, OPENING).integers(simulator.action_count, size=OPENING):
        planner.advance(int(action))
        if planner.over:  # then it is no opening
            planner.start(simulator, child_seed(seed, episode))
            break


def time_decisions(planner: Planner, job: BenchJob) -> list[Figures]:
    """Time decisions from the start of an episode on, and again if it ends; leave the first out."""
    simulator, bare = make_simulator(job.game), make_simulator(job.game)
    bare.reset()
    samples: list[Figures] = []
    stretch: list[tuple[Figures, Calls]] = []
    for number in range(WARM_UP + job.decisions):
        if number == 0 or planner.over:
            begin(planner, simulator, job.seed, number)
        stretch.append(time_decision(planner, job.calls_per_action))
        if len(stretch) == STRETCH or number == WARM_UP + job.decisions - 1:
            samples += [sample | time_bare(bare, made) for sample, made in stretch]
            stretch.clear()
    planner.close()
    return samples[WARM_UP:]


def planning_figures(samples: list[Figures]) -> Figures:
    """Work out means per decision (by name), quotients, and the parts in % of the wall time.

    `low`, `median` and `high` are quartiles of the ratio in processor time, over the decisions that
    made calls.
    """
    total = {name: sum(sample[name] for sample in samples) for name in samples[0]}

    def ratio(name: str, by: str) -> float:
        return total[name] / total[by] if total[by] else 0.0

    ours, bares = "processor_seconds", "bare_processor_seconds"
    return {
        **{name: value / len(samples) for name, value in total.items()},
        **{part: 100 * ratio(part, "seconds") for part in ALL_PARTS},
        **spread(sample[ours] / sample[bares] for sample in samples if sample[bares]),
        "depth": ratio("rollout_depth", "rollouts"),
        "call_ms": 1e3 * ratio("seconds", "calls"),
        "bare_call_ms": 1e3 * ratio("bare_seconds", "calls"),
        "ratio": ratio("seconds", "bare_seconds"),
        "processor_ratio": ratio(ours, bares),
    }


def spread(values: Iterable[float]) -> Figures:
    """Return `count`, median and quartiles (`low`, `high`) of samples; all 0 if there are none."""
    known = list(values)
    low, median, high = np.quantile(known, [0.25, 0.5, 0.75]).tolist() if known else (0.0,) * 3
    return {"count": len(known), "low": low, "median": median, "high": high}


def time_decision(planner: Planner, calls: int) -> tuple[Figures, Calls]:
    """Time a decision and its action; return all but the bare simulator's times, and the calls.

    `seconds` of wall time and `processor_seconds`, `calls`, `rollouts`, `rollout_depth` (added
    up), and the seconds of `ALL_PARTS`, which add up to `seconds`.
    """
    before, known = _counts(planner), len(planner.tree)
    began = _clocks(planner)
    decision = planner.decide(calls)
    took = _clocks(planner) - began
    made = _calls_since(planner, known)
    began = _clocks(planner)
    planner.advance(decision.action)
    took += _clocks(planner) - began
    after = _counts(planner)
    sample = {name: after[name] - before[name] for name in after}
    sample["seconds"], sample["processor_seconds"] = took.tolist()
    sample[THE_REST] = sample["seconds"] - sum(sample[part] for part in PARTS)
    return sample | {"calls": decision.calls}, made


def _counts(planner: Planner) -> Figures:
    counters = planner.ledger.counters
    counts = {"rollouts": counters.rollouts, "rollout_depth": counters.rollout_depth}
    return counts | planner.ledger.stopwatches.seconds()


def _calls_since(planner: Planner, known: int) -> Calls:
    """Return the calls behind the nodes from `known` on."""
    tree, made, at = planner.tree, [], -1
    for node in range(known, len(tree)):
        parent = int(tree.parent[node])
        made.append((None if parent == at else tree.saved_state(parent), int(tree.action[node])))
        at = node
    return made


def time_bare(bare: Simulator, calls: Calls) -> Figures:
    """Time a bare simulator making a decision's calls: `bare_seconds`, `bare_processor_seconds`.

    It starts each call where the planner's simulator did; going back there is not timed. So both
    emulate the same frames, within seconds of each other, whatever else the machine is doing.
    """
    took = np.zeros(2)
    for state, action in calls:
        if state is not None:
            bare.restore(state)
        began = _clocks()
        bare.step(action)
        took += _clocks() - began
    return dict(zip(("bare_seconds", "bare_processor_seconds"), took.tolist(), strict=True))


def _clocks(planner: Planner | None = None) -> NDArray[np.float64]:
    """Return wall time and processor time, which includes that of a planner's workers."""
    others = 0.0 if planner is None else planner.driver.processor_seconds
    return np.array([perf_counter(), process_time() + others])
