"""B-PROST: its sizes and numbers, cases by hand, real screens, its cache and its errors."""

from itertools import pairwise

import numpy as np
import pytest

from olive_iw.features import BProst, FeaturesError
from olive_iw.simulators import make_simulator
from olive_iw.simulators.base import Step

BASIC, SPACE, TIME = 28_672, 6_856_768, 13_713_408
PAIRS_BEFORE = [sum(419 + 837 * (127 - k) for k in range(colour)) for colour in range(128)]


def naive(screen, previous=None):
    """Atoms from sets of tuples, straight from the definition."""
    now = tiles(screen)
    numbers = {(y * 16 + x) * 128 + c for x, y, c in now}
    numbers |= {BASIC + space_number(a, b) for a in now for b in now}
    if previous is not None:
        before = tiles(previous)
        numbers |= {BASIC + SPACE + time_number(a, b) for a in now for b in before}
    return sorted(numbers)


def tiles(screen):
    grid = (screen // 2).reshape(14, 15, 16, 10)
    return {(x, y, int(c)) for y in range(14) for x in range(16) for c in np.unique(grid[y, :, x])}


def space_number(first, second):
    """Pairs of colours in order, 837 numbers for unlike ones and 419 for like ones."""
    (x, y, c), (x2, y2, c2) = first, second
    if c > c2 or (c == c2 and (y2 - y, x2 - x) < (0, 0)):
        return space_number(second, first)
    before = PAIRS_BEFORE[c]
    offset = (y2 - y + 13) * 31 + x2 - x + 15
    return before + (offset - 418 if c == c2 else 419 + (c2 - c - 1) * 837 + offset)


def time_number(now, before):
    (x, y, c), (x2, y2, c2) = now, before
    return (c * 128 + c2) * 837 + (y2 - y + 13) * 31 + x2 - x + 15


def parts(atoms):
    ends = np.searchsorted(atoms, [BASIC, BASIC + SPACE])
    return tuple(len(part) for part in np.split(atoms, ends))


def random_walk(game, calls, seed=0):
    simulator = make_simulator(game)
    generator = np.random.default_rng(seed)
    steps = [simulator.reset()]
    while len(steps) <= calls and not steps[-1].terminal:
        steps.append(simulator.step(int(generator.integers(simulator.action_count))))
    return simulator, steps


def test_size():
    assert BProst().size == BASIC + SPACE + TIME == 20_598_848


@pytest.mark.parametrize("game", ["breakout", "freeway", "space_invaders", "ms_pacman", "alien"])
def test_real_screens_against_the_naive_sets(game):
    _, steps = random_walk(game, 12)
    features = BProst()
    for previous, step in [(None, steps[0]), (steps[3], steps[4]), (steps[11], steps[12])]:
        atoms = features.of_step(step, previous)
        assert atoms.dtype == np.int32
        assert atoms.tolist() == naive(step.screen, previous and previous.screen)


def test_lines_like_the_one_above_count_in_their_own_row_of_tiles():
    rng = np.random.default_rng(0)
    lines = rng.integers(128, size=(9, 160), dtype=np.uint8) // 32 * 2
    lengths = [14, 1, 1, 13, 32, 15, 46, 1, 87]
    assert sum(lengths) == 210
    screen = np.repeat(lines, lengths, axis=0)
    assert BProst().atoms(screen).tolist() == naive(screen)


def test_counts_are_as_measured_on_freeway():
    # Published means over an episode: 496 basic, 13,281 B-PROS, 26,566 B-PROT.
    _, steps = random_walk("freeway", 20)
    counts = [parts(BProst().of_step(step, previous)) for previous, step in pairwise(steps[10:])]
    assert np.mean(counts, axis=0) == pytest.approx([496, 13_281, 26_566], rel=0.03)


def test_a_screen_of_one_colour():
    screen = np.full((210, 160), 254, np.uint8)
    atoms = BProst().atoms(screen, screen)
    assert parts(atoms) == (16 * 14, 419, 837)
    assert atoms[0] == 127
    assert atoms[-1] == BProst().size - 1


def test_all_colours_everywhere_are_all_atoms():
    tile = np.resize(2 * np.arange(128), (15, 10))
    screen = np.tile(tile, (14, 16)).astype(np.uint8)
    features = BProst(cache_bytes=0)
    assert np.array_equal(features.atoms(screen), np.arange(BASIC + SPACE))
    blank = np.zeros((210, 160), np.uint8)
    assert parts(features.atoms(screen, blank)) == (BASIC, SPACE, 128 * 837)


def test_two_pixels_by_hand():
    screen = np.zeros((210, 160), np.uint8)
    screen[0:15, 0:10] = 6  # tile (0, 0) is of colour 3
    screen[209, 159] = 20  # in tile (15, 13), colour 10 beside colour 0
    atoms = BProst().atoms(screen)
    basic = atoms[atoms < BASIC].tolist()
    assert 0 not in basic
    assert 3 in basic
    assert {(13 * 16 + 15) * 128, (13 * 16 + 15) * 128 + 10} <= set(basic)
    assert len(basic) == 16 * 14 + 1
    between = BASIC + space_number((0, 0, 3), (15, 13, 10))
    assert between in atoms
    pairs_of_3_and_10 = [BASIC + space_number((0, 0, 3), (0, 0, 10)) - 418 + k for k in range(837)]
    assert np.isin(pairs_of_3_and_10, atoms).sum() == 1


def test_without_a_previous_screen_there_are_no_bprot_atoms():
    _, steps = random_walk("breakout", 2)
    features = BProst()
    alone = features.atoms(steps[2].screen)
    both = features.atoms(steps[2].screen, steps[1].screen)
    assert parts(alone) == (*parts(both)[:2], 0)
    assert np.array_equal(alone, both[: len(alone)])
    assert np.array_equal(features.of_step(steps[2], None), alone)


def test_what_was_computed_is_looked_up():
    _, steps = random_walk("breakout", 3)
    features = BProst()
    first = features.of_step(steps[1], steps[0])
    again = features.of_step(steps[1], steps[0])
    assert again is first
    assert not first.flags.writeable
    assert (features.cache_hits, len(features._cache)) == (1, 1)
    assert not np.array_equal(features.of_step(steps[1], None), first)
    assert (features.cache_hits, len(features._cache)) == (1, 2)


def test_now_and_before_are_not_confused_by_the_cache():
    one = np.zeros((210, 160), np.uint8)
    other = np.full((210, 160), 2, np.uint8)
    features = BProst()
    for now, before in [(one, other), (other, one), (one, one), (one, None), (other, None)]:
        assert features.atoms(now, before).tolist() == naive(now, before)


def test_authors_lookup_reads_pixel_row_times_column():
    _, steps = random_walk("breakout", 2)
    screen, previous = steps[2].screen, steps[1].screen
    lookup = np.multiply.outer(np.arange(210), np.arange(160))
    expected = naive(screen.ravel()[lookup], previous.ravel()[lookup])
    atoms = BProst(authors_lookup=True).atoms(screen, previous)
    assert atoms.tolist() == expected
    assert not np.array_equal(atoms, BProst().atoms(screen, previous))


def test_prepare_accepts_atari_only():
    simulator, steps = random_walk("breakout", 0)
    BProst().prepare(simulator, steps[0])
    small = Step(np.zeros((5, 7), np.uint8), 0.0, False, 0)
    with pytest.raises(FeaturesError, match=r"\(5, 7\).*patches"):
        BProst().prepare(simulator, small)
    no_palette = type("Plain", (), {})()
    with pytest.raises(FeaturesError, match="patches"):
        BProst().prepare(no_palette, steps[0])


def test_screens_of_another_shape_are_refused():
    with pytest.raises(FeaturesError, match=r"\(250, 160\)"):
        BProst().atoms(np.zeros((250, 160), np.uint8))
