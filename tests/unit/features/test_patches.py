"""Patches: contents and numbers, their limit, forgetting, and the simulator's grey levels."""

import numpy as np
import pytest

from olive_iw.errors import InputError
from olive_iw.features import Patches
from olive_iw.features.image import grey_image
from olive_iw.simulators import make_simulator
from olive_iw.simulators.base import Step


def image(*changes):
    """Black image of 128×128 with (row, column, value) changed."""
    screen = np.zeros((128, 128), np.uint8)
    for row, column, value in changes:
        screen[row, column] = value
    return screen


def test_sizes():
    assert Patches().size == 256 * 1024
    assert Patches(limit_per_position=64).size == 256 * 64


def test_first_contents_are_number_zero():
    patches = Patches(limit_per_position=64)
    atoms = patches.atoms(image((100, 3, 9)))
    assert atoms.dtype == np.int32
    assert atoms.tolist() == [64 * position for position in range(256)]


def test_a_changed_pixel_changes_the_atom_of_its_patch_only():
    patches = Patches(limit_per_position=64)
    before = patches.atoms(image())
    for row, column in [(0, 0), (7, 7), (8, 15), (127, 127), (64, 3)]:
        after = patches.atoms(image((row, column, 1)))
        position = row // 8 * 16 + column // 8
        assert np.flatnonzero(before != after).tolist() == [position]
        assert after[position] // 64 == position


def test_contents_are_numbered_as_met_and_found_again():
    patches = Patches(limit_per_position=16, cache_bytes=0)
    values = [0, 7, 3, 7, 0, 200, 3]
    numbers = [int(patches.atoms(image((0, 0, value)))[0]) for value in values]
    assert numbers == [0, 1, 2, 1, 0, 3, 2]
    assert patches._met[:2].tolist() == [4, 1]


def test_contents_beyond_the_limit_share_the_last_number():
    patches = Patches(limit_per_position=4, cache_bytes=0)
    numbers = [int(patches.atoms(image((0, 0, value)))[0]) for value in range(6)]
    assert numbers == [0, 1, 2, 3, 3, 3]
    numbers = [int(patches.atoms(image((0, 0, value)))[0]) for value in range(6)]
    assert numbers == [0, 1, 2, 3, 3, 3]
    assert patches._met[0] == 3


def test_equal_contents_at_different_positions_are_different_atoms():
    atoms = Patches().atoms(image())
    assert len(set(atoms.tolist())) == 256


def test_reset_and_prepare_forget():
    patches = Patches(limit_per_position=8)
    patches.atoms(image())
    assert patches.atoms(image((0, 0, 1)))[0] == 1
    patches.reset()
    assert patches.atoms(image((0, 0, 1)))[0] == 0
    assert patches.atoms(image())[0] == 1
    simulator = make_simulator("breakout")
    patches.prepare(simulator, simulator.reset())
    assert patches._met.sum() == 0


def test_equal_screens_are_looked_up():
    patches = Patches()
    first = patches.atoms(image((5, 5, 5)))
    assert patches.atoms(image((5, 5, 5))) is first
    assert not first.flags.writeable
    assert (patches.cache_hits, len(patches._cache)) == (1, 1)


def test_real_screens_against_dictionaries():
    simulator = make_simulator("ms_pacman")
    generator = np.random.default_rng(0)
    step = simulator.reset()
    patches = Patches()
    patches.prepare(simulator, step)
    met = [{} for _ in range(256)]
    for _ in range(60):
        grey = grey_image(step.screen, simulator.grey_levels)
        contents = grey.reshape(16, 8, 16, 8).swapaxes(1, 2).reshape(256, 64)
        expected = [
            1024 * position + met[position].setdefault(content.tobytes(), len(met[position]))
            for position, content in enumerate(contents)
        ]
        assert patches.of_step(step, None).tolist() == expected
        step = simulator.step(int(generator.integers(simulator.action_count)))
    assert patches._met.tolist() == [len(contents) for contents in met]
    assert max(len(contents) for contents in met) > 5


class Dim:
    """Simulator whose screens are all of one brightness."""

    grey_levels = np.full(256, 40, np.uint8)


def test_brightness_decides_not_the_screen_value():
    patches = Patches()
    patches.prepare(Dim(), Step(image(), 0.0, False, 0))
    assert np.array_equal(patches.atoms(image((0, 0, 3))), patches.atoms(image((0, 0, 200))))


def test_grey_levels_are_the_simulators_own_and_may_be_filled_in():
    simulator = Dim()
    simulator.grey_levels = np.zeros(256, np.uint8)
    patches = Patches()
    patches.prepare(simulator, Step(image(), 0.0, False, 0))
    assert patches.atoms(image())[0] == 0
    simulator.grey_levels[3] = 90
    assert patches.atoms(image((0, 0, 3)))[0] == 1


@pytest.mark.parametrize("shape", [(210, 160), (64, 64), (300, 500)])
def test_screens_of_any_size(shape):
    patches = Patches()
    blank = patches.atoms(np.zeros(shape, np.uint8))
    screen = np.zeros(shape, np.uint8)
    screen[: shape[0] // 2, : shape[1] // 2] = 255
    changed = np.flatnonzero(patches.atoms(screen) != blank)
    assert {(int(p) // 16 < 8, int(p) % 16 < 8) for p in changed} == {(True, True)}
    assert len(changed) == 64


@pytest.mark.parametrize("limit", [0, 1, 100])
def test_bad_limits_are_refused(limit):
    with pytest.raises(InputError, match="power of two"):
        Patches(limit_per_position=limit)
