import dataclasses
import json

import numpy as np
import pytest
import safetensors.torch
import torch

from olive_iw.errors import InputError
from olive_iw.features.base import Features
from olive_iw.features.image import grey_image
from olive_iw.features.vae import BinaryVae, LaptopConfig, make_vae, new_network
from olive_iw.features.vae.config import LAPTOP_TRAINING
from olive_iw.features.vae.laptop_planning import KEPT_PATCHES
from olive_iw.features.vae.network import LOGIT_THRESHOLD
from olive_iw.simulators.base import Step

TRAINING = dataclasses.replace(LAPTOP_TRAINING, steps=200)
BOTH = pytest.mark.parametrize("profile", ["laptop", "paper"])


def noise_images(count, seed=0):
    return np.random.default_rng(seed).integers(256, size=(count, 128, 128), dtype=np.uint8)


def two_sprites():
    """A bright square and a grey bar, each at one of 8 × 8 places."""
    images = np.zeros((64, 128, 128), np.uint8)
    for number, image in enumerate(images):
        row, column = 5 + 13 * (number // 8), 3 + 13 * (number % 8)
        image[row : row + 6, column : column + 6] = 255
        image[120:124, column : column + 12] = 130
    return images


def perturbed(profile, seed=0):
    """Untrained features whose logits spread around the threshold, batch statistics included."""
    vae = make_vae(profile, seed)
    rng = np.random.default_rng(seed)
    weights = vae.network.weights()
    for name, tensor in weights.items():
        if "norm" in name and tensor.dtype == np.float32:
            tensor[:] = 0.5 + rng.random(tensor.shape)
    weights["encoder.4.weight"] *= 20.0
    vae.network.set_weights(weights)
    vae.weights_changed()
    return vae


def logits_of(vae, images):
    """Latent logits, shape (N, atoms), numbered as atoms are."""
    items = vae.network.items(images)
    _, logits = vae.network.evaluate(items.inputs)
    if vae.config.profile == "laptop":
        return logits[items.index].reshape(len(images), -1)
    return logits.reshape(len(images), -1, 15 * 15).transpose(0, 2, 1).reshape(len(images), -1)


def test_two_sprites_are_told_apart_within_seconds():
    images = two_sprites()
    vae = make_vae("laptop", 0)
    vae.train(images, TRAINING, np.random.default_rng(0))
    codes = vae.encode(images)
    assert len(np.unique(codes, axis=0)) == 64
    assert np.array_equal(vae.encode(images.copy()), codes)
    error = np.abs(vae.reconstruct(images) - images / 255.0)
    assert error.mean() < 0.01


@BOTH
def test_planning_bits_are_the_networks_above_the_threshold(profile):
    vae = perturbed(profile)
    images = noise_images(3)
    logits = logits_of(vae, images)
    clear = np.abs(logits - LOGIT_THRESHOLD) > 1e-3
    bits = vae.encode(images)
    assert bits.shape == (3, vae.size)
    assert clear.mean() > 0.99
    assert 0.02 < bits.mean() < 0.98
    assert np.array_equal(bits[clear], (logits > LOGIT_THRESHOLD)[clear])


def test_threshold_is_a_probability_of_nine_tenths():
    assert 1 / (1 + np.exp(-LOGIT_THRESHOLD)) == pytest.approx(0.9)


@BOTH
def test_an_images_bits_do_not_depend_on_its_company(profile):
    vae = perturbed(profile)
    images = noise_images(4)
    together = vae.encode(images)
    for image, bits in zip(images, together, strict=True):
        assert np.array_equal(np.flatnonzero(bits), vae.atoms(image))


def test_atoms_are_numbered_by_row_column_bit():
    vae = perturbed("laptop")
    image = np.zeros((128, 128), np.uint8)
    changed = image.copy()
    changed[8 * 3 : 8 * 4, 8 * 5 : 8 * 6] = 255
    different = np.setxor1d(vae.atoms(image), vae.atoms(changed))
    first = (3 * 16 + 5) * 20
    assert len(different) > 0
    assert different.min() >= first
    assert different.max() < first + 20
    logits = logits_of(vae, changed[None])[0]
    expected = np.flatnonzero(logits[first : first + 20] > LOGIT_THRESHOLD)
    atoms = vae.atoms(changed)
    assert (atoms[(atoms >= first) & (atoms < first + 20)] - first).tolist() == expected.tolist()


@BOTH
def test_cached_atoms_equal_uncached_ones(profile):
    cached, plain = perturbed(profile), perturbed(profile)
    plain._cache.limit_bytes = 0
    screens = noise_images(3)
    for screen in [*screens, *screens]:
        atoms = cached.atoms(screen)
        assert atoms.dtype == np.int32
        assert np.array_equal(atoms, plain.atoms(screen))
    assert (cached.cache_hits, len(cached._cache)) == (3, 3)
    assert (plain.cache_hits, len(plain._cache)) == (0, 0)
    with pytest.raises(ValueError, match="read-only"):
        atoms[0] = 1


def test_cache_is_bounded_in_memory():
    vae = make_vae("laptop", 0, cache_bytes=50_000)
    for screen in noise_images(30):
        vae.atoms(screen)
    assert 0 < vae._cache.used_bytes <= 50_000


def test_new_weights_empty_the_cache_and_count_at_once():
    vae = perturbed("laptop")
    images = two_sprites()
    before = [vae.atoms(image) for image in images[:4]]
    vae.train(images, dataclasses.replace(TRAINING, steps=20), np.random.default_rng(0))
    after = [vae.atoms(image) for image in images[:4]]
    assert vae.cache_hits == 0
    assert not any(np.array_equal(*pair) for pair in zip(before, after, strict=True))
    assert np.array_equal(after[0], np.flatnonzero(vae.encode(images[:1])[0]))


class ColouredSimulator:
    """As much of a simulator as `prepare` reads."""

    def __init__(self, grey_levels):
        self.grey_levels = grey_levels


def step_of(screen):
    return Step(screen, 0.0, False, 0)


def test_screens_are_read_with_the_simulators_brightness():
    vae = perturbed("laptop")
    assert isinstance(vae, Features)
    screen = np.random.default_rng(0).integers(128, size=(210, 160), dtype=np.uint8)
    identity = vae.of_step(step_of(screen), None)
    levels = np.arange(256, dtype=np.uint8)[::-1].copy()
    vae.prepare(ColouredSimulator(levels), step_of(screen))
    inverted = vae.of_step(step_of(screen), step_of(screen))
    assert not np.array_equal(identity, inverted)
    expected = vae.encode(grey_image(screen, levels)[None])[0]
    assert np.array_equal(inverted, np.flatnonzero(expected))
    vae.prepare(ColouredSimulator(levels.copy()), step_of(screen))
    vae.of_step(step_of(screen), None)
    assert vae.cache_hits == 1


@BOTH
def test_scores_are_those_of_whole_images(profile):
    vae = perturbed(profile)
    images = np.concatenate([noise_images(2), two_sprites()[:2]])
    items = vae.network.items(images)
    pixels, logits = (torch.from_numpy(it).double() for it in vae.network.evaluate(items.inputs))
    x = torch.from_numpy(items.inputs).double() / 255.0
    bernoulli = torch.distributions.Bernoulli(logits=pixels, validate_args=False)
    likelihood = bernoulli.log_prob(x).sum(1).numpy()[items.index].sum(1)
    entropy = torch.distributions.Bernoulli(logits=logits).entropy().sum(1).numpy()
    entropy = entropy[items.index].sum(1)
    divergence = vae.size * np.log(2) - entropy
    assert vae.elbo(images).dtype == np.float64
    np.testing.assert_allclose(vae.elbo(images), likelihood - divergence, rtol=1e-9)
    np.testing.assert_allclose(vae.reconstruction_error(images), -likelihood, rtol=1e-9)
    np.testing.assert_allclose(vae.latent_entropy(images), entropy, rtol=1e-9)
    decoded = items.images(torch.sigmoid(pixels).numpy())
    np.testing.assert_allclose(vae.reconstruct(images), decoded, atol=1e-6)


def test_no_images_have_no_scores():
    vae = make_vae("laptop", 0)
    none = np.zeros((0, 128, 128), np.uint8)
    assert vae.elbo(none).shape == (0,)
    assert vae.encode(none).shape == (0, 5120)


def test_seeds_and_profiles():
    assert np.array_equal(*(perturbed("laptop", 3).atoms(noise_images(1)[0]) for _ in range(2)))
    one, other = (make_vae("laptop", seed).network.weights() for seed in (0, 1))
    assert not np.array_equal(one["encoder.0.weight"], other["encoder.0.weight"])
    assert make_vae("laptop", 0).size == 5120
    assert make_vae("paper", 0).size == 4500
    with pytest.raises(InputError, match="known: laptop, paper"):
        make_vae("mainframe", 0)


@BOTH
def test_save_and_load_are_exact(profile, tmp_path):
    vae = perturbed(profile)
    path = tmp_path / "weights.safetensors"
    vae.save(path)
    vae.save(path)
    loaded = BinaryVae.load(path)
    assert loaded.config == vae.config
    for name, tensor in vae.network.weights().items():
        assert np.array_equal(tensor, loaded.network.weights()[name])
    screen = noise_images(1)[0]
    assert np.array_equal(vae.atoms(screen), loaded.atoms(screen))
    assert [file.name for file in tmp_path.iterdir()] == ["weights.safetensors"]


def test_weights_can_be_taken_over(tmp_path):
    saved, vae = perturbed("laptop", 1), perturbed("laptop", 2)
    screen = noise_images(1)[0]
    before = vae.atoms(screen)
    saved.save(tmp_path / "weights.safetensors")
    vae.load_weights(tmp_path / "weights.safetensors")
    assert not np.array_equal(vae.atoms(screen), before)
    assert np.array_equal(vae.atoms(screen), saved.atoms(screen))
    with pytest.raises(InputError, match="expected PaperConfig"):
        make_vae("paper", 0).load_weights(tmp_path / "weights.safetensors")


def resaved(path, **changes):
    with safetensors.safe_open(path, "pt") as file:
        description = {**json.loads(file.metadata()["olive-iw"]), **changes}
    tensors = safetensors.torch.load_file(path)
    safetensors.torch.save_file(tensors, path, {"olive-iw": json.dumps(description)})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "something"}, "holds 'something'; expected 'olive-iw binary-vae'"),
        ({"version": "99"}, "version '99'; expected '1' or '2'"),
        ({"profile": "mainframe"}, "unknown profile 'mainframe'; known: laptop, paper"),
        ({"profile": "paper"}, "unexpected .* 'hidden'"),
        ({"config": {"bits": 21}}, "does not hold the laptop architecture"),
        ({"config": {"bytes": 2}}, "unexpected .* 'bytes'"),
        ({"config": {"bits": 10**9}}, "bits = 1000000000 is not possible"),
    ],
)
def test_other_files_are_refused_with_what_was_expected(changes, message, tmp_path):
    path = tmp_path / "weights.safetensors"
    make_vae("laptop", 0).save(path)
    resaved(path, **changes)
    with pytest.raises(InputError, match=message):
        BinaryVae.load(path)


