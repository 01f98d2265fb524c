"""The training set: which screens are kept to learn from, each one once.

A screen here is its grey image, uint8, shape (128, 128), as the networks see it: two screens are
the same if those images are.
"""

import sys
from hashlib import sha256
from pathlib import Path
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.errors import DamagedFileError, InputError
from olive_iw.features.image import IMAGE_SIZE
from olive_iw.files import atomic_write, write_json
from olive_iw.reading import open_plain, read_json

_SHAPE = (IMAGE_SIZE, IMAGE_SIZE)
_FORMAT = "olive-iw reservoir 1"


class _Screens:
    """At most `limit` screens, in an array that grows."""

    def __init__(self, limit: int) -> None:
        if limit < 1:
            raise InputError(f"the limit of screens is {limit}; it should be at least 1")
        self.limit = limit
        self._rows = np.empty((0, *_SHAPE), np.uint8)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def images(self) -> NDArray[np.uint8]:
        """The screens, shape (N, 128, 128), read-only."""
        rows = self._rows[: self._count]
        rows.flags.writeable = False
        return rows

    def save(self, path: Path) -> None:
        """Write the screens as `.npy`, whole or not at all."""
        with atomic_write(path) as aside, aside.open("wb") as file:
            np.save(file, self.images)

    def _append(self, image: NDArray[np.uint8]) -> None:
        if self._count == len(self._rows):
            grown = np.empty((max(64, 2 * self._count), *_SHAPE), np.uint8)
            grown[: self._count] = self._rows
            self._rows = grown
        self._rows[self._count] = image
        self._count += 1


@final
class ScreenSet(_Screens):
    """At most `limit` distinct screens, in the order they came; without a limit, all of them.

    Those of an episode are the candidates to learn from, those of a run the training set.
    """

    def __init__(self, limit: int = sys.maxsize) -> None:
        super().__init__(limit)
        self._row_of: dict[bytes, int] = {}

    def __contains__(self, image: NDArray[np.uint8]) -> bool:
        return _key(image) in self._row_of

    @property
    def room(self) -> int:
        """How many more screens it takes."""
        return self.limit - len(self)

    def add(self, image: NDArray[np.uint8]) -> bool:
        """Keep a screen, unless it is there already or the set is full; tell whether it was."""
        key = _key(image)
        if key in self._row_of or self.room == 0:
            return False
        self._row_of[key] = len(self)
        self._append(image)
        return True

    def not_in(self, other: "ScreenSet") -> NDArray[np.uint8]:
        """Return a copy of those that another set does not hold, shape (M, 128, 128)."""
        rows = [row for key, row in self._row_of.items() if key not in other._row_of]
        return self.images[np.array(rows, dtype=np.int64)]

    @classmethod
    def load(cls, path: Path, limit: int = sys.maxsize) -> Self:
        """Read what `save` wrote."""
        images = read_screens(path, limit)
        screens = cls(limit)
        if not all(screens.add(image) for image in images):
            raise InputError(f"{path} holds a screen twice; expected distinct ones")
        return screens


@final
class Reservoir(_Screens):
    """A uniform sample of at most `limit` of all distinct screens offered (Algorithm R).

    A screen offered again counts once, also if it was not kept or was replaced: the digests of all
    screens seen stay. The images are in no meaningful order. The generator should be one of
    `numpy.random.default_rng`.
    """

    def __init__(self, limit: int, generator: np.random.Generator) -> None:
        super().__init__(limit)
        self._generator = generator
        self._seen: dict[bytes, None] = {}

    @property
    def seen(self) -> int:
        """Number of distinct screens offered so far."""
        return len(self._seen)

    def offer(self, image: NDArray[np.uint8]) -> bool:
        """Consider a screen for the sample; tell whether it was taken."""
        key = _key(image)
        if key in self._seen:
            return False
        self._seen[key] = None
        if len(self) < self.limit:
            self._append(image)
            return True
        # The n-th distinct screen belongs to the sample with the chance limit / n.
        place = int(self._generator.integers(self.seen))
        if place >= self.limit:
            return False
        self._rows[place] = image
        return True

    def save(self, path: Path) -> None:
        """Write the sample as `.npy`, and beside it, as `.json`, what it takes to go on exactly."""
        state = {
            "format": _FORMAT,
            "limit": self.limit,
            "images": digest(self.images).hex(),
            "seen": [key.hex() for key in self._seen],
            "generator": self._generator.bit_generator.state,
        }
        super().save(path)
        write_json(path.with_suffix(".json"), state)

    @classmethod
    def load(cls, path: Path, limit: int = sys.maxsize) -> Self:
        """Read what `save` wrote."""
        beside = path.with_suffix(".json")
        images = read_screens(path, limit)
        try:
            state = read_json(beside)
            found, expected = state["format"], state["images"]
            generator = np.random.default_rng()
            generator.bit_generator.state = state["generator"]
            reservoir = cls(state["limit"], generator)
            reservoir._seen = dict.fromkeys(bytes.fromhex(key) for key in state["seen"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(f"{beside} is no saved reservoir ({error!r})") from error
        if found != _FORMAT:
            raise InputError(f"{beside} is of format {found!r}, not {_FORMAT!r}")
        if digest(images).hex() != expected:
            raise InputError(f"{path} and {beside.name} were not saved together")
        for image in images:
            reservoir._append(image)
        return reservoir


def digest(array: NDArray[np.uint8]) -> bytes:
    """Key of 16 bytes for the contents and the shape of an array.

    It is written to files: so it is a hash that is the same everywhere, and that nobody can make
    two contents for (SHA-256, cut).
    """
    hasher = sha256(repr(array.shape).encode(), usedforsecurity=False)
    hasher.update(np.ascontiguousarray(array).data)
    return hasher.digest()[:16]


def _key(image: NDArray[np.uint8]) -> bytes:
    """Digest of a screen, if it is one."""
    if image.dtype != np.uint8 or image.shape != _SHAPE:
        raise InputError(
            f"a screen is {image.dtype} of shape {image.shape}; expected uint8 of shape {_SHAPE}"
        )
    return digest(image)


def read_screens(path: Path, limit: int = sys.maxsize) -> NDArray[np.uint8]:
    """Look at the screens of a file, shape (N, 128, 128), read-only; they are not in memory yet."""
    open_plain(path).close()
    try:
        images = np.lib.format.open_memmap(path, mode="r")
    except Exception as error:  # a header is parsed as Python's, which fails in any of many ways
        raise DamagedFileError(path, f"is no .npy file of screens ({error!r})"[:200]) from None
    if images.dtype != np.uint8 or images.shape[1:] != _SHAPE:
        raise DamagedFileError(path, "holds something else; expected uint8 of shape (N, 128, 128)")
    if len(images) > limit:
        raise DamagedFileError(path, f"holds {len(images)} screens; expected at most {limit}")
    return images
