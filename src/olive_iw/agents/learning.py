"""What both ways of learning share: a training episode, the network's training, the files."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from olive_iw.agents.base import NETWORK, TRAINING, Episode, Observer, Progress
from olive_iw.agents.episode import play_episode
from olive_iw.agents.spec import Spec
from olive_iw.errors import InputError
from olive_iw.features.binary_vae import BinaryVae, TrainingReport
from olive_iw.planners import Planner
from olive_iw.randomness import child_seed, generator
from olive_iw.reading import build, read_json
from olive_iw.screens import Reservoir, ScreenSet
from olive_iw.simulators.base import Simulator

WEIGHTS = "network.safetensors"
PROGRESS = "progress.json"
SCREENS = "screens.npy"


def play_training(
    spec: Spec,
    planner: Planner,
    simulator: Simulator,
    key: tuple[int, ...],
    max_calls: int,
    observer: Observer,
) -> Episode:
    """Play a game of a training episode; each `key` has its own randomness."""
    return play_episode(
        planner,
        simulator,
        spec.options,
        seed=child_seed(spec.seed, TRAINING, *key),
        max_actions=spec.options.training_actions,
        max_calls=max_calls,
        observer=observer,
    )


def train_network(
    spec: Spec, vae: BinaryVae, images: NDArray[np.uint8], number: int, observer: Observer
) -> TrainingReport:
    """Train on images, uint8, shape (N, 128, 128); each number has its own randomness."""
    if len(images) < 2:
        raise InputError(
            f"too few distinct screens to learn from ({len(images)}); "
            "give more training calls, or a game that shows more than one screen"
        )
    draw = generator(spec.seed, NETWORK, number + 1)
    return vae.train(images, spec.training, draw, on_step=observer.on_network_step)


def save_learned(
    folder: Path, vae: BinaryVae, screens: ScreenSet | Reservoir, progress: Progress
) -> None:
    """Write network, screens and progress."""
    vae.save(folder / WEIGHTS)
    screens.save(folder / SCREENS)
    (folder / PROGRESS).write_text(json.dumps(asdict(progress)), encoding="utf-8")


def load_learned(folder: Path, vae: BinaryVae) -> Progress:
    """Read network and progress back; the screens are the learner's to read."""
    vae.load_weights(folder / WEIGHTS)
    return build(Progress, read_json(folder / PROGRESS), folder / PROGRESS)
