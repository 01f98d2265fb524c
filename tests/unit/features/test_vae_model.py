import numpy as np
import pytest
import torch

from olive_iw.features.binary_vae.config import LaptopConfig, PaperConfig
from olive_iw.features.binary_vae.model import (
    LaptopVae,
    PaperVae,
    build,
    initialise,
    patch_items,
)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def parameter_count(network):
    return sum(parameter.numel() for parameter in network.parameters())


@pytest.mark.parametrize(
    ("config", "latents"), [(LaptopConfig(), (20, 16, 16)), (PaperConfig(), (20, 15, 15))]
)
def test_shapes_there_and_back(config, latents):
    network = build(config, seeded())
    images = torch.rand((3, 1, 128, 128), generator=seeded())
    logits = network.encode(images)
    assert logits.shape == (3, *latents)
    assert network.decode(logits).shape == (3, 1, 128, 128)


def test_paper_network_is_of_the_authors_size():
    assert parameter_count(build(PaperConfig(), seeded())) == 452_885


def test_laptop_network_counts_its_layers():
    each_way = 2 * (64 * 64 + 64) + 64 * 20
    assert parameter_count(build(LaptopConfig(), seeded())) == 2 * each_way + 20 + 64


def test_laptop_latents_see_their_patch_only():
    network = build(LaptopConfig(), seeded())
    images = torch.rand((1, 1, 128, 128), generator=seeded())
    changed = images.clone()
    changed[0, 0, 8 * 3 + 2, 8 * 5 + 7] += 1.0
    differs = (network.encode(images) != network.encode(changed)).any(1)[0]
    assert differs.nonzero().tolist() == [[3, 5]]


def test_laptop_items_and_images_agree():
    network = build(LaptopConfig(), seeded())
    images = np.random.default_rng(0).integers(256, size=(2, 128, 128), dtype=np.uint8)
    items = patch_items(images)
    of_items = network.encode_items(torch.from_numpy(items.inputs).float() / 255.0)
    of_images = network.encode(torch.from_numpy(images[:, None]).float() / 255.0)
    expected = of_images.permute(0, 2, 3, 1).reshape(2, 256, 20)
    torch.testing.assert_close(of_items[torch.from_numpy(items.index)], expected)


def test_same_seed_same_weights_and_nothing_from_the_global_generator():
    before = torch.get_rng_state()
    for config in (LaptopConfig(), PaperConfig()):
        one, other = build(config, seeded(1)).state_dict(), build(config, seeded(1)).state_dict()
        assert all(torch.equal(one[name], other[name]) for name in one)
        different = build(config, seeded(2)).state_dict()
        assert not torch.equal(one["encoder.0.weight"], different["encoder.0.weight"])
    assert torch.equal(torch.get_rng_state(), before)


def test_initialise_forgets_what_was_learned():
    network = build(PaperConfig(), seeded(1))
    with torch.no_grad():
        network.encoder[1].first_norm.running_mean.fill_(3.0)
        network.encoder[0].weight.zero_()
    initialise(network, seeded(1))
    fresh = build(PaperConfig(), seeded(1)).state_dict()
    assert all(torch.equal(tensor, fresh[name]) for name, tensor in network.state_dict().items())


def test_evaluation_mode_draws_nothing_and_training_mode_drops_channels():
    network = build(PaperConfig(), seeded())
    images = torch.rand((2, 1, 128, 128), generator=seeded())
    assert torch.equal(network.encode(images), network.encode(images))
    network.train()
    with pytest.raises(RuntimeError, match="generator"):
        network.encode(images)
    one, other = network.encode(images, seeded(1)), network.encode(images, seeded(2))
    assert not torch.equal(one, other)
    assert torch.equal(one, network.encode(images, seeded(1)))


def test_blocks_have_no_skip_connection():
    block = build(PaperConfig(), seeded()).encoder[1]
    with torch.no_grad():
        block.second.weight.zero_()
        block.second.bias.zero_()
    assert not block(torch.ones(1, 64, 9, 9)).any()


def test_patch_items_put_the_images_together_again():
    rng = np.random.default_rng(0)
    # Few different patches, and more than the hash table has room for at first.
    images = np.repeat(np.repeat(rng.integers(3, size=(4, 32, 32)), 4, axis=1), 4, axis=2)
    many = rng.integers(256, size=(20, 128, 128))
    for stack in (images.astype(np.uint8), many.astype(np.uint8)):
        items = patch_items(stack)
        patches = items.inputs[items.index].reshape(-1, 16, 16, 8, 8)
        again = patches.transpose(0, 1, 3, 2, 4).reshape(-1, 128, 128)
        assert np.array_equal(again, stack)
        assert len(np.unique(items.inputs, axis=0)) == len(items.inputs)
    assert len(patch_items(images.astype(np.uint8)).inputs) <= 3**4


def test_occurrences_count_every_item():
    images = np.zeros((4, 128, 128), np.uint8)
    images[1, :8, :8] = 9
    assert patch_items(images).occurrences(np.array([0, 1, 1])).tolist() == [3 * 256 - 2, 2]
    whole = build(PaperConfig(channels=2), seeded()).items(images)
    assert whole.occurrences(np.array([2, 0])).tolist() == [1, 0, 1, 0]


def test_networks_are_what_the_profiles_say():
    assert isinstance(build(LaptopConfig(), seeded()), LaptopVae)
    assert isinstance(build(PaperConfig(), seeded()), PaperVae)


def test_weights_do_not_depend_on_the_number_of_threads():
    before = torch.get_num_threads()
    made = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            made.append(build(LaptopConfig(), seeded()).state_dict())
    finally:
        torch.set_num_threads(before)
    assert all(made[0][name].equal(made[1][name]) for name in made[0])
