"""RAM features: one atom for each byte."""

import numpy as np
import pytest

from olive_iw.features import FeaturesError, Ram
from olive_iw.simulators import make_simulator
from olive_iw.simulators.base import Step

BLANK = np.zeros((2, 2), np.uint8)


def test_atoms_are_byte_times_256_plus_value():
    ram = np.random.default_rng(0).integers(0, 256, 128, dtype=np.uint8)
    atoms = Ram().of_step(Step(BLANK, 0.0, False, 0, ram), None)
    assert atoms.dtype == np.int32
    assert atoms.tolist() == [256 * byte + int(value) for byte, value in enumerate(ram)]
    assert Ram().size == 32_768


def test_a_changed_byte_changes_one_atom():
    simulator = make_simulator("breakout")
    step = simulator.reset()
    features = Ram()
    features.prepare(simulator, step)
    before = features.of_step(step, None)
    changed = step.ram.copy()
    changed[77] ^= 255
    after = features.of_step(Step(step.screen, 0.0, False, 0, changed), step)
    assert np.flatnonzero(before != after).tolist() == [77]
    assert after[77] // 256 == 77


@pytest.mark.parametrize("ram", [None, np.zeros(64, np.uint8)])
def test_a_simulator_without_such_memory_is_refused(ram):
    step = Step(BLANK, 0.0, False, 0, ram)
    with pytest.raises(FeaturesError):
        Ram().prepare(make_simulator("breakout"), step)
    with pytest.raises(FeaturesError):
        Ram().of_step(step, None)
