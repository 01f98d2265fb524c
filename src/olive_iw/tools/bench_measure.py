"""The measuring itself: one system in one game, in a process of its own."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from time import perf_counter, process_time
from typing import Any, TypeAlias

from numpy.typing import NDArray

from olive_iw.features import Features
from olive_iw.planners import Planner, RolloutIW
from olive_iw.planners.ledger import Ledger
from olive_iw.processes import forget_peak_memory, peak_memory
from olive_iw.randomness import child_seed, generator
from olive_iw.simulators import make_simulator
from olive_iw.simulators.base import Simulator, Step
from olive_iw.tools import bench_encoder as encoders
from olive_iw.tools.bench_report import (
    THE_REST,
    DecisionSample,
    PlanningRow,
    SpeedUpRow,
    TrainingRow,
)
from olive_iw.tools.bench_systems import SYSTEMS, Job, System

OPENING = 30
"""Actions played before an episode begins: the first seconds of many games are an intro."""

STRETCH = 5
"""Decisions timed in a row before the bare emulator's turn. Search workers sleep during it, and a
core that has slept is slow at first; in a game they never do."""

Tick: TypeAlias = Callable[[str], None]
"""Called when something is about to be done, with a word for it."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """What a job measured."""

    planning: PlanningRow
    growth: tuple[PlanningRow, ...] = ()
    training: TrainingRow | None = None
    speed_up: SpeedUpRow | None = None


def run(job: Job, tick: Tick) -> JobResult:
    """Measure, with the threads there are; to be called in a process of the system's own."""
    forget_peak_memory()
    memory_before = _megabytes_held()
    system = SYSTEMS[job.system]
    bench = _Bench(job, tick)
    images = row = None
    if system.profile is not None:
        tick("collecting screens")
        images = encoders.collect_images(bench.simulator, system.profile, job.seed)
        tick("preparing the encoder")
    features, row = _features_maker(system, images, job)

    def make_planner() -> Planner:
        return _assemble(system, features())

    def planning_row(calls: int, samples: list[DecisionSample]) -> PlanningRow:
        memory = memory_before, _megabytes_held()
        return PlanningRow(job.game, job.system, calls, tuple(samples), *memory)

    count = system.decisions(job.decisions)
    samples = bench.measure(make_planner(), job.calls_per_action, count, system.warm_up)
    planning = planning_row(job.calls_per_action, samples)
    growth = []
    for calls, decisions in system.growth.items() if job.growth else ():
        samples = bench.measure(make_planner(), calls, decisions, 0)
        growth.append(planning_row(calls, samples))
    speed_up = None
    if system.search_workers > 1:
        both = _assemble(replace(system, search_workers=1), features()), make_planner()
        alone, together = bench.take_turns(both, job.calls_per_action, system.turns(job.decisions))
        speed_up = SpeedUpRow(job.game, job.system, system.search_workers, alone, together)
    if images is not None and system.profile == "paper" and job.training:
        tick("training steps")
        row = encoders.paper_training(images, job.game, job.seed)
    return JobResult(planning, tuple(growth), row if job.training else None, speed_up)


def _features_maker(
    system: System, images: NDArray[Any] | None, job: Job
) -> tuple[Callable[[], str | Features | None], TrainingRow | None]:
    """Maker of features that remember nothing yet, and how the encoder trained."""
    if images is None:
        return lambda: system.features, None
    row = None
    if system.profile == "laptop":
        vae, row = encoders.laptop_encoder(images, job.game, job.seed)
    else:
        vae = encoders.paper_stand_in(images, job.seed)

    def make() -> Features:
        vae.weights_changed()
        return vae

    return make, row


