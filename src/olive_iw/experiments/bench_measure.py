"""The measuring itself: one system in one game, in a process of its own."""

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, TypeAlias

from numpy.typing import NDArray

from olive_iw.experiments import bench_encoder as encoders
from olive_iw.experiments.bench_report import THE_REST, DecisionSample, PlanningRow, TrainingRow
from olive_iw.experiments.bench_systems import SYSTEMS, Job, System
from olive_iw.features import Features
from olive_iw.planners import ParallelRolloutIW, Planner, RolloutIW
from olive_iw.planners.ledger import Ledger
from olive_iw.randomness import child_seed, generator
from olive_iw.simulators import make_simulator
from olive_iw.simulators.base import Simulator, Step

OPENING = 30
"""Actions played before an episode begins: the first seconds of many games are an intro."""

Tick: TypeAlias = Callable[[str], None]
"""Called when something is about to be done, with a word for it."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a job measured."""

    planning: PlanningRow
    growth: tuple[PlanningRow, ...] = ()
    training: TrainingRow | None = None


def run(job: Job, tick: Tick) -> Found:
    """Measure, with the threads there are; to be called in a process of the system's own."""
    forget_peak_memory()
    memory_before = peak_memory()
    system = SYSTEMS[job.system]
    bench = _Bench(job, tick)
    images = row = None
    if system.profile is not None:
        tick("collecting screens")
        images = encoders.collect_images(bench.simulator, system.profile, job.seed)
        tick("preparing the encoder")
    make_planner, row = _planner_maker(system, images, job)

    def planning_row(calls: int, samples: list[DecisionSample]) -> PlanningRow:
        memory = memory_before, peak_memory()
        return PlanningRow(job.game, job.system, calls, tuple(samples), *memory)

    count = system.decisions(job.decisions)
    samples = bench.measure(make_planner(), job.calls_per_action, count, system.warm_up)
    planning = planning_row(job.calls_per_action, samples)
    growth = []
    for calls, decisions in system.growth.items() if job.growth else ():
        samples = bench.measure(make_planner(), calls, decisions, 0)
        growth.append(planning_row(calls, samples))
    if images is not None and system.profile == "paper" and job.training:
        tick("training steps")
        row = encoders.paper_training(images, job.game, job.seed)
    return Found(planning, tuple(growth), row if job.training else None)


def _planner_maker(
    system: System, images: NDArray[Any] | None, job: Job
) -> tuple[Callable[[], Planner], TrainingRow | None]:
    """Maker of planners whose features remember nothing yet, and how the encoder trained."""
    if images is None:
        return lambda: _assemble(system, system.features), None
    row = None
    if system.profile == "laptop":
        vae, row = encoders.laptop_encoder(images, job.game, job.seed)
    else:
        vae = encoders.paper_stand_in(images, job.seed)

    def make() -> Planner:
        vae.weights_changed()
        return _assemble(system, vae)

    return make, row


def _assemble(system: System, features: str | Features | None) -> Planner:
    if system.search_workers == 1:
        return RolloutIW(features, bandit=system.bandit)
    return ParallelRolloutIW(features, bandit=system.bandit, workers=system.search_workers)


