"""From images to distinct patches and to atoms, against plain Python."""

import numpy as np

from olive_iw.features.patches import number_rows, patch_rows
from olive_iw.features.vae import make_vae


def plain_patches(images):
    return [
        image[top : top + 8, left : left + 8].tobytes()
        for image in images
        for top in range(0, 128, 8)
        for left in range(0, 128, 8)
    ]


def sparse_images(count, seed=0):
    """Mostly empty: many equal patches, beside each other and far apart."""
    rng = np.random.default_rng(seed)
    images = np.zeros((count, 128, 128), np.uint8)
    for image in images:
        image[rng.integers(128, size=40), rng.integers(128, size=40)] = rng.integers(1, 3, size=40)
    return images


def test_patches_are_cut_row_by_row():
    images = np.random.default_rng(0).integers(256, size=(3, 128, 128), dtype=np.uint8)
    rows = patch_rows(images)
    assert rows.shape == (3 * 256, 8)
    assert [row.tobytes() for row in rows] == plain_patches(images)
    assert np.array_equal(patch_rows(images[::2]), patch_rows(images[::2].copy()))
    assert patch_rows(images[:0]).shape == (0, 8)


def test_distinct_patches_are_numbered_by_first_place():
    images = sparse_images(4)
    items = make_vae("laptop", 0).network.items(images)
    numbers = {}
    expected = [numbers.setdefault(patch, len(numbers)) for patch in plain_patches(images)]
    assert items.index.ravel().tolist() == expected
    assert [patch.tobytes() for patch in items.inputs] == list(numbers)


def test_patches_found_before_keep_their_numbers():
    rows = patch_rows(sparse_images(4))
    distinct = np.empty_like(rows)
    slots = np.zeros(4096, np.int32)
    places = np.empty((2, len(rows)), np.int64)
    count = number_rows(rows, distinct, slots, 0, places[0])
    assert number_rows(rows[::-1].copy(), distinct, slots, count, places[1]) == count
    assert np.array_equal(places[1][::-1], places[0])
    assert np.array_equal(distinct[places[0]], rows)


def test_atoms_are_the_places_of_the_true_bits():
    vae = make_vae("laptop", 0)
    vae.network.encoder[-1].weight[:] *= 100.0
    vae.weights_changed()
    shares = []
    for image in sparse_images(3):
        atoms = vae.atoms(image)
        bits = vae.encode(image[np.newaxis])[0]
        shares.append(bits.mean())
        assert atoms.dtype == np.int32
        assert np.array_equal(atoms, np.flatnonzero(bits))
    assert 0.02 < np.mean(shares) < 0.98


def test_no_bit_and_every_bit_true():
    vae = make_vae("laptop", 0)
    for bias, expected in ((-1e4, []), (1e4, list(range(vae.size)))):
        vae.network.encoder[-1].bias[:] = bias
        vae.weights_changed()
        assert vae.atoms(np.zeros((128, 128), np.uint8)).tolist() == expected
