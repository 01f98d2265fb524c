"""Learned bits read in groups: another number of atoms from the same weights."""

import numpy as np
import pytest

from olive_iw.algorithms import load_agent, make_agent, make_spec
from olive_iw.errors import InputError
from olive_iw.features.binary_vae import BinaryVae, PaperConfig, build, make_vae, torch_generator
from olive_iw.features.binary_vae.encoder import _atoms_at

GRAINS = (1, 2, 4, 5, 10)


def screens(count=3):
    return np.random.default_rng(0).integers(256, size=(count, 128, 128), dtype=np.uint8)


def laptop(grain=1):
    """Untrained features with more than a few true bits."""
    network = make_vae("laptop", 0).network
    network.encoder[-1].weight.data.mul_(20.0)
    return BinaryVae(network, grain=grain)


def test_known_bits_give_known_atoms():
    bits = np.array([1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1], bool)
    assert _atoms_at(1, bits).tolist() == [0, 2, 3, 8, 9, 10, 11]
    assert _atoms_at(2, bits).tolist() == [0 + 1, 4 + 3, 8 + 0, 12 + 0, 16 + 3, 20 + 3]
    assert _atoms_at(4, bits).tolist() == [0 + 13, 16 + 0, 32 + 15]
    assert _atoms_at(6, bits).tolist() == [0 + 13, 64 + 60]
    for grain in (1, 2, 4, 6):
        assert _atoms_at(grain, bits).dtype == np.int32


@pytest.mark.parametrize("grain", GRAINS)
def test_every_group_of_bits_gives_one_atom_that_tells_them(grain):
    vae, (screen, *_) = laptop(grain), screens()
    bits = vae.encode(screen[np.newaxis])[0]
    atoms = vae.atoms(screen)
    assert 0.02 < bits.mean() < 0.98
    assert np.array_equal(bits, laptop().encode(screen[np.newaxis])[0])  # whatever the grain
    if grain == 1:
        assert vae.size == 5120
        assert np.array_equal(atoms, np.flatnonzero(bits))
        return
    assert vae.size == 256 * (20 // grain) * 2**grain
    groups, values = np.divmod(atoms, 2**grain)
    assert groups.tolist() == list(range(5120 // grain))
    assert np.array_equal(values[:, None] >> np.arange(grain) & 1, bits.reshape(-1, grain))


def test_the_paper_network_can_be_read_in_groups_too():
    vae = BinaryVae(build(PaperConfig(), torch_generator(np.random.default_rng(0))), grain=5)
    assert vae.size == 225 * 4 * 32
    assert len(vae.atoms(screens()[0])) == 225 * 4


@pytest.mark.parametrize("grain", [3, 6, 7, 20, 0, -1])
def test_wrong_divisors_are_refused_in_a_line(grain):
    with pytest.raises(InputError) as caught:
        BinaryVae(make_vae("laptop", 0).network, grain=grain)
    words = f"grain = {grain} is not possible with 20 bits; it must be 1, 2, 4, 5, 10"
    assert str(caught.value) == words


def test_a_specification_knows_what_divides_its_bits():
    assert make_spec("olive", grain=4).variant == "grain=4"
    assert make_spec("olive", bits=9, grain=3).options.grain == 3
    with pytest.raises(InputError, match="grain = 3 is not possible with 20 bits; it must be 1, 2"):
        make_spec("olive", grain=3)
    with pytest.raises(InputError, match="grain = 11 is not possible; it must be at most 10"):
        make_spec("olive", grain=11)


def test_a_saved_agent_is_read_at_another_grain(tmp_path):
    fine = make_agent("olive", device="cpu")
    fine.save(tmp_path)
    again = load_agent(tmp_path, device="cpu", grain=4)
    assert load_agent(tmp_path, device="cpu").planner.features.grain == 1
    assert (fine.planner.features.size, again.planner.features.size) == (5120, 20_480)
    assert again.learner.vae is again.planner.features
    images = screens()
    assert np.array_equal(again.learner.vae.encode(images), fine.learner.vae.encode(images))
    assert np.array_equal(again.learner.vae.elbo(images), fine.learner.vae.elbo(images))
    for screen in images:
        assert len(again.planner.features.atoms(screen)) == 1280
    with pytest.raises(InputError, match="grain = 3 is not possible"):
        load_agent(tmp_path, device="cpu", grain=3)
