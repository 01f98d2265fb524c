"""Atoms of numbers: few values are atoms themselves, many share intervals that grow finer."""

from copy import deepcopy

import numpy as np
import pytest

from olive_iw.features import FeaturesError, Patches, Values, check_features
from olive_iw.features.values import MOST_ATOMS, MOST_BROKEN, MOST_WHOLE
from olive_iw.simulators import NO_SCREEN, Step, make_simulator


def step(*numbers):
    values = np.array(numbers, np.float64)
    values.flags.writeable = False
    return Step(NO_SCREEN, 0.0, terminal=False, lives=0, values=values)


@pytest.fixture
def values():
    features = Values()
    features.prepare(None, step(0.0))
    return features


def atoms(features, *numbers):
    return features.of_step(step(*numbers), None).tolist()


def test_equal_numbers_are_equal_atoms_and_components_differ(values):
    first = atoms(values, 0.5, 0.5, float("nan"))
    assert len(set(first)) == 3
    assert atoms(values, 0.5, 0.5, float("nan")) == first
    assert len({*first} & {*atoms(values, 0.5, 0.25, 1.0)}) == 1


def test_whole_numbers_stay_exact_much_longer(values):
    found = {tuple(atoms(values, float(number))) for number in range(MOST_WHOLE)}
    assert len(found) == MOST_WHOLE
    assert len({tuple(atoms(values, float(number))) for number in range(MOST_WHOLE)}) == MOST_WHOLE


def test_many_broken_numbers_share_intervals_of_equal_count(values):
    numbers = np.random.default_rng(0).normal(size=MOST_BROKEN + 1).tolist()
    for number in numbers:
        atoms(values, number)
    found = [atoms(deepcopy(values), number)[0] for number in sorted(numbers)]
    assert MOST_BROKEN - 1 <= len(set(found)) <= MOST_BROKEN
    ends = [place for place in range(1, len(found)) if found[place] != found[place - 1]]
    assert len(ends) == len(set(found)) - 1  # each interval in one piece


def test_intervals_grow_finer_where_the_numbers_are(values):
    random = np.random.default_rng(1)
    for number in random.normal(size=4000).tolist():
        atoms(values, number)

    def fineness(low, high):
        copy = deepcopy(values)
        return len({tuple(atoms(copy, number)) for number in np.linspace(low, high, 200).tolist()})

    assert fineness(-0.5, 0.5) > 2 * fineness(2.0, 3.0) > 0
    assert 40 < len(values._components[0].atoms) < 200  # about √4000 and more


def test_an_atom_means_the_same_for_a_whole_episode(values):
    """Whoever shares an atom, early or late, is in one interval of the finest there are."""
    random, seen = np.random.default_rng(2), {}
    for number in random.normal(size=3000).tolist():
        seen.setdefault(atoms(values, number)[0], []).append(number)
    intervals = values._components[0]
    lows, highs = [-np.inf, *intervals.cuts], [*intervals.cuts, np.inf]
    for atom, low, high in zip(intervals.atoms, lows, highs, strict=True):
        assert all(low <= number < high for number in seen.get(atom, []))


def test_the_last_atom_is_shared_when_all_are_given_away(values):
    wide = np.arange(MOST_ATOMS + 10, dtype=np.float64)
    found = atoms(values, *wide)
    assert max(found) == MOST_ATOMS - 1
    assert len(found) == MOST_ATOMS


def test_one_value_again_and_again_is_not_cut_for_ever(values):
    for number in np.random.default_rng(3).normal(size=100).tolist():
        atoms(values, number)
    before = len(values._atoms.given)
    for _ in range(5000):
        atoms(values, 0.125)
    assert len(values._atoms.given) <= before + 20


def test_a_bookmark_leads_back(values):
    random = np.random.default_rng(4)
    for number in random.normal(size=500).tolist():
        atoms(values, number)
    kept = deepcopy(values.bookmark())
    later = random.normal(size=500).tolist()
    first = [atoms(values, number) for number in later]
    values.return_to(kept)
    assert [atoms(values, number) for number in later] == first


def test_what_shows_no_numbers_is_refused():
    with pytest.raises(FeaturesError, match="values are missing"):
        Values().prepare(None, make_simulator("grid:corridor").reset())
    with pytest.raises(FeaturesError, match="shows none"):
        Patches().of_step(step(1.0), None)


def test_they_keep_the_contract_on_environments():
    for name in ("CartPole-v1", "MiniGrid-DoorKey-5x5-v0", "Taxi-v4"):
        check_features(Values(), make_simulator(f"gym:{name}", screen="none"), steps=60)


def test_atoms_keep_their_meaning_when_their_interval_is_cut(values):
    random, seen = np.random.default_rng(6), {}
    for number in random.normal(size=3000).tolist():
        for place, atom in enumerate(sorted(atoms(values, number, 7.0), key=values.meaning)):
            seen.setdefault(atom, values.meaning(atom))
            component, low, high = values.meaning(atom)
            assert component == place
            value = (number, 7.0)[component]
            assert low == value == high or low <= value < high
    assert all(values.meaning(atom) == meaning for atom, meaning in seen.items())
    assert len(seen) > 50
