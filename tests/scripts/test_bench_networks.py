"""The stand-in for the paper's encoder, and how training is timed."""

import numpy as np
import pytest

from bench_networks import TRUE_SHARE, collect_images, make_true, time_training
from olive_iw.features.image import IMAGE_SIZE
from olive_iw.features.vae import LAPTOP_TRAINING, make_vae
from olive_iw.simulators import make_simulator


def test_the_stand_in_has_as_many_true_latents_as_it_says() -> None:
    images = np.random.default_rng(0).integers(0, 256, (16, IMAGE_SIZE, IMAGE_SIZE), np.uint8)
    vae = make_vae("paper", 0)
    make_true(vae, images)
    assert vae.encode(images).mean() == pytest.approx(TRUE_SHARE, abs=0.01)


def test_training_is_timed_on_distinct_screens() -> None:
    images = collect_images(make_simulator("breakout"), 20, seed=0)
    assert len({image.tobytes() for image in images}) <= len(images) == 20
    found = time_training(make_vae("laptop", 0), images, LAPTOP_TRAINING, seed=0)
    assert found["count"] == LAPTOP_TRAINING.steps - 1
    assert found["batch"] == LAPTOP_TRAINING.batch
    assert found["median"] > 0 < found["step_ms"]
