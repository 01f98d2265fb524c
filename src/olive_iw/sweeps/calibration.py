"""How fast this machine is, measured within a second or two, for want of anything better."""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from olive_iw.features.binary_vae import BinaryVae, build, torch_generator
from olive_iw.features.image import grey_image
from olive_iw.randomness import generator
from olive_iw.runs.config import RunConfig
from olive_iw.simulators import make_simulator
from olive_iw.simulators.base import grey_levels

CALLS = 100
IMAGES = 8
OVERHEAD = 1.25
"""Planning and features beside the bare simulator: the target of the package's own benchmark."""


class Calibration:
    """Measures a kind of simulator and a profile's network once each, when asked."""

    def __init__(self, device: str = "auto") -> None:
        """Measure later; `device` is where networks are trained."""
        self._device = device
        self._calls: dict[str, float] = {}
        self._steps: dict[str, float] = {}
        self._images: dict[str, NDArray[np.uint8]] = {}

    def seconds_per_call(self, game: str) -> float:
        """Measure saving, restoring and stepping; one game stands for all of its kind."""
        kind = _kind(game)
        if kind not in self._calls:
            self._calls[kind] = OVERHEAD * self._walk(game)
        return self._calls[kind]

    def _walk(self, game: str) -> float:
        simulator, draw = make_simulator(game), generator(0)
        step = simulator.reset()
        screens = [step.screen]
        began = time.perf_counter()
        for action in draw.integers(simulator.action_count, size=CALLS):
            simulator.restore(simulator.save())
            step = simulator.step(int(action))
            screens.append(step.screen)
            if step.terminal:
                simulator.reset()
        seconds = (time.perf_counter() - began) / CALLS
        self._images[_kind(game)] = _grey(screens, grey_levels(simulator))
        return seconds

    def seconds_per_step(self, config: RunConfig) -> float:
        """Measure the network's training on the screens that `seconds_per_call` met.

        Batches are small here, and the time is scaled: larger ones are cheaper for their size.
        """
        self.seconds_per_call(config.game)
        spec = config.spec
        if spec.profile not in self._steps:
            vae = BinaryVae(build(spec.network, torch_generator(generator(0))), device=self._device)
            short = replace(spec.training, epochs=None, steps=2, batch=IMAGES, patience=None)
            images = self._images[_kind(config.game)]
            # The first training also loads parts of torch.
            vae.train(images, replace(short, steps=1), generator(0))
            report = vae.train(images, short, generator(0))
            self._steps[spec.profile] = report.seconds / 2 * spec.training.batch / IMAGES
        return self._steps[spec.profile]


def _kind(game: str) -> str:
    return game.partition(":")[0] if ":" in game else "atari"


def _grey(screens: Sequence[NDArray[np.uint8]], levels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    chosen = [screens[number * len(screens) // IMAGES] for number in range(IMAGES)]
    return np.stack([grey_image(screen, levels) for screen in chosen])
