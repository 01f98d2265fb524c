"""Bits read in groups: another number of atoms from the same weights."""

from pathlib import Path

import numpy as np
import pytest

from olive_iw.algorithms import load_agent, make_agent, make_spec
from olive_iw.errors import InputError
from olive_iw.features.base import AtomsError, grains
from olive_iw.planners import RolloutIW
from olive_iw.rules import Grain, Noise
from olive_iw.rules.grain import grouped
from olive_iw.runs.folder import RunFolder
from olive_iw.simulators import make_simulator


def groups_of(bits, grain):
    true = np.flatnonzero(bits).astype(np.int32)
    return grouped(true, grain, len(bits) // grain)


def test_known_bits_give_known_atoms():
    bits = np.array([1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1], bool)
    assert groups_of(bits, 2).tolist() == [0 + 1, 4 + 3, 8 + 0, 12 + 0, 16 + 3, 20 + 3]
    assert groups_of(bits, 4).tolist() == [0 + 13, 16 + 0, 32 + 15]
    assert groups_of(bits, 6).tolist() == [0 + 13, 64 + 60]
    assert groups_of(bits, 6).dtype == np.int32
    unsorted = np.flatnonzero(bits).astype(np.int32)[[5, 0, 3, 1, 6, 2, 4]]
    assert grouped(unsorted, 4, 3).tolist() == groups_of(bits, 4).tolist()


@pytest.mark.parametrize("atom", [-1, 12, 2**31 - 1])
def test_an_atom_that_cannot_be_is_refused(atom):
    with pytest.raises(AtomsError, match="outside"):
        grouped(np.array([3, atom], np.int32), 4, 3)


@pytest.mark.parametrize("grain", [2, 4, 5, 10])
def test_every_group_of_bits_gives_one_atom_that_tells_them(grain):
    bits = np.random.default_rng(0).random(5120) < 0.3
    groups, values = np.divmod(groups_of(bits, grain), 2**grain)
    assert groups.tolist() == list(range(5120 // grain))
    assert np.array_equal(values[:, None] >> np.arange(grain) & 1, bits.reshape(-1, grain))


def test_grains_divide_the_bits():
    assert grains(20) == (1, 2, 4, 5, 10)
    assert grains(9) == (1, 3, 9)
    assert make_spec("olive", grain=4).variant == "grain=4"
    assert make_spec("olive", bits=9, grain=3).options.grain == 3
    with pytest.raises(InputError, match="grain = 3 is not possible with 20 bits; it must be 1, 2"):
        make_spec("olive", grain=3)
    with pytest.raises(InputError, match="grain = 11 is not possible; it must be at most 10"):
        make_spec("olive", grain=11)


def test_only_bits_can_be_read_in_groups():
    for rule in (Grain(2, "none"), Noise(0.1, "none")):
        with pytest.raises(InputError, match="for features of bits"):
            RolloutIW("patches", rules=[rule])


def test_a_saved_agent_is_read_at_another_grain(tmp_path):
    make_agent("olive", device="cpu", fit="grain").save(tmp_path)
    fine, again = (load_agent(tmp_path, device="cpu", grain=grain) for grain in (4, 1))
    single = load_agent(tmp_path, device="cpu", fit="none")
    assert not any(isinstance(rule, Grain) for rule in single.planner.rules)
    for agent, now, groups in ((fine, 4, 1280), (again, 10, 512)):  # 1: begin with the finest
        agent.planner.start(make_simulator("grid:corridor"), 0)
        [rule] = agent.planner.rules
        assert rule.now == now
        agent.planner.decide(3)
        assert len(agent.planner._search.read(0)) == groups
    with pytest.raises(InputError, match="grain = 3 is not possible"):
        load_agent(tmp_path, device="cpu", grain=3)


def test_the_laptop_profile_fits_noise_and_the_paper_profile_does_not():
    assert make_spec("olive").options.fit == make_spec("vae-iw").options.fit == "noise"
    assert make_spec("olive-plus").options.fit == "grain"  # its own
    assert make_spec("olive", "paper").options.fit == "none"
    assert make_spec("patch-iw").options.fit == "none"  # nothing is learned, nothing is read
    assert make_spec("olive").variant == ""
    assert make_spec("olive", fit="none").variant == "fit=none"


def test_an_agent_of_version_0_1_0_is_read_bit_by_bit():
    old = Path(__file__).parents[2] / "data/runs-0.1.0/grid-key-door/olive-laptop/seed-0"
    assert RunFolder(old).config().spec.options.fit == "none"
