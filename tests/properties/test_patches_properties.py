"""Patches against dictionaries of contents, on generated images."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from olive_iw.features import Patches

changes = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(0, 3)), max_size=6)
images = st.lists(changes, min_size=1, max_size=12)


def paint(pixels):
    image = np.zeros((128, 128), np.uint8)
    for row, column, value in pixels:
        image[row, column] = value
    return image


@settings(deadline=None)
@given(images, st.sampled_from([2, 4, 16]), st.sampled_from([0, 2**20]))
def test_numbers_are_those_of_a_dictionary(images, limit, cache_bytes):
    patches = Patches(limit_per_position=limit, cache_bytes=cache_bytes)
    met = [{} for _ in range(256)]
    for pixels in images:
        image = paint(pixels)
        contents = image.reshape(16, 8, 16, 8).swapaxes(1, 2).reshape(256, 64)
        expected = []
        for position, content in enumerate(contents):
            known = met[position]
            if len(known) < limit - 1:
                known.setdefault(content.tobytes(), len(known))
            expected.append(position * limit + known.get(content.tobytes(), limit - 1))
        assert patches.atoms(image).tolist() == expected
