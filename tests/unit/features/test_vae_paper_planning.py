"""The paper profile's planning encoder: exact, whatever it has met before."""

import dataclasses

import numpy as np
import pytest
import torch

from olive_iw.features.vae import make_vae, neighbourhoods
from olive_iw.features.vae.config import PAPER_TRAINING, PaperConfig
from olive_iw.features.vae.neighbourhoods import Neighbourhoods
from olive_iw.features.vae.network import LOGIT_THRESHOLD
from olive_iw.features.vae.paper_modules import build, initialise
from olive_iw.features.vae.paper_planning import (
    PaperPlanning,
    WholeImagePlanning,
    planning_encoder,
)

ONE_IMAGE = 257 + 3 * 63**2 + 3 * 30**2 + 15**2
"""Positions that must have room: pixels' numbers, and those of every map."""


def perturbed_network(seed=0, config=None):
    """Untrained network with random batch statistics, its logits spread around the threshold."""
    generator = torch.Generator().manual_seed(seed)
    network = build(config or PaperConfig())
    initialise(network, generator)
    with torch.no_grad():
        for name, tensor in network.state_dict().items():
            if "norm" in name and tensor.is_floating_point():
                tensor.copy_(0.5 + torch.rand(tensor.shape, generator=generator))
                if name.endswith(("bias", "running_mean")):
                    tensor.sub_(1.0)
        network.encoder[-1].weight.mul_(40.0)
        logits = network_logits(network, np.concatenate([noise_images(2), game_images(6)]))
        network.encoder[-1].bias += LOGIT_THRESHOLD - logits.mean()
    return network


def noise_images(count, seed=0):
    return np.random.default_rng(seed).integers(256, size=(count, 128, 128), dtype=np.uint8)


def game_images(count, seed=0):
    """Rows of equal sprites over a background, two of them elsewhere in every image."""
    generator = np.random.default_rng(seed)
    sprite = generator.integers(256, size=(7, 6), dtype=np.uint8)
    images = np.full((count, 128, 128), 30, np.uint8)
    images[:, 118:] = 90
    for row in range(10, 60, 12):
        for column in range(4, 110, 15):
            images[:, row : row + 7, column : column + 6] = sprite
    for image in images:
        for row, column in generator.integers(122, size=(2, 2)):
            image[row : row + 7, column : column + 6] = sprite[: 128 - row, : 128 - column]
    return images


def network_logits(network, images):
    """Logits of the network itself, shape (N, 15, 15, bits)."""
    with torch.inference_mode():
        logits = network.encode(torch.from_numpy(images[:, np.newaxis]).float() / 255.0)
    return logits.permute(0, 2, 3, 1).numpy()


def logits_of(encoder, images):
    return np.stack([encoder.logits(image) for image in images])


@pytest.fixture(scope="module")
def network():
    return perturbed_network()


@pytest.fixture(scope="module")
def images():
    """Images of every kind, neighbours unlike each other."""
    mixed = np.concatenate([game_images(12), noise_images(2), np.zeros((1, 128, 128), np.uint8)])
    return mixed[np.random.default_rng(0).permutation(len(mixed))]


def bits_of(encoder, images):
    bits = np.zeros((len(images), 4500), np.bool_)
    for row, image in zip(bits, images, strict=True):
        row[encoder.atoms(image)] = True
    return bits


@pytest.fixture(scope="module")
def alone(network, images):
    """Logits of each image from an encoder that has met nothing else."""
    return np.concatenate([logits_of(PaperPlanning(network), image[None]) for image in images])


def test_logits_are_the_networks(network, images, alone):
    expected = network_logits(network, images)
    assert expected.std() > 0.5
    np.testing.assert_allclose(alone, expected, rtol=0, atol=2e-5)


