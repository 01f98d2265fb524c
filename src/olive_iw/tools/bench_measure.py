"""The measuring itself: one system in one game, in a process of its own."""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter, process_time
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from olive_iw.agents import Options
from olive_iw.agents.planning import collection_planner
from olive_iw.features.binary_vae import (
    LAPTOP_TRAINING,
    PAPER_TRAINING,
    BinaryVae,
    TrainingConfig,
    make_vae,
)
from olive_iw.features.binary_vae.model import LOGIT_THRESHOLD
from olive_iw.features.image import grey_image
from olive_iw.planners import Planner, RolloutIW
from olive_iw.planners.ledger import PARTS
from olive_iw.processes import forget_peak_memory, peak_memory
from olive_iw.randomness import child_seed, generator
from olive_iw.simulators import make_simulator
from olive_iw.simulators.base import Simulator, grey_levels
from olive_iw.tools.bench_report import THE_REST, BenchJob, BenchRow

OPENING = 30
"""Actions played before an episode begins: the first seconds of many games are an intro."""
STRETCH = 5
"""Decisions timed in a row before the bare emulator's turn. Search workers sleep during it, and a
core that has slept is slow at first; in a game they never do."""
GROWTH = {10: 10, 1000: 2}
"""Decisions by their number of calls, to see how cost grows with it."""
SCREENS = {"laptop": 300, "paper": 64}
"""Distinct screens that each profile's encoder is made with."""
# 64 images at a time, as the profile has them, take most of a minute per step on some cores.
PAPER_STEPS = replace(PAPER_TRAINING, epochs=None, steps=4, batch=8, held_out_share=0.0)
"""Training of the paper network: for its speed only."""
TRUE_SHARE = 0.3
"""Share of the stand-in's latents that are true."""

Tick: TypeAlias = Callable[[str], None]
"""Called when something is about to be done, with a word for it."""
Sample: TypeAlias = dict[str, float]
Samples: TypeAlias = dict[str, list[float]]
"""As in `BenchRow`."""
Calls: TypeAlias = list[tuple[Any, int]]
"""State where each call started, None if it was where the one before ended, and action."""


def measure(job: BenchJob, tick: Tick) -> list[BenchRow]:
    """Measure, with the threads there are; to be called in a process of the system's own."""
    workbench = _Workbench(job, tick)
    sizes = {job.calls_per_action: workbench.decisions}
    sizes |= {calls: GROWTH[calls] for calls in GROWTH if job.growth and calls not in sizes}
    rows = [workbench.planning(calls, count) for calls, count in sizes.items()]
    if job.system.search_workers > 1:
        rows.append(workbench.workers())
    if job.system.profile is not None and job.training:
        rows.append(workbench.training())
    return rows