def test_corrupt_and_missing_files_are_refused(tmp_path):
    path = tmp_path / "weights.safetensors"
    with pytest.raises(InputError, match="not there"):
        BinaryVae.load(path)
    make_vae("laptop", 0).save(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match="corrupt"):
        BinaryVae.load(path)
    path.write_bytes(b"hello")
    with pytest.raises(InputError, match="corrupt"):
        BinaryVae.load(path)
    safetensors.torch.save_file({"a": torch.zeros(1)}, path)
    with pytest.raises(InputError, match="without a format"):
        BinaryVae.load(path)


def test_weights_that_are_no_numbers_are_refused(tmp_path):
    path = tmp_path / "weights.safetensors"
    vae = make_vae("laptop", 0)
    vae.network.encoder[1].weight[3, 4] = float("nan")
    vae.save(path)
    with pytest.raises(InputError, match=r"no finite numbers: encoder\.2\.weight"):
        BinaryVae.load(path)


def test_the_paper_network_goes_through_files_of_torch_and_back(tmp_path):
    path = tmp_path / "weights.safetensors"
    vae = perturbed("paper")
    vae.save(path)
    torchs = safetensors.torch.load_file(path)
    state = vae.network.module.state_dict()
    assert torchs.keys() == state.keys()
    assert all(torch.equal(tensor, state[name]) for name, tensor in torchs.items())


