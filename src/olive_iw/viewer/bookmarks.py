"""Moments of an episode that a page can go back to: many near the newest, fewer far from it."""

from dataclasses import dataclass
from typing import final

from olive_iw.planners.base import Bookmark

MOST = 128
"""Moments kept; one takes about 0.23 MB with 100 calls a decision."""
RECENT = 16
"""Moments within so many decisions of the newest are all kept."""


@dataclass(frozen=True, slots=True)
class PastMoment:
    """What brings a moment before a decision back."""

    bookmark: Bookmark
    score: float
    seconds: float
    difference: str
    """How the play had departed from its record by then."""


@final
class Bookmarks:
    """Moments by decision, at most `MOST`: recent ones, and every 1st, 2nd, 4th, … of the others.

    What lies between two of them is recomputed from the nearest one before.
    """

    def __init__(self) -> None:
        self._moments: dict[int, PastMoment] = {}
        self._every = 1

    def __len__(self) -> int:
        return len(self._moments)

    def __contains__(self, decision: int) -> bool:
        return decision in self._moments

    def keep(self, decision: int, moment: PastMoment) -> None:
        """Keep the moment before a decision, at the cost of others once there are too many."""
        self._moments[decision] = moment
        while len(self._moments) > MOST:
            if not self._thin(decision):
                self._every *= 2

    def before(self, decision: int) -> tuple[int, PastMoment]:
        """Return the nearest moment that is not after a decision, with its own decision."""
        nearest = max(known for known in self._moments if known <= decision)
        return nearest, self._moments[nearest]

    def _thin(self, newest: int) -> bool:
        """Drop what is neither recent nor every n-th; return whether there was any."""
        kept = {
            known: moment
            for known, moment in self._moments.items()
            if known % self._every == 0 or abs(known - newest) < RECENT
        }
        dropped = len(kept) < len(self._moments)
        self._moments = kept
        return dropped
