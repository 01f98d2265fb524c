"""What a Gymnasium environment shows: a picture, if its observation is one, or numbers."""

from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict
from numpy.typing import NDArray

from olive_iw.simulators.base import Numbers, Screen, read_only

Space = gymnasium.Space[Any]
_SMALLEST_PICTURE = 32
_CHANNELS = (1, 3)
_PICTURE = "image"
"""Entry of a dictionary that may be a picture."""


def picture_of(observation: Any, space: Space | None, smallest: int = _SMALLEST_PICTURE) -> Any:
    """Picture, uint8, shape (height, width) or (height, width, 1 or 3), of an observation.

    None if neither the observation nor its entry "image" is one. Channels may come first. Values
    of other types than uint8 are read within the bounds of their space. MiniGrid's "image" of 7×7
    codes is no picture: one has at least 32 pixels each way.
    """
    if isinstance(observation, dict):
        space = space[_PICTURE] if isinstance(space, Dict) and _PICTURE in space.spaces else None
        observation = observation.get(_PICTURE)
    image = observation
    if not isinstance(image, np.ndarray) or image.ndim not in (2, 3):
        return None
    if image.ndim == 3 and image.shape[2] not in _CHANNELS and image.shape[0] in _CHANNELS:
        image = np.moveaxis(image, 0, 2)
    if image.shape[2:] not in ((), (1,), (3,)) or min(image.shape[:2]) < smallest:
        return None
    if image.dtype == np.uint8 or not isinstance(space, Box):
        return image if image.dtype == np.uint8 else None
    low, high = float(space.low.min()), float(space.high.max())
    if not np.isfinite([low, high]).all() or low >= high:
        return None
    levels = (image.astype(np.float64) - low) * (255.0 / (high - low)) + 0.5
    return np.clip(levels, 0.0, 255.0).astype(np.uint8)


def numbers_of(observation: Any, without_picture: bool = False) -> Numbers | None:
    """All numbers of an observation in a row, float64, shape (components,); None if it has none.

    Dictionaries, in the order of their keys, and tuples are gone through; text is left out, and
    so is the entry that is a picture, or a whole observation that is, with `without_picture`.
    """
    found = [array.ravel() for _, array in _parts(observation, without_picture)]
    return read_only(np.concatenate(found)) if found else None


def names_of(observation: Any, without_picture: bool = False) -> list[str]:
    """Name of each number of `numbers_of`: entries of dictionaries, then places: "hand 2"."""
    return [
        " ".join([*map(str, path), ",".join(map(str, place))]).strip() or "observation"
        for path, array in _parts(observation, without_picture)
        for place in np.ndindex(array.shape)
    ]


def _parts(
    observation: Any, without_picture: bool, path: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], NDArray[np.float64]]]:
    """Go through the arrays of an observation, float64, each with the entries that lead to it."""
    if isinstance(observation, dict):
        for name in sorted(observation, key=str):
            if path or not without_picture or name != _PICTURE:
                yield from _parts(observation[name], without_picture, (*path, name))
    elif without_picture and not path:
        return
    elif isinstance(observation, tuple | list):
        for place, entry in enumerate(observation):
            yield from _parts(entry, without_picture, (*path, place))
    elif isinstance(observation, np.ndarray | np.generic | int | float):
        array = np.asarray(observation)
        if array.dtype.kind in "biuf":
            yield path, array.astype(np.float64)


def grey(picture: NDArray[np.uint8]) -> Screen:
    """Grey levels, uint8 (height, width), of a grey or RGB picture; always a copy."""
    if picture.ndim == 2:
        return picture.copy()
    if picture.shape[2] == 1:
        return picture[:, :, 0].copy()
    luma = picture[:, :, :3].astype(np.uint32) @ np.array([299, 587, 114], np.uint32)
    return ((luma + 500) // 1000).astype(np.uint8)
