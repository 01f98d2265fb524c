import numpy as np
import pytest
import torch

from olive_iw.features.vae.config import PaperConfig
from olive_iw.features.vae.paper import PaperNetwork
from olive_iw.features.vae.paper_modules import build, initialise


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def built(seed=0):
    network = build(PaperConfig())
    initialise(network, seeded(seed))
    return network


def parameter_count(network):
    return sum(parameter.numel() for parameter in network.parameters())


def test_paper_network_is_of_the_authors_size():
    assert parameter_count(built()) == 452_885


def test_initialise_forgets_what_was_learned():
    network = built(1)
    with torch.no_grad():
        network.encoder[1].first_norm.running_mean.fill_(3.0)
        network.encoder[0].weight.zero_()
    initialise(network, seeded(1))
    fresh = built(1).state_dict()
    assert all(torch.equal(tensor, fresh[name]) for name, tensor in network.state_dict().items())


def test_evaluation_mode_draws_nothing_and_training_mode_drops_channels():
    network = built()
    images = torch.rand((2, 1, 128, 128), generator=seeded())
    assert torch.equal(network.encode(images), network.encode(images))
    network.train()
    with pytest.raises(RuntimeError, match="generator"):
        network.encode(images)
    one, other = network.encode(images, seeded(1)), network.encode(images, seeded(2))
    assert not torch.equal(one, other)
    assert torch.equal(one, network.encode(images, seeded(1)))


def test_blocks_have_no_skip_connection():
    block = built().encoder[1]
    with torch.no_grad():
        block.second.weight.zero_()
        block.second.bias.zero_()
    assert not block(torch.ones(1, 64, 9, 9)).any()


def test_shapes_there_and_back():
    images = torch.rand((3, 1, 128, 128), generator=seeded())
    logits = built().encode(images)
    assert logits.shape == (3, 20, 15, 15)
    assert built().decode(logits).shape == (3, 1, 128, 128)


def test_same_seed_same_weights_and_nothing_from_the_global_generator():
    before = torch.get_rng_state()
    one, other = built(1).state_dict(), built(1).state_dict()
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert not torch.equal(one["encoder.0.weight"], built(2).state_dict()["encoder.0.weight"])
    assert torch.equal(torch.get_rng_state(), before)


def test_items_are_the_images():
    network = PaperNetwork(PaperConfig(channels=2))
    images = np.random.default_rng(0).integers(256, size=(3, 128, 128), dtype=np.uint8)
    items = network.items(images)
    assert items.occurrences(np.array([2, 0])).tolist() == [1, 0, 1]
    assert np.array_equal(items.images(items.inputs), images)
