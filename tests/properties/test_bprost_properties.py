"""B-PROST against sets of tuples, on generated screens."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from olive_iw.features import BProst

BASIC, SPACE = 28_672, 6_856_768

tile_colours = st.tuples(st.integers(0, 15), st.integers(0, 13), st.integers(0, 127))
drawings = st.tuples(st.integers(0, 127), st.lists(tile_colours, max_size=12))
features = BProst()


def paint(drawing):
    """Screen of one colour with a pixel of others in some tiles; and its true set of tiles."""
    background, pixels = drawing
    screen = np.full((210, 160), 2 * background, np.uint8)
    tiles = {(x, y, background) for x in range(16) for y in range(14)}
    for index, (x, y, colour) in enumerate(pixels):
        screen[y * 15 + index, x * 10 + index % 10] = 2 * colour  # a pixel of its own for each
        tiles.add((x, y, colour))
    return screen, tiles


def decode(atom):
    """What an atom means: ("basic", x, y, c), ("space", c, c', dx, dy) or ("time", …)."""
    if atom < BASIC:
        place, colour = divmod(atom, 128)
        return ("basic", place % 16, place // 16, colour)
    if atom >= BASIC + SPACE:
        colours, offset = divmod(atom - BASIC - SPACE, 837)
        return ("time", *divmod(colours, 128), offset % 31 - 15, offset // 31 - 13)
    rest, colour = atom - BASIC, 0
    while rest >= 419 + 837 * (127 - colour):
        rest -= 419 + 837 * (127 - colour)
        colour += 1
    if rest < 419:
        offset, other = rest + 418, colour
    else:
        larger, offset = divmod(rest - 419, 837)
        other = colour + 1 + larger
    return ("space", colour, other, offset % 31 - 15, offset // 31 - 13)


def meanings(now, before):
    found = {("basic", *tile) for tile in now}
    for x, y, c in now:
        for x2, y2, c2 in now:
            if c < c2 or (c == c2 and (y2 - y, x2 - x) >= (0, 0)):
                found.add(("space", c, c2, x2 - x, y2 - y))
        for x2, y2, c2 in before:
            found.add(("time", c, c2, x2 - x, y2 - y))
    return found


@settings(deadline=None, max_examples=30)
@given(drawings, st.none() | drawings)
def test_atoms_mean_what_the_definition_says(drawing, drawing_before):
    screen, now = paint(drawing)
    previous, before = (None, set()) if drawing_before is None else paint(drawing_before)
    atoms = features.atoms(screen, previous)
    assert (np.diff(atoms) > 0).all()
    assert {decode(int(atom)) for atom in atoms} == meanings(now, before)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32), st.integers(1, 255))
def test_random_screens_have_valid_sorted_atoms_that_depend_on_nothing_else(seed, values):
    generator = np.random.default_rng(seed)
    screens = generator.integers(0, values, (2, 210, 160), dtype=np.uint8) & np.uint8(15)
    atoms = features.atoms(*screens)
    assert atoms[0] >= 0
    assert atoms[-1] < features.size
    assert (np.diff(atoms) > 0).all()
    assert np.array_equal(BProst(cache_bytes=0).atoms(*screens), atoms)


@settings(deadline=None, max_examples=25)
@given(drawings, st.integers(0, 2**32))
def test_only_the_tiles_matter_not_the_pixels(drawing, seed):
    screen, _ = paint(drawing)
    order = np.random.default_rng(seed).permutation(150)
    tiles = screen.reshape(14, 15, 16, 10).swapaxes(1, 2).reshape(14, 16, 150)[:, :, order]
    shuffled = tiles.reshape(14, 16, 15, 10).swapaxes(1, 2).reshape(210, 160)
    assert np.array_equal(
        BProst(cache_bytes=0).atoms(np.ascontiguousarray(shuffled)), features.atoms(screen)
    )