def test_bits_are_the_networks_above_the_threshold(network, images):
    expected = network_logits(network, images).reshape(len(images), -1)
    clear = np.abs(expected - LOGIT_THRESHOLD) > 2e-5
    bits = bits_of(planning_encoder(network), images)
    assert bits.shape == (len(images), 4500)
    assert bits.dtype == np.bool_
    assert 0.05 < bits.mean() < 0.95
    assert clear.mean() > 0.99
    assert np.array_equal(bits[clear], (expected > LOGIT_THRESHOLD)[clear])


@pytest.mark.parametrize("kept", [ONE_IMAGE, 2 * ONE_IMAGE, 20 * ONE_IMAGE])
def test_what_was_met_before_changes_nothing(network, images, alone, kept):
    encoder = PaperPlanning(network, kept_positions=kept)
    order = np.random.default_rng(kept).integers(len(images), size=40)
    for number in order:
        assert np.array_equal(encoder.logits(images[number]), alone[number])


def test_one_image_has_the_bits_it_has_among_others(network, images):
    together = bits_of(PaperPlanning(network), images)
    backwards = bits_of(PaperPlanning(network), images[::-1])
    assert np.array_equal(together, backwards[::-1])
    for image, bits in zip(images, together, strict=True):
        assert np.array_equal(bits_of(PaperPlanning(network), image[None])[0], bits)


def test_images_that_differ_at_the_border_only(network):
    plain = np.full((128, 128), 60, np.uint8)
    corners = [(0, 0), (0, 127), (127, 0), (127, 127)]
    edges = [(0, 64), (64, 0), (127, 64), (64, 127)]
    bordered = [plain]
    for row, column in corners + edges:
        bordered.append(plain.copy())
        bordered[-1][row, column] = 250
    images = np.stack([*bordered, np.roll(bordered[1], 40, axis=(0, 1))])
    logits = logits_of(PaperPlanning(network), images)
    np.testing.assert_allclose(logits, network_logits(network, images), rtol=0, atol=2e-5)
    assert len(np.unique(logits.reshape(len(images), -1), axis=0)) == len(images)


def test_equal_places_are_computed_once():
    network = perturbed_network()
    encoder = PaperPlanning(network)
    kept = encoder._neighbourhoods
    counts = []
    for image in [*game_images(30), *game_images(30)]:
        encoder.logits(image)
        counts.append(kept.count)
    assert counts[0] < ONE_IMAGE / 2
    assert 0 < counts[29] - counts[28] < ONE_IMAGE / 5
    assert counts[59] == counts[29]


def test_memory_is_bounded(network, images):
    encoder = PaperPlanning(network, kept_positions=ONE_IMAGE)
    for image in noise_images(3):
        encoder.logits(image)
        assert encoder._neighbourhoods.count <= ONE_IMAGE
    with pytest.raises(ValueError, match=f"an image needs {ONE_IMAGE}"):
        PaperPlanning(network, kept_positions=ONE_IMAGE - 1)


def test_default_memory_is_what_it_says():
    kept = PaperPlanning(perturbed_network())._neighbourhoods
    arrays = (kept._values, kept._covered, kept._slots)
    assert 120e6 < sum(array.nbytes for array in arrays) < 131e6


