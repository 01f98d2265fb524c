"""The measuring itself: one system in one game, in a process of its own."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import perf_counter, process_time
from typing import Any, NamedTuple, TypeAlias

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
from olive_iw.processes import forget_peak_memory, peak_memory
from olive_iw.randomness import child_seed, generator
from olive_iw.search.ledger import PARTS
from olive_iw.search.rule import Rule
from olive_iw.simulators import make_simulator
from olive_iw.simulators.base import Simulator, grey_levels
from olive_iw.tools.bench_report import ALL_PARTS, THE_REST, BenchRow, Figures, spread

OPENING = 30
"""Actions played before an episode begins: the first seconds of many games are an intro."""
STRETCH = 5
"""Decisions timed in a row before the bare emulator's turn. Search workers sleep during it, and a
core that has slept is slow at first; in a game they never do."""
WARM_UP = 2
"""Decisions before the measured ones: they load compiled code and fill caches."""
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
Calls: TypeAlias = list[tuple[Any, int]]
"""State where each call started, None if it was where the one before ended, and action."""


class BenchSystem(NamedTuple):
    """What is measured: Rollout-IW with features and a bandit."""

    bandit: str
    features: str | None = None
    """Fixed features; None for an encoder."""
    profile: str | None = None
    """Profile of the encoder, "laptop" or "paper"."""
    search_workers: int = 1
    """Processes that make the calls."""
    rules: tuple[Rule, ...] = ()


class BenchJob(NamedTuple):
    """One system in one game."""

    game: str
    name: str
    """Of the system."""
    system: BenchSystem
    decisions: int
    calls_per_action: int
    seed: int
    training: bool
    """Measure the training of the system's network, if it has one?"""
    growth: bool
    """Measure decisions of few and many calls too?"""


def measure(job: BenchJob, tick: Tick) -> list[BenchRow]:
    """Measure, with the threads there are; to be called in a process of the system's own."""
    forget_peak_memory()
    start_mb = _megabytes()
    tick("making the features")
    system, vae = job.system, None
    if system.profile is not None:
        vae, time_steps = make_encoder(system.profile, job.game, job.seed)

    def planner(workers: int = system.search_workers) -> Planner:
        if vae is not None:
            vae.weights_changed()  # empties its cache
        return RolloutIW(
            vae or system.features, bandit=system.bandit, workers=workers, rules=system.rules
        )

    rows = []
    sizes = {job.calls_per_action: job.decisions}
    sizes |= {calls: GROWTH[calls] for calls in GROWTH if job.growth and calls not in sizes}
    for calls, count in sizes.items():
        tick(f"{count} decisions of {calls} calls")
        figures = planning_figures(time_decisions(planner(), job, calls, count))
        figures |= {"start_mb": start_mb, "peak_mb": _megabytes()}
        rows.append(BenchRow("planning", job.game, job.name, calls, figures))
    if system.search_workers > 1:
        tick("one worker and more, in turn")
        figures = take_turns(planner(1), planner(), job)
        rows.append(BenchRow("workers", job.game, job.name, system.search_workers, figures))
    if vae is not None and job.training:
        tick("training steps")
        rows.append(time_steps())
    return rows


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


def time_decisions(planner: Planner, job: BenchJob, calls: int, count: int) -> list[Figures]:
    """Time decisions from the start of an episode on, and again if it ends; leave the first out."""
    simulator, bare = make_simulator(job.game), make_simulator(job.game)
    bare.reset()
    samples: list[Figures] = []
    stretch: list[tuple[Figures, Calls]] = []
    for number in range(WARM_UP + count):
        if number == 0 or planner.over:
            begin(planner, simulator, job.seed, number)
        stretch.append(time_decision(planner, calls))
        if len(stretch) == STRETCH or number == WARM_UP + count - 1:
            samples += [sample | time_bare(bare, made) for sample, made in stretch]
            stretch.clear()
    planner.close()
    return samples[WARM_UP:]


def planning_figures(samples: list[Figures]) -> Figures:
    """Work out means per decision (by name), quotients, and the parts in % of the wall time.

    The spread is that of the ratio in processor time, over the decisions that made calls.
    """
    total = {name: sum(sample[name] for sample in samples) for name in samples[0]}
    total["looked_up"] = total["cache_hits"] + total["cache_misses"]

    def ratio(name: str, by: str) -> float:
        return total[name] / total[by] if total[by] else 0.0

    ours, bares = "processor_seconds", "bare_processor_seconds"
    return {
        **{name: value / len(samples) for name, value in total.items()},
        **{part: 100 * ratio(part, "seconds") for part in ALL_PARTS},
        **spread([sample[ours] / sample[bares] for sample in samples if sample[bares]]),
        "cache_hit_share": ratio("cache_hits", "looked_up"),
        "depth": ratio("rollout_depth", "rollouts"),
        "call_ms": 1e3 * ratio("seconds", "calls"),
        "bare_call_ms": 1e3 * ratio("bare_seconds", "calls"),
        "ratio": ratio("seconds", "bare_seconds"),
        "processor_ratio": ratio(ours, bares),
    }