def test_files_of_the_first_version_have_images_by_area(tmp_path):
    path = tmp_path / "weights.safetensors"
    make_vae("paper", 0).save(path)
    config = {"bits": 20, "channels": 64, "slope": 0.01, "dropout": 0.2}
    resaved(path, config=config)
    assert BinaryVae.load(path).config.image == "area"
    assert make_vae("paper", 0).config.image == "bilinear"


def test_screens_become_images_of_the_configured_kind():
    screen = np.random.default_rng(0).integers(256, size=(210, 160), dtype=np.uint8)
    network = make_vae("laptop", 0).network
    levels = np.arange(256, dtype=np.uint8)
    for kind in ("area", "bilinear"):
        config = LaptopConfig(image=kind)
        vae = BinaryVae(new_network(config, np.random.default_rng(0)))
        vae.network.set_weights(network.weights())
        vae.weights_changed()
        bits = vae.encode(grey_image(screen, levels, kind)[np.newaxis])[0]
        assert np.array_equal(vae.atoms(screen), np.flatnonzero(bits))


def test_read_only_images_are_scored_without_a_warning():
    images = noise_images(2)
    images.flags.writeable = False
    vae = make_vae("paper", 0)
    assert np.isfinite(vae.elbo(images)).all()  # warnings are errors here
    assert vae.reconstruct(images).shape == images.shape


def test_bits_stay_the_same_when_the_kept_patches_are_forgotten():
    images = noise_images(140)
    assert 256 * len(images) > KEPT_PATCHES
    encoder = make_vae("laptop", 0).network.planning()
    first = [encoder.atoms(image).tolist() for image in images]
    assert [encoder.atoms(image).tolist() for image in images] == first
    fresh = make_vae("laptop", 0).network.planning()
    assert [fresh.atoms(image).tolist() for image in images[::-1]] == first[::-1]


def test_bits_do_not_depend_on_the_image_before():
    images = [np.zeros((128, 128), np.uint8), *noise_images(1)]
    for place in (0, 5, 8, 127):
        images.append(images[-1].copy())
        images[-1][place : place + 3] ^= 255
    images += [images[1], images[0], images[0]]
    network = make_vae("laptop", 0).network
    encoder = network.planning()
    fresh = [network.planning().atoms(image).tolist() for image in images]
    assert [encoder.atoms(image).tolist() for image in images] == fresh
    assert len({tuple(atoms) for atoms in fresh}) == 6