class LateStart:
    """A simulator whose episodes begin after some random actions, always the same ones."""

    def __init__(self, simulator: Simulator, seed: int) -> None:
        self._simulator, self._seed = simulator, seed
        # What the simulator does itself, so that a call costs what it costs there.
        self.step = simulator.step
        self.save = simulator.save
        self.restore = simulator.restore
        self._first = simulator.reset()
        self._state = simulator.save()
        for action in generator(seed, OPENING).integers(simulator.action_count, size=OPENING):
            step = simulator.step(int(action))
            if step.terminal:
                break
            self._first = replace(step, reward=0.0)
            self._state = simulator.save()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as one that plays the opening again."""
        return LateStart, (self._simulator, self._seed)

    def reset(self) -> Step:
        """Go to the state after the opening."""
        self.restore(self._state)
        return self._first

    def __getattr__(self, name: str) -> Any:
        return getattr(self._simulator, name)


class _Bench:
    """A simulator for the planner, and another of the same game for the bare calls."""

    def __init__(self, job: Job, tick: Tick) -> None:
        self.simulator: Simulator = LateStart(make_simulator(job.game), job.seed)
        self._bare = make_simulator(job.game)
        self._bare.reset()
        self._seed = job.seed
        self._tick = tick

    def measure(
        self, planner: Planner, calls: int, decisions: int, warm_up: int
    ) -> list[DecisionSample]:
        """Play from the start of an episode, and again if it ends; leave the warm-up out."""
        samples: list[DecisionSample] = []
        for number in range(warm_up + decisions):
            if number == 0 or planner.over:
                planner.start(self.simulator, child_seed(self._seed, number))
            self._tick(f"{calls} calls a decision")
            samples.append(sample_decision(planner, self._bare, calls))
        planner.close()
        return samples[warm_up:]


def sample_decision(planner: Planner, bare: Simulator, calls: int) -> DecisionSample:
    """Time a decision and its action, then the same calls of a bare simulator."""
    before, known = _Counts(planner.ledger), len(planner.tree)
    watch = _Watch(planner)
    with watch:
        decision = planner.decide(calls)
    bare_watch = time_bare(planner, bare, known)
    with watch:
        planner.advance(decision.action)
    after = _Counts(planner.ledger)
    parts = {part: after.seconds[part] - before.seconds[part] for part in after.seconds}
    return DecisionSample(
        seconds=watch.seconds,
        bare_seconds=bare_watch.seconds,
        processor_seconds=watch.processor_seconds,
        bare_processor_seconds=bare_watch.processor_seconds,
        calls=decision.calls,
        rollouts=after.rollouts - before.rollouts,
        rollout_depth=after.rollout_depth - before.rollout_depth,
        cache_hits=after.cache_hits - before.cache_hits,
        cache_misses=after.cache_misses - before.cache_misses,
        exhausted=decision.stopped == "exhausted",
        parts={**parts, THE_REST: watch.seconds - sum(parts.values())},
    )


class _Watch:
    """Adds up wall time and processor time spent inside `with watch:`.

    The processor time of a planner's workers is part of it.
    """

    def __init__(self, planner: Planner | None = None) -> None:
        self.seconds = 0.0
        self.processor_seconds = 0.0
        self._planner = planner

    def __enter__(self) -> None:
        self._processor_began = self._processor_time()
        self._began = perf_counter()

    def __exit__(self, *error: object) -> None:
        self.seconds += perf_counter() - self._began
        self.processor_seconds += self._processor_time() - self._processor_began

    def _processor_time(self) -> float:
        ours = process_time()
        if isinstance(self._planner, ParallelRolloutIW):
            return ours + self._planner.pool.processor_seconds
        return ours


class _Counts:
    """A ledger's counts as they are now."""

    def __init__(self, ledger: Ledger) -> None:
        self.rollouts = ledger.rollouts
        self.rollout_depth = ledger.rollout_depth
        self.cache_hits = ledger.cache_hits
        self.cache_misses = ledger.cache_misses
        self.seconds = ledger.seconds()


def time_bare(planner: Planner, bare: Simulator, known: int) -> _Watch:
    """Time a bare simulator making the calls behind the nodes from `known` on.

    It starts each call where the planner's simulator did; going back there is not timed. So both
    emulate the same frames, within seconds of each other, whatever else the machine is doing.
    """
    tree, watch, at = planner.tree, _Watch(), -1
    for node in range(known, len(tree)):
        parent, action = int(tree.parent[node]), int(tree.action[node])
        if parent != at:
            bare.restore(planner.saved_state(parent))
        with watch:
            bare.step(action)
        at = node
    return watch


def forget_peak_memory() -> None:
    """Let `peak_memory` count from now on, where the system can do that (Linux)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> float:
    """Most memory that this process has held, in MB (10⁶ bytes); 0.0 where nobody can tell.

    Since `forget_peak_memory`, or else since its start.
    """
    status = Path("/proc/self/status")
    if status.exists():
        # Not getrusage: on Linux a new process's peak there starts at its parent's.
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    try:
        import resource
    except ImportError:
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
