"""Encoders for the bench: with weights that make a planner do realistic work, in little time."""

from dataclasses import replace
from time import perf_counter
from typing import Any

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
    TrainingStep,
    make_vae,
)
from olive_iw.features.binary_vae.planning import LOGIT_THRESHOLD
from olive_iw.features.image import grey_image
from olive_iw.randomness import child_seed, generator
from olive_iw.simulators.base import Simulator, grey_levels
from olive_iw.tools.bench_report import TrainingRow

SCREENS = {"laptop": 300, "paper": 64}
"""Distinct screens that each profile's encoder is made with."""
PAPER_STEPS = 4
"""Training steps of the paper network: for its speed only."""
PAPER_BATCH = 8
"""64 images at a time, as the profile has them, take most of a minute per step on some cores."""
TRUE_SHARE = 0.3
"""Share of the stand-in's latents that are true."""

NOTES = {
    "laptop": (
        f"laptop encoder: its profile's training on {SCREENS['laptop']} screens of the game, "
        "which its peak memory includes"
    ),
    "paper": (
        "paper encoder: a stand-in of the same size, not trained; the biases of its last layer "
        f"are set so that {TRUE_SHARE:.0%} of the latents are true, for planning to go deep"
    ),
}


def collect_images(simulator: Simulator, profile: str, seed: int) -> NDArray[np.uint8]:
    """Grey images, shape (N, 128, 128), of distinct screens met by Rollout-IW; N ≤ `SCREENS`.

    Stops after ten calls per screen: some games show few different ones.
    """
    planner = collection_planner(simulator, Options())
    images: dict[bytes, NDArray[np.uint8]] = {}
    levels = grey_levels(simulator)
    wanted = SCREENS[profile]
    calls = episode = 0
    while len(images) < wanted and calls < 10 * wanted:
        planner.start(simulator, child_seed(seed, episode))
        while not planner.over and len(images) < wanted and calls < 10 * wanted:
            decision = planner.decide()
            for seen in planner.tree.seen:
                screen = seen.step.screen
                key = screen.tobytes()
                if key not in images:
                    images[key] = grey_image(screen, levels)
            calls += max(1, decision.calls)
            planner.advance(decision.action)
        episode += 1
    return np.stack(list(images.values())[:wanted])


def laptop_encoder(
    images: NDArray[np.uint8], game: str, seed: int
) -> tuple[BinaryVae, TrainingRow]:
    """Laptop encoder trained on images, and how fast that went."""
    vae = make_vae("laptop", child_seed(seed, 0))
    return vae, _train(vae, images, LAPTOP_TRAINING, game, seed)


def paper_training(images: NDArray[np.uint8], game: str, seed: int) -> TrainingRow:
    """How fast the paper network trains: a few small steps."""
    vae = make_vae("paper", child_seed(seed, 0))
    config = replace(
        PAPER_TRAINING, epochs=None, steps=PAPER_STEPS, batch=PAPER_BATCH, held_out_share=0.0
    )
    return _train(vae, images, config, game, seed)


def _train(
    vae: BinaryVae, images: NDArray[np.uint8], config: TrainingConfig, game: str, seed: int
) -> TrainingRow:
    times: list[float] = []

    def note_time(_: TrainingStep) -> None:
        times.append(perf_counter())

    report = vae.train(images, config, generator(seed, 1), on_step=note_time)
    images_per_step = report.images_per_second * report.seconds / report.steps
    steps = tuple(float(seconds) for seconds in np.diff(times))
    return TrainingRow(game, vae.config.profile, config.batch, images_per_step, steps)


def paper_stand_in(images: NDArray[np.uint8], seed: int) -> BinaryVae:
    """Paper encoder with random weights, whose latents are true as often as a trained one's.

    As drawn, no latent of it is ever true: no state would be novel and planning would end after a
    handful of calls. Setting each latent's bias by its distribution over some images mends that.
    """
    vae = make_vae("paper", child_seed(seed, 0))
    some = torch.from_numpy(images[:: max(1, len(images) // 16)][:16, np.newaxis])
    with torch.no_grad():
        logits = vae.network.encode(some.float() / 255.0)
        by_bit = logits.transpose(0, 1).flatten(1)
        last: Any = vae.network.encoder[-1]
        last.bias += LOGIT_THRESHOLD - torch.quantile(by_bit, 1.0 - TRUE_SHARE, dim=1)
    vae.weights_changed()
    return vae
