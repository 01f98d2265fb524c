"""How fast the networks of both profiles train, and what planning with the paper's costs.

    python scripts/bench_networks.py space_invaders --decisions 10

The paper's encoder is a stand-in of the same size that is not trained: its last biases are set so
that a share of the latents are true, for planning to go deep.
"""

import argparse
import sys
from collections.abc import Iterable
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from olive_iw.agents.learning import collection_planner
from olive_iw.algorithms import make_spec
from olive_iw.cli.bench_measure import (
    BenchJob,
    Figures,
    in_process,
    planning_figures,
    spread,
    time_decisions,
)
from olive_iw.errors import InputError
from olive_iw.features.image import grey_image
from olive_iw.features.vae import (
    LAPTOP_TRAINING,
    PAPER_TRAINING,
    BinaryVae,
    TrainingConfig,
    make_vae,
)
from olive_iw.features.vae.network import LOGIT_THRESHOLD
from olive_iw.features.vae.paper import PaperNetwork
from olive_iw.planners import RolloutIW
from olive_iw.randomness import child_seed, generator
from olive_iw.simulators import Simulator, make_simulator
from olive_iw.simulators.base import grey_levels

SCREENS = {"laptop": 300, "paper": 64}
"""Distinct screens that each profile's network trains on."""
# 64 images at a time, as the profile has them, take most of a minute per step on some cores.
PAPER_STEPS = replace(PAPER_TRAINING, epochs=None, steps=4, batch=8, held_out_share=0.0)
"""Training of the paper network: for its speed only."""
TRUE_SHARE = 0.3
"""Share of the stand-in's latents that are true."""


def laptop_training(job: BenchJob) -> Figures:
    """Train the laptop network as its profile does; see `time_training`."""
    images = collect_images(make_simulator(job.game), SCREENS["laptop"], job.seed)
    return time_training(make_vae("laptop", job.seed), images, LAPTOP_TRAINING, job.seed)


def paper_training(job: BenchJob) -> Figures:
    """Train the paper network for a few steps; see `time_training`."""
    images = collect_images(make_simulator(job.game), SCREENS["paper"], job.seed)
    return time_training(make_vae("paper", job.seed), images, PAPER_STEPS, job.seed)


def paper_planning(job: BenchJob) -> Figures:
    """Plan with the stand-in, beside the bare emulator; see `planning_figures`."""
    vae = make_vae("paper", job.seed)
    make_true(vae, collect_images(make_simulator(job.game), SCREENS["paper"], job.seed))
    return planning_figures(time_decisions(RolloutIW(vae, bandit="ttts"), job))


def time_training(
    vae: BinaryVae, images: NDArray[np.uint8], config: TrainingConfig, seed: int
) -> Figures:
    """Train a network, and time the steps; the first one, which sets things up, is left out.

    Returns milliseconds per step, and the spread of the images per second.
    """
    times: list[float] = []
    random = generator(seed, 1)
    report = vae.train(images, config, random, on_step=lambda _: times.append(perf_counter()))
    seconds = np.diff(times)
    # Of the laptop's distinct patches, few make up an image.
    images_a_step = report.images_per_second * report.seconds / report.steps
    figures = spread((images_a_step / seconds).tolist())
    return figures | {"step_ms": 1e3 * float(np.median(seconds)), "batch": config.batch}


def collect_images(simulator: Simulator, wanted: int, seed: int) -> NDArray[np.uint8]:
    """Grey images, shape (N, 128, 128), of distinct screens met by Rollout-IW; N ≤ `wanted`.

    Stops after ten calls per screen: some games show few different ones.
    """
    planner, levels = (
        collection_planner(simulator, make_spec("vae-iw").options),
        grey_levels(simulator),
    )
    images: dict[bytes, NDArray[np.uint8]] = {}
    calls = 0
    while len(images) < wanted and calls < 10 * wanted:
        if calls == 0 or planner.over:
            planner.start(simulator, child_seed(seed, calls))
        decision = planner.decide()
        for seen in planner.tree.seen:
            images.setdefault(seen.step.screen.tobytes(), grey_image(seen.step.screen, levels))
        calls += max(1, decision.calls)
        planner.advance(decision.action)
    return np.stack(list(images.values())[:wanted])


def make_true(vae: BinaryVae, images: NDArray[np.uint8]) -> None:
    """Let the latents of a paper encoder with random weights be true as often as a trained one's.

    As drawn, no latent of it is ever true: no state would be novel and planning would end after a
    handful of calls. Setting each latent's bias by its distribution over some images mends that.
    """
    some = torch.from_numpy(images[:: max(1, len(images) // 16)][:16, np.newaxis])
    assert isinstance(vae.network, PaperNetwork)
    network = vae.network.module
    with torch.no_grad():
        logits = network.encode(some.float() / 255.0)
        by_bit = logits.transpose(0, 1).flatten(1)
        last: Any = network.encoder[-1]
        last.bias += LOGIT_THRESHOLD - torch.quantile(by_bit, 1.0 - TRUE_SHARE, dim=1)
    vae.weights_changed()


def lines(job: BenchJob) -> Iterable[str]:
    """Measure, each thing in a process of its own, and say what came of it."""
    for name, training in (("laptop", laptop_training), ("paper", paper_training)):
        found = in_process(job, training)
        yield (
            f"{name} training, batches of {found['batch']:.0f}: {found['step_ms']:,.1f} ms a step, "
            f"{found['median']:,.1f} images a second "
            f"({found['low']:,.1f}–{found['high']:,.1f} in the middle half)"
        )
    found = in_process(job, paper_planning)
    yield (
        f"paper planning: {found['calls']:.0f} calls and {found['seconds']:.3f} s a decision, CPU "
        f"ratio {found['processor_ratio']:.2f} ({found['low']:.2f}–{found['high']:.2f} in the "
        "middle half)"
    )


def main() -> None:
    """Measure in the game that is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("game", nargs="?", default="space_invaders")
    parser.add_argument("--decisions", type=int, default=10)
    parser.add_argument("--calls-per-action", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counts = (given.decisions, given.calls_per_action, given.seed)
    try:
        for line in lines(BenchJob(given.game, "rollout-iw", 1, *counts)):
            print(line, flush=True)
    except InputError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