def take_turns(alone: Planner, together: Planner, job: BenchJob) -> Figures:
    """Let two planners play in turn, each its own episode; compare their wall times per call.

    In each turn a first decision, which wakes the cores up, is left out.
    """
    simulators = make_simulator(job.game), make_simulator(job.game)
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(max(2, job.decisions // 2)):
        for planner, simulator, found in zip((alone, together), simulators, times, strict=True):
            seconds = made = 0.0
            for number in range(1 + STRETCH):
                if (turn, number) == (0, 0) or planner.over:
                    begin(planner, simulator, job.seed, turn)
                began = perf_counter()
                decision = planner.decide(job.calls_per_action)
                planner.advance(decision.action)
                if number > 0:
                    seconds += perf_counter() - began
                    made += decision.calls
            found.append(1e3 * seconds / max(1, made))
    alone.close()
    together.close()
    medians = {"alone_ms": float(np.median(times[0])), "together_ms": float(np.median(times[1]))}
    return spread([one / all_ for one, all_ in zip(*times, strict=True)]) | medians


def time_decision(planner: Planner, calls: int) -> tuple[Figures, Calls]:
    """Time a decision and its action; return all but the bare simulator's times, and the calls.

    `seconds` of wall time and `processor_seconds`, `calls`, `rollouts`, `rollout_depth` (added
    up), `cache_hits`, `cache_misses`, `exhausted` (1 if nothing novel was left), and the seconds
    of `ALL_PARTS`, which add up to `seconds`.
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
    return sample | {"calls": decision.calls, "exhausted": decision.stopped == "exhausted"}, made


def _counts(planner: Planner) -> Figures:
    names = ("rollouts", "rollout_depth", "cache_hits", "cache_misses")
    counters = {name: getattr(planner.ledger.counters, name) for name in names}
    return counters | planner.ledger.stopwatches.seconds()


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


def make_encoder(profile: str, game: str, seed: int) -> tuple[BinaryVae, Callable[[], BenchRow]]:
    """Make a profile's encoder for a game, and what tells how fast its network trains.

    Its weights let a planner do realistic work, and take little time to make.
    """
    images = collect_images(make_simulator(game), SCREENS[profile], seed)
    new = partial(make_vae, profile, child_seed(seed, 0))
    vae = new()
    if profile == "laptop":
        row = time_training(vae, images, LAPTOP_TRAINING, game, seed)
        return vae, lambda: row
    make_true(vae, images)
    return vae, lambda: time_training(new(), images, PAPER_STEPS, game, seed)


def time_training(
    vae: BinaryVae, images: NDArray[np.uint8], config: TrainingConfig, game: str, seed: int
) -> BenchRow:
    """Train a network, and time the steps; the first one, which sets things up, is left out."""
    times: list[float] = []
    random = generator(seed, 1)
    report = vae.train(images, config, random, on_step=lambda _: times.append(perf_counter()))
    seconds = np.diff(times)
    # Of the laptop's distinct patches, few make up an image.
    images_a_step = report.images_per_second * report.seconds / report.steps
    figures = spread((images_a_step / seconds).tolist())
    figures["step_ms"] = 1e3 * float(np.median(seconds))
    return BenchRow("training", game, vae.config.profile, config.batch, figures)


def collect_images(simulator: Simulator, wanted: int, seed: int) -> NDArray[np.uint8]:
    """Grey images, shape (N, 128, 128), of distinct screens met by Rollout-IW; N ≤ `wanted`.

    Stops after ten calls per screen: some games show few different ones.
    """
    planner, levels = collection_planner(simulator, Options()), grey_levels(simulator)
    images: dict[bytes, NDArray[np.uint8]] = {}
    calls = 0
    while len(images) < wanted and calls < 10 * wanted:
        if calls == 0 or planner.over:
            planner.start(simulator, child_seed(seed, calls))
        decision = planner.decide()
        for seen in planner.tree.seen:
            key = seen.step.screen.tobytes()
            if key not in images:
                images[key] = grey_image(seen.step.screen, levels)
        calls += max(1, decision.calls)
        planner.advance(decision.action)
    return np.stack(list(images.values())[:wanted])


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
