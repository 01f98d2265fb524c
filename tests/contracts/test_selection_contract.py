"""What every selection rule must do, whichever is in the registry."""

import numpy as np
import pytest

from olive_iw.agents.selection import SELECTIONS, Scorer
from olive_iw.features.vae import make_vae


@pytest.fixture(scope="module")
def encoder():
    vae = make_vae("laptop", 0)
    assert isinstance(vae, Scorer)
    return vae


@pytest.fixture(scope="module")
def images():
    return np.random.default_rng(0).integers(256, size=(7, 128, 128), dtype=np.uint8)


@pytest.mark.parametrize("k", [0, 1, 5, 7, 20])
@pytest.mark.parametrize("name", SELECTIONS)
def test_picks_as_many_distinct_images_as_asked_and_there_are(name, k, images, encoder):
    picked = SELECTIONS[name](images, encoder, k, np.random.default_rng(0))
    assert picked.dtype == np.int64
    assert picked.shape == (min(k, 7),)
    assert set(picked.tolist()) <= set(range(7))
    assert len(set(picked.tolist())) == len(picked)


@pytest.mark.parametrize("name", SELECTIONS)
def test_is_a_function_of_its_arguments(name, images, encoder):
    before = images.copy()
    one, other = (SELECTIONS[name](images, encoder, 4, np.random.default_rng(3)) for _ in range(2))
    assert one.tolist() == other.tolist()
    assert np.array_equal(images, before)


@pytest.mark.parametrize("name", SELECTIONS)
def test_equal_images_are_picked_at_random(name, encoder):
    equal = np.full((6, 128, 128), 90, np.uint8)
    first = {
        int(SELECTIONS[name](equal, encoder, 1, np.random.default_rng(seed))[0])
        for seed in range(20)
    }
    assert len(first) > 2


@pytest.mark.parametrize("name", SELECTIONS)
def test_nothing_to_pick_from(name, encoder):
    none = np.zeros((0, 128, 128), np.uint8)
    assert SELECTIONS[name](none, encoder, 3, np.random.default_rng(0)).shape == (0,)
