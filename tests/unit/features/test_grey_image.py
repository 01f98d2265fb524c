"""The grey image against its definition: the mean over each cell, rounded, halves up."""

from hashlib import sha256
from math import gcd

import numpy as np
import pytest
import torch
from torch.nn import functional

from olive_iw.features.base import FeaturesError
from olive_iw.features.image import grey_image

SHAPES = [
    (210, 160),
    (250, 160),
    (128, 160),
    (210, 128),
    (84, 84),
    (64, 200),
    (1, 2),
    (7, 5),
    (127, 129),
    (300, 301),
    (400, 600),
    (256, 160),
    (512, 256),
    (700, 700),
]
IDENTITY = np.arange(256, dtype=np.uint8)


def sums(values, parts, axis):
    """Cut every value along an axis into `parts` and add them up in 128 cells."""
    values = np.moveaxis(np.repeat(values, parts, axis), axis, 0)
    return np.moveaxis(values.reshape(128, -1, *values.shape[1:]).sum(axis=1), 0, axis)


def plain(screen, levels):
    values = levels[screen].astype(np.int64)
    cell = 1
    for axis, length in enumerate(screen.shape):
        unit = gcd(length, 128)
        values = sums(values, 128 // unit, axis)
        cell *= length // unit
    return ((2 * values + cell) // (2 * cell)).astype(np.uint8)


def striped(shape, rng):
    """Blocks of equal lines of all lengths, as games have them, with single pixels off."""
    lines = rng.integers(256, size=shape, dtype=np.uint8)
    screen = lines[np.sort(rng.integers(shape[0], size=shape[0]))]
    screen[rng.integers(shape[0], size=3), rng.integers(shape[1], size=3)] ^= 1
    screen[shape[0] // 2 :] = screen[shape[0] // 2]
    return screen


@pytest.mark.parametrize("shape", SHAPES)
def test_images_are_means_over_cells(shape):
    rng = np.random.default_rng(sum(shape))
    levels = rng.permutation(256).astype(np.uint8)
    noise = rng.integers(256, size=shape, dtype=np.uint8)
    for screen in (noise, striped(shape, rng), striped(shape, rng)):
        assert np.array_equal(grey_image(screen, IDENTITY), plain(screen, IDENTITY))
        assert np.array_equal(grey_image(screen, levels), plain(screen, levels))


@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_screen_shares_with_the_last_one_does_not_matter(shape):
    rng = np.random.default_rng(sum(shape))
    screens = [rng.integers(256, size=shape, dtype=np.uint8)]
    for lines in (0, 1, 1, 2, 5, 20, 0, shape[0]):
        screens.append(screens[-1].copy())
        rows, columns = rng.integers(shape[0], size=lines), rng.integers(shape[1], size=lines)
        screens[-1][rows, columns] += 1
    screens += [screens[0], np.zeros(shape, np.uint8)]
    images = [grey_image(screen, IDENTITY) for screen in screens]
    expected = [plain(screen, IDENTITY) for screen in screens]
    assert np.array_equal(images, expected)  # also: none was changed by those after it


@pytest.mark.parametrize("shape", [(210, 160), (84, 84), (300, 301)])
@pytest.mark.parametrize("value", [0, 1, 254, 255])
def test_one_colour_stays_that_colour(shape, value):
    assert (grey_image(np.full(shape, value, np.uint8), IDENTITY) == value).all()


def test_halves_are_rounded_up():
    screen = np.zeros((256, 256), np.uint8)
    screen[::2] = 1
    assert (grey_image(screen, IDENTITY) == 1).all()


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((210, 160), "e7b26927d1b75ad3"),
        ((250, 160), "9400b4c4279e5cad"),
        ((84, 96), "7bbdbde93f0cb39a"),
    ],
)
def test_images_are_those_that_networks_were_trained_on(shape, expected):
    rng = np.random.default_rng(7)
    screen = rng.integers(256, size=shape, dtype=np.uint8)
    levels = rng.permutation(256).astype(np.uint8)
    assert sha256(grey_image(screen, levels).tobytes()).hexdigest()[:16] == expected


def test_levels_filled_in_later_count():
    screen = np.full((210, 160), 4, np.uint8)
    levels = np.zeros(256, np.uint8)
    assert (grey_image(screen, levels) == 0).all()
    levels[4] = 99
    assert (grey_image(screen, levels) == 99).all()


def test_any_memory_layout_will_do():
    screen = np.random.default_rng(0).integers(256, size=(420, 320), dtype=np.uint8)[::2, ::2]
    expected = grey_image(screen.copy(), IDENTITY)
    assert np.array_equal(grey_image(screen, IDENTITY), expected)
    assert np.array_equal(grey_image(np.asfortranarray(screen), IDENTITY), expected)


@pytest.mark.parametrize("shape", SHAPES)
def test_bilinear_images_are_torchs(shape):
    rng = np.random.default_rng(sum(shape))
    levels = rng.permutation(256).astype(np.uint8)
    for screen in (rng.integers(256, size=shape, dtype=np.uint8), striped(shape, rng)):
        pixels = torch.tensor(levels[screen].astype(np.float64))[None, None]
        wanted = functional.interpolate(pixels, (128, 128), mode="bilinear", align_corners=False)
        image = grey_image(screen, levels, "bilinear")
        assert image.dtype == np.uint8
        assert np.abs(image - wanted[0, 0].numpy()).max() <= 0.5 + 1e-6


@pytest.mark.parametrize("kind", ["area", "bilinear"])
@pytest.mark.parametrize(
    "screen",
    [
        np.zeros((210, 160), np.int32),
        np.zeros((210, 160)),
        np.zeros((210, 160, 3), np.uint8),
        np.zeros(160, np.uint8),
        np.zeros((0, 160), np.uint8),
        [[1, 2], [3, 4]],
    ],
)
def test_what_is_no_screen_is_refused(screen, kind):
    with pytest.raises(FeaturesError, match=r"a screen is .* uint8 array of shape \(height"):
        grey_image(screen, IDENTITY, kind)


@pytest.mark.parametrize("levels", [IDENTITY[:4], IDENTITY.astype(float), IDENTITY[None]])
@pytest.mark.parametrize("shape", [(210, 160), (128, 128)])
def test_what_are_no_grey_levels_is_refused(levels, shape):
    with pytest.raises(FeaturesError, match="grey levels are"):
        grey_image(np.full(shape, 200, np.uint8), levels)