def test_an_interrupted_image_leaves_nothing_wrong_behind(network, images, alone, monkeypatch):
    encoder = PaperPlanning(network)
    encoder.logits(images[0])
    compute, calls = neighbourhoods._compute, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        compute(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(neighbourhoods, "_compute", interrupted)
        with pytest.raises(KeyboardInterrupt):
            encoder.logits(images[1])
    for number in (1, 0, 2):
        assert np.array_equal(encoder.logits(images[number]), alone[number])


def test_returned_logits_are_the_callers_own(network, images):
    encoder = PaperPlanning(network)
    first = encoder.logits(images[0])
    kept = first.copy()
    first += 1.0
    encoder.logits(images[1])
    assert np.array_equal(encoder.logits(images[0]), kept)


def test_new_weights_give_new_results(images):
    vae = make_vae("paper", 0)
    vae.encode(images[:2])
    with torch.no_grad():
        vae.network.module.load_state_dict(perturbed_network().state_dict())
    vae.weights_changed()
    expected = bits_of(PaperPlanning(perturbed_network()), images[:2])
    assert expected.any()
    assert np.array_equal(vae.encode(images[:2]), expected)
    assert np.array_equal(vae.atoms(images[0]), np.flatnonzero(expected[0]))


def test_training_counts_at_once(images):
    vae = make_vae("paper", 0)
    before = vae._planning.logits(images[0])
    config = dataclasses.replace(
        PAPER_TRAINING, epochs=None, steps=1, batch=2, held_out_share=0.0, learning_rate=1e-2
    )
    vae.train(images[:2], config, np.random.default_rng(0))
    after = vae._planning.logits(images[0])
    assert np.abs(after - before).max() > 1e-3
    np.testing.assert_allclose(after, network_logits(vae.network.module, images[:1])[0], atol=1e-4)


def test_weights_are_copied(network, images, alone):
    own = build(PaperConfig())
    own.load_state_dict(network.state_dict())
    encoder = PaperPlanning(own)
    with torch.no_grad():
        for parameter in own.parameters():
            parameter.zero_()
    assert np.array_equal(encoder.logits(images[0]), alone[0])


@pytest.mark.parametrize("channels", [3, 12])
def test_any_number_of_channels(channels, images):
    network = perturbed_network(config=PaperConfig(channels=channels, bits=7))
    expected = network_logits(network, images[:3])
    logits = logits_of(PaperPlanning(network), images[:3])
    assert logits.shape == (3, 15, 15, 7)
    np.testing.assert_allclose(logits, expected, rtol=0, atol=1e-4)


def test_other_devices_take_whole_images(network, images):
    plain = bits_of(WholeImagePlanning(network), images[:3])
    expected = network_logits(network, images[:3]).reshape(3, -1)
    clear = np.abs(expected - LOGIT_THRESHOLD) > 1e-4
    assert np.array_equal(plain[clear], (expected > LOGIT_THRESHOLD)[clear])
    assert isinstance(planning_encoder(network), PaperPlanning)
    elsewhere = build(PaperConfig()).to("meta")
    assert isinstance(planning_encoder(elsewhere), WholeImagePlanning)


@pytest.mark.parametrize("seed", range(3))
def test_neighbourhoods_have_one_number_if_and_only_if_they_are_equal(seed):
    """In a table almost full, most neighbourhoods meet others on the way to their slot."""
    inputs = np.random.default_rng(seed).integers(1, 4, size=(33, 33), dtype=np.int32)
    windows = np.lib.stride_tricks.sliding_window_view(inputs, (3, 3)).reshape(-1, 9)
    different, expected = np.unique(windows, axis=0, return_inverse=True)
    covered, slots = np.zeros((1000, 9), np.int32), np.zeros(1024, np.int32)
    numbers, changed = np.zeros((33, 33), np.int32), np.ones((33, 33), np.bool_)
    arguments = inputs, changed, numbers, np.zeros_like(changed), 1, 3, 1, covered, slots, 5
    assert neighbourhoods._find(*arguments) == 5 + len(different)
    found = numbers[1:-1, 1:-1].ravel()
    pairs = np.unique(np.stack([found, expected.ravel()]), axis=1)
    assert pairs.shape[1] == len(different) > 900
    assert np.array_equal(covered[found], windows)


def test_layers_are_not_mistaken_for_each_other():
    """Maps of a constant image are constant: one number per layer, all of them different."""
    kept = PaperPlanning(perturbed_network())._neighbourhoods
    assert isinstance(kept, Neighbourhoods)
    kept.outputs(np.full((128, 128), 7, np.uint8))
    middles = [each.inner[len(each.inner) // 2, len(each.inner) // 2] for each in kept._maps]
    assert middles[0] == 8
    assert len(set(middles)) == len(middles)
