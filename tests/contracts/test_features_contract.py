"""What all registered features promise, on a real game."""

import numpy as np
import pytest

from olive_iw.errors import InputError
from olive_iw.features import FEATURES, Features, check_features, make_features
from olive_iw.simulators import make_simulator


@pytest.fixture(scope="module")
def walk():
    """A simulator and the steps of a short random walk."""
    simulator = make_simulator("breakout")
    generator = np.random.default_rng(0)
    steps = [simulator.reset()]
    for _ in range(25):
        steps.append(simulator.step(int(generator.integers(simulator.action_count))))
    return simulator, steps


@pytest.fixture(params=sorted(FEATURES))
def name(request):
    return request.param


def atoms_along(features, walk):
    simulator, steps = walk
    features.prepare(simulator, steps[0])
    previous = [None, *steps]
    return [features.of_step(step, before) for step, before in zip(steps, previous, strict=False)]


def test_follow_the_protocol(name):
    features = make_features(name)
    assert isinstance(features, Features)
    assert features.size > 0


def test_keep_the_contract(name, walk):
    check_features(make_features(name), walk[0])


def test_atoms_are_sorted_unique_int32_within_the_size(name, walk):
    features = make_features(name)
    for atoms in atoms_along(features, walk):
        assert atoms.dtype == np.int32
        assert atoms.ndim == 1
        assert atoms[0] >= 0
        assert atoms[-1] < features.size
        assert (np.diff(atoms) > 0).all()


def test_same_steps_same_atoms(name, walk):
    first, second = (atoms_along(make_features(name), walk) for _ in range(2))
    used = make_features(name)
    atoms_along(used, walk)
    for atoms, same, after_prepare in zip(first, second, atoms_along(used, walk), strict=True):
        assert np.array_equal(atoms, same)
        assert np.array_equal(atoms, after_prepare)


def test_atoms_once_given_do_not_change(name, walk):
    features = make_features(name)
    given = atoms_along(features, walk)
    kept = [atoms.copy() for atoms in given]
    atoms_along(features, walk)
    assert all(np.array_equal(a, b) for a, b in zip(given, kept, strict=True))


def test_different_states_differ(name, walk):
    atoms = atoms_along(make_features(name), walk)
    assert len({a.tobytes() for a in atoms}) > 10


def test_make_features_by_name_or_object(name):
    features = make_features(name)
    assert make_features(features) is features
    assert make_features(name) is not features


def test_unknown_features_are_refused():
    with pytest.raises(InputError, match="did you mean bprost"):
        make_features("b-prost")