class _Workbench:
    """A system that is being measured in a game, with features that are fit for it."""

    def __init__(self, job: BenchJob, tick: Tick) -> None:
        forget_peak_memory()
        self._memory_before = _megabytes()
        self._job, self._tick, self._system = job, tick, job.system
        self.decisions = self._system.decisions(job.decisions)
        self._features: str | BinaryVae | None = self._system.features
        self._trained: BenchRow | None = None
        if (profile := self._system.profile) is not None:
            tick("making the encoder")
            simulator = make_simulator(job.game)
            self._images = collect_images(simulator, SCREENS[profile], job.seed)
            self._features = make_vae(profile, child_seed(job.seed, 0))
            if profile == "laptop":
                self._trained = train(self._features, self._images, LAPTOP_TRAINING, job)
            else:
                make_true(self._features, self._images)

    def _planner(self, workers: int) -> Planner:
        if isinstance(self._features, BinaryVae):
            self._features.weights_changed()  # so that nothing is remembered yet
        return RolloutIW(self._features, bandit=self._system.bandit, workers=workers)

    def planning(self, calls: int, count: int) -> BenchRow:
        """Measure decisions of some calls."""
        self._tick(f"{count} decisions of {calls} calls")
        job, warm_up = self._job, self._system.warm_up
        planner = self._planner(self._system.search_workers)
        found = time_decisions(planner, job, calls, warm_up + count)[warm_up:]
        samples = {name: [sample[name] for sample in found] for name in found[0]}
        memory = self._memory_before, _megabytes()
        return BenchRow("planning", job.game, job.name, calls, samples, *memory)

    def workers(self) -> BenchRow:
        """Measure how much faster several workers are than one."""
        self._tick("one worker and more, in turn")
        job, workers = self._job, self._system.search_workers
        planners = {"alone": self._planner(1), "together": self._planner(workers)}
        samples = take_turns(planners, job, max(2, self.decisions // 2))
        return BenchRow("workers", job.game, job.name, workers, samples)

    def training(self) -> BenchRow:
        """Measure the training of the encoder, if that was not done to make it."""
        if self._trained is None:
            self._tick("training steps")
            vae = make_vae("paper", child_seed(self._job.seed, 0))
            self._trained = train(vae, self._images, PAPER_STEPS, self._job)
        return self._trained


def _megabytes() -> float:
    return (peak_memory() or 0) / 1e6


def begin(planner: Planner, simulator: Simulator, seed: int, episode: int) -> None:
    """Begin an episode with an opening of random actions, the same in every one."""
    planner.start(simulator, child_seed(seed, episode))
    for action in generator(seed, OPENING).integers(simulator.action_count, size=OPENING):
        planner.advance(int(action))
        if planner.over:  # then it is no opening
            planner.start(simulator, child_seed(seed, episode))
            break


def time_decisions(planner: Planner, job: BenchJob, calls: int, count: int) -> list[Sample]:
    """Time decisions from the start of an episode on, and again if it ends."""
    simulator, bare = make_simulator(job.game), make_simulator(job.game)
    bare.reset()
    samples: list[Sample] = []
    stretch: list[tuple[Sample, Calls]] = []
    for number in range(count):
        if number == 0 or planner.over:
            begin(planner, simulator, job.seed, number)
        stretch.append(time_decision(planner, calls))
        if len(stretch) == STRETCH or number == count - 1:
            samples += [sample | time_bare(bare, made) for sample, made in stretch]
            stretch.clear()
    planner.close()
    return samples


def take_turns(planners: dict[str, Planner], job: BenchJob, turns: int) -> Samples:
    """Let planners play in turn, each its own episode; return wall time per call, by turn.

    In each turn a first decision, which wakes the cores up, is left out.
    """
    simulators = {name: make_simulator(job.game) for name in planners}
    times: Samples = {name: [] for name in planners}
    for turn in range(turns):
        for name, planner in planners.items():
            seconds = made = 0.0
            for number in range(1 + STRETCH):
                if (turn, number) == (0, 0) or planner.over:
                    begin(planner, simulators[name], job.seed, turn)
                began = perf_counter()
                decision = planner.decide(job.calls_per_action)
                planner.advance(decision.action)
                if number > 0:
                    seconds += perf_counter() - began
                    made += decision.calls
            times[name].append(seconds / max(1, made))
    for planner in planners.values():
        planner.close()
    return times


def time_decision(planner: Planner, calls: int) -> tuple[Sample, Calls]:
    """Time a decision and its action; return all but the bare simulator's times, and the calls."""
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
    sample[THE_REST] = took[0] - sum(sample[part] for part in PARTS)
    sample |= {"seconds": took[0], "processor_seconds": took[1]}
    return sample | {"calls": decision.calls, "exhausted": decision.stopped == "exhausted"}, made


def _counts(planner: Planner) -> Sample:
    counters, seconds = planner.ledger.counters, planner.ledger.stopwatches.seconds()
    names = ("rollouts", "rollout_depth", "cache_hits", "cache_misses")
    return {name: getattr(counters, name) for name in names} | seconds


def _calls_since(planner: Planner, known: int) -> Calls:
    """Return the calls behind the nodes from `known` on."""
    tree, made, at = planner.tree, [], -1
    for node in range(known, len(tree)):
        parent = int(tree.parent[node])
        made.append((None if parent == at else planner.saved_state(parent), int(tree.action[node])))
        at = node
    return made


def time_bare(bare: Simulator, calls: Calls) -> Sample:
    """Time a bare simulator making a decision's calls.

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
    return {"bare_seconds": float(took[0]), "bare_processor_seconds": float(took[1])}


def _clocks(planner: Planner | None = None) -> NDArray[np.float64]:
    """Return wall time and processor time, which includes that of a planner's workers."""
    others = 0.0 if planner is None else planner.driver.processor_seconds
    return np.array([perf_counter(), process_time() + others])


def collect_images(simulator: Simulator, wanted: int, seed: int) -> NDArray[np.uint8]:
    """Grey images, shape (N, 128, 128), of distinct screens met by Rollout-IW; N ≤ `wanted`.

    Stops after ten calls per screen: some games show few different ones.
    """
    planner, levels = collection_planner(simulator, Options()), grey_levels(simulator)
    images: dict[bytes, NDArray[np.uint8]] = {}
    calls = 0
    while len(images) < wanted and calls < 10 * wanted:
        if calls == 0 or planner.over:
            begin(planner, simulator, seed, calls)
        decision = planner.decide()
        for seen in planner.tree.seen:
            key = seen.step.screen.tobytes()
            if key not in images:
                images[key] = grey_image(seen.step.screen, levels)
        calls += max(1, decision.calls)
        planner.advance(decision.action)
    return np.stack(list(images.values())[:wanted])


def train(
    vae: BinaryVae, images: NDArray[np.uint8], config: TrainingConfig, job: BenchJob
) -> BenchRow:
    """Train, and time the steps; the first one, which sets things up, is left out."""
    times: list[float] = []
    random = generator(job.seed, 1)
    report = vae.train(images, config, random, on_step=lambda _: times.append(perf_counter()))
    seconds = np.diff(times).tolist()
    # Of the laptop's distinct patches, few make up an image.
    images_a_step = report.images_per_second * report.seconds / report.steps
    samples = {"seconds": seconds, "images": [images_a_step] * len(seconds)}
    return BenchRow("training", job.game, vae.config.profile, config.batch, samples)


def make_true(vae: BinaryVae, images: NDArray[np.uint8]) -> None:
    """Let the latents of a paper encoder with random weights be true as often as a trained one's.

    As drawn, no latent of it is ever true: no state would be novel and planning would end after a
    handful of calls. Setting each latent's bias by its distribution over some images mends that.
    """
    some = torch.from_numpy(images[:: max(1, len(images) // 16)][:16, np.newaxis])
    with torch.no_grad():
        logits = vae.network.encode(some.float() / 255.0)
        by_bit = logits.transpose(0, 1).flatten(1)
        last: Any = vae.network.encoder[-1]
        last.bias += LOGIT_THRESHOLD - torch.quantile(by_bit, 1.0 - TRUE_SHARE, dim=1)
    vae.weights_changed()
