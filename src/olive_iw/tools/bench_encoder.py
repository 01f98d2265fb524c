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
    make_vae,
)
from olive_iw.features.binary_vae.model import LOGIT_THRESHOLD
from olive_iw.features.image import grey_image
from olive_iw.randomness import child_seed, generator
from olive_iw.simulators import make_simulator
from olive_iw.simulators.base import Simulator, grey_levels
from olive_iw.tools.bench_report import BenchRow, spread

SCREENS = {"laptop": 300, "paper": 64}
"""Distinct screens that each profile's encoder is made with."""
# 64 images at a time, as the profile has them, take most of a minute per step on some cores.
PAPER_STEPS = replace(PAPER_TRAINING, epochs=None, steps=4, batch=8, held_out_share=0.0)
"""Training of the paper network: for its speed only."""
TRUE_SHARE = 0.3
"""Share of the stand-in's latents that are true."""


class Encoder:
    """The encoder of a profile, for a game."""

    def __init__(self, profile: str, game: str, seed: int) -> None:
        self._game, self._seed = game, seed
        self._images = collect_images(make_simulator(game), SCREENS[profile], seed)
        self._vae = make_vae(profile, child_seed(seed, 0))
        self._row: BenchRow | None = None
        if profile == "laptop":
            self._row = self._train(self._vae, LAPTOP_TRAINING)
        else:
            make_true(self._vae, self._images)

    def with_empty_cache(self) -> BinaryVae:
        """Return the encoder, which remembers no screen."""
        self._vae.weights_changed()
        return self._vae

    def training(self) -> BenchRow:
        """Return how fast the network trains, by some steps if that was not how it was made."""
        if self._row is None:
            vae = make_vae("paper", child_seed(self._seed, 0))
            self._row = self._train(vae, PAPER_STEPS)
        return self._row

    def _train(self, vae: BinaryVae, config: TrainingConfig) -> BenchRow:
        """Train, and time the steps; the first one, which sets things up, is left out."""
        times: list[float] = []
        random = generator(self._seed, 1)
        report = vae.train(
            self._images, config, random, on_step=lambda _: times.append(perf_counter())
        )
        seconds = np.diff(times)
        # Of the laptop's distinct patches, few make up an image.
        images_a_step = report.images_per_second * report.seconds / report.steps
        figures = spread((images_a_step / seconds).tolist())
        figures["step_ms"] = 1e3 * float(np.median(seconds))
        return BenchRow("training", self._game, vae.config.profile, config.batch, figures)


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
