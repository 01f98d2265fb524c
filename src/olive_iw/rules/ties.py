"""Ties: of equal actions, the one that begins the longest known path without a loss."""

from dataclasses import dataclass
from typing import ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.bandits.base import Values
from olive_iw.search.decision import of_longest
from olive_iw.search.rule import Rule
from olive_iw.search.search import Search


@final
@dataclass(unsafe_hash=True)
class Ties(Rule):
    """Says which of several actions of the greatest value is taken."""

    neutral: ClassVar = {"ties": "random"}

    ties: Literal["random", "longest"] = "longest"
    """Which of several actions of the greatest value is taken: any of them at random (the paper),
    or the one that begins the longest known path without a loss."""

    def prefer(self, search: Search, best: NDArray[np.int64], values: Values) -> NDArray[np.int64]:
        """Keep the actions that begin the longest paths without a loss."""
        return of_longest(best, search.tree.safe_lengths())