def _assemble(system: System, features: str | Features | None) -> Planner:
    return RolloutIW(features, bandit=system.bandit, workers=system.search_workers)


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
        self._game, self._seed = job.game, job.seed
        self._tick = tick

    def measure(
        self, planner: Planner, calls: int, decisions: int, warm_up: int
    ) -> list[DecisionSample]:
        """Play from the start of an episode, and again if it ends; leave the warm-up out."""
        samples: list[DecisionSample] = []
        stretch: list[Decided] = []
        for number in range(warm_up + decisions):
            if number == 0 or planner.over:
                planner.start(self.simulator, child_seed(self._seed, number))
            self._tick(f"{calls} calls a decision")
            stretch.append(time_decision(planner, calls))
            if len(stretch) == STRETCH or number == warm_up + decisions - 1:
                samples += [beside_bare(decided, self._bare) for decided in stretch]
                stretch.clear()
        planner.close()
        return samples[warm_up:]

    def take_turns(
        self, planners: Sequence[Planner], calls: int, turns: int
    ) -> list[tuple[float, ...]]:
        """Let planners play in turn, each its own episode; wall time per call, by planner and turn.

        In each turn a first decision, which wakes the cores up, is left out.
        """
        times: list[list[float]] = [[] for _ in planners]
        simulators = [LateStart(make_simulator(self._game), self._seed) for _ in planners]
        for turn in range(turns):
            self._tick(f"{calls} calls a decision, with one worker and with more")
            for planner, simulator, found in zip(planners, simulators, times, strict=True):
                watch, made = _Watch(), 0
                for number in range(1 + STRETCH):
                    if (turn, number) == (0, 0) or planner.over:
                        planner.start(simulator, child_seed(self._seed, turn))
                    before = planner.ledger.calls
                    with watch if number else nullcontext():
                        planner.advance(planner.decide(calls).action)
                    made += planner.ledger.calls - before if number else 0
                found.append(watch.seconds / max(1, made))
        for planner in planners:
            planner.close()
        return [tuple(found) for found in times]


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision that was timed."""

    sample: DecisionSample
    """What was found; the bare simulator's part is still missing."""
    calls: list[tuple[Any, int]]
    """State where each call started, None if it was where the one before ended, and action."""


def time_decision(planner: Planner, calls: int) -> Decided:
    """Time a decision and its action, and note what it called."""
    before, known = _Counts(planner.ledger), len(planner.tree)
    watch = _Watch(planner)
    with watch:
        decision = planner.decide(calls)
    made = _calls_since(planner, known)
    with watch:
        planner.advance(decision.action)
    after = _Counts(planner.ledger)
    parts = {part: after.seconds[part] - before.seconds[part] for part in after.seconds}
    sample = DecisionSample(
        seconds=watch.seconds,
        bare_seconds=0.0,
        processor_seconds=watch.processor_seconds,
        bare_processor_seconds=0.0,
        calls=decision.calls,
        rollouts=after.rollouts - before.rollouts,
        rollout_depth=after.rollout_depth - before.rollout_depth,
        cache_hits=after.cache_hits - before.cache_hits,
        cache_misses=after.cache_misses - before.cache_misses,
        exhausted=decision.stopped == "exhausted",
        parts={**parts, THE_REST: watch.seconds - sum(parts.values())},
    )
    return Decided(sample, made)


def _calls_since(planner: Planner, known: int) -> list[tuple[Any, int]]:
    """Return the calls behind the nodes from `known` on; see `Decided`."""
    tree, made, at = planner.tree, [], -1
    for node in range(known, len(tree)):
        parent = int(tree.parent[node])
        made.append((None if parent == at else planner.saved_state(parent), int(tree.action[node])))
        at = node
    return made


def beside_bare(decided: Decided, bare: Simulator) -> DecisionSample:
    """Time a bare simulator making a decision's calls.

    It starts each call where the planner's simulator did; going back there is not timed. So both
    emulate the same frames, within seconds of each other, whatever else the machine is doing.
    """
    watch = _Watch()
    for state, action in decided.calls:
        if state is not None:
            bare.restore(state)
        with watch:
            bare.step(action)
    return replace(
        decided.sample,
        bare_seconds=watch.seconds,
        bare_processor_seconds=watch.processor_seconds,
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
        theirs = 0.0 if self._planner is None else self._planner.driver.processor_seconds
        return process_time() + theirs


class _Counts:
    """A ledger's counts as they are now."""

    def __init__(self, ledger: Ledger) -> None:
        self.rollouts = ledger.counters.rollouts
        self.rollout_depth = ledger.counters.rollout_depth
        self.cache_hits = ledger.counters.cache_hits
        self.cache_misses = ledger.counters.cache_misses
        self.seconds = ledger.stopwatches.seconds()


def _megabytes_held() -> float:
    return (peak_memory() or 0) / 1e6
