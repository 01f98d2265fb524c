"""What was played, to learn from: every decision's screen once, and what is known of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from olive_iw.errors import DamagedFileError
from olive_iw.policy.config import MEMORY
from olive_iw.policy.guide import padded


@dataclass(slots=True)
class Moment:
    """The root of a decision."""

    frame: NDArray[np.uint8]
    """Its grey image, shape (side, side)."""
    place: int
    """Decisions since the episode's start."""
    known: NDArray[np.float32]
    """What is learned of it, shape (numbers,); the learner says what they are."""
    usable: bool = True
    """Whether it can be learned from; otherwise another moment needs its screen."""


@final
class Experience:
    """The newest moments, of which `limit` can be learned from, in the order of play."""

    def __init__(self, limit: int, moments: Sequence[Moment] = ()) -> None:
        self.limit = limit
        self.moments = list(moments)

    @property
    def rows(self) -> NDArray[np.int64]:
        """Moments that can be learned from."""
        usable = [row for row, moment in enumerate(self.moments) if moment.usable]
        return np.array(usable[-self.limit :], np.int64)

    def add(self, *moments: Moment) -> None:
        """Take moments in, and forget what no input needs any longer."""
        self.moments += moments
        rows = self.rows
        if len(rows) == self.limit:
            del self.moments[: max(0, int(rows[0]) - MEMORY + 1)]

    def inputs(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return what a network sees at some moments, shape (N, 4, side, side), the newest last."""
        found = []
        for row in rows.tolist():
            first = row - min(self.moments[row].place, MEMORY - 1)
            found.append(np.stack(padded([it.frame for it in self.moments[first : row + 1]])))
        return np.stack(found)

    def known(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the known numbers of some moments, shape (N, numbers)."""
        return np.stack([self.moments[row].known for row in rows.tolist()])

    def tensors(self) -> dict[str, Tensor]:
        """All of it, for a file."""
        if not self.moments:
            return {}
        frames, known = [it.frame for it in self.moments], [it.known for it in self.moments]
        return {
            "frames": torch.from_numpy(np.stack(frames)),
            "known": torch.from_numpy(np.stack(known)),
            "places": torch.tensor([it.place for it in self.moments]),
            "usable": torch.tensor([it.usable for it in self.moments]),
        }

    @classmethod
    def read(
        cls, limit: int, tensors: dict[str, Tensor], side: int, numbers: int, path: Path
    ) -> Self:
        """Take back what `tensors` gave, if images and known numbers are of the sizes given."""
        if not tensors:
            return cls(limit)
        count = len(tensors.get("places", ()))
        kinds = {
            "frames": ((count, side, side), torch.uint8),
            "known": ((count, numbers), torch.float32),
            "places": ((count,), torch.int64),
            "usable": ((count,), torch.bool),
        }
        if {name: (tuple(it.shape), it.dtype) for name, it in tensors.items()} != kinds:
            raise DamagedFileError(path, "holds no moments to learn from")
        frames, known, places, usable = (tensors[name] for name in kinds)
        rows = zip(frames.numpy(), places.tolist(), known.numpy(), usable.tolist(), strict=True)
        found = cls(limit, [Moment(*row) for row in rows])
        lacks = any(min(found.moments[it].place, MEMORY - 1) > it for it in found.rows.tolist())
        if lacks or not bool(known.isfinite().all()) or bool((places < 0).any()):
            raise DamagedFileError(path, "holds moments that cannot be")
        return found
