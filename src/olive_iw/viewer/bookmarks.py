"""Moments of an episode that a page can go back to: many near the newest, fewer far from it."""

from dataclasses import dataclass
from typing import final

from olive_iw.planners.base import Bookmark

MOST = 128
"""Moments kept."""
MOST_NODES = 8_000
"""Nodes of all their trees together; a node of an Atari game takes about 45 kB."""
RECENT = 16
"""Moments within so many decisions of the newest are all kept, or as many as MOST_NODES allows."""


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
    """Moments by decision, a bounded number: recent ones, and every 1st, 2nd, 4th, … of all.

    What lies between two of them is recomputed from the nearest one before.
    """

    def __init__(self) -> None:
        self._moments: dict[int, PastMoment] = {}
        self._every = 1

    def __len__(self) -> int:
        return len(self._moments)

    def __contains__(self, decision: int) -> bool:
        return decision in self._moments

    @property
    def nodes(self) -> int:
        """Nodes of all trees that are kept."""
        return sum(moment.bookmark.tree.size for moment in self._moments.values())

    def keep(self, decision: int, moment: PastMoment) -> None:
        """Keep the moment before a decision, at the cost of others once there are too many."""
        self._moments[decision] = moment
        near = max(1, min(RECENT, MOST_NODES // (4 * moment.bookmark.tree.size)))
        self._thin(decision, near)
        while len(self) > MOST or self.nodes > MOST_NODES:
            if self._every > max(self._moments):
                return  # only the first and the nearest are left
            self._every *= 2
            self._thin(decision, near)

    def before(self, decision: int) -> tuple[int, PastMoment]:
        """Return the nearest moment that is not after a decision, with its own decision."""
        nearest = max(known for known in self._moments if known <= decision)
        return nearest, self._moments[nearest]

    def _thin(self, newest: int, near: int) -> None:
        """Drop what is neither near the newest nor every n-th."""
        self._moments = {
            known: moment
            for known, moment in self._moments.items()
            if known % self._every == 0 or abs(known - newest) < near
        }
