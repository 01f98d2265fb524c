"""Look further: where nothing is to be earned nearby, half of the calls are not pruned."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

from olive_iw.search.rule import Rule
from olive_iw.search.search import Search
from olive_iw.search.tree import ROOT
from olive_iw.settings import Range


@final
@dataclass(unsafe_hash=True)
class Further(Rule):
    """Keeps calls back for rollouts that nothing prunes, if the others find nothing to earn."""

    neutral: ClassVar = {"look_further": 0.0}

    look_further: Annotated[float, Range(0, 1)] = 0.5
    """Share of a decision's calls that is kept back. It goes into rollouts that nothing prunes if
    the others know of nothing to be earned."""

    def reserve(self, calls: int) -> int:
        """Keep the share back."""
        return round(self.look_further * calls)

    def further(self, search: Search) -> None:
        """Begin a search that prunes nothing, unless something can be earned nearby."""
        if search.tree.value[ROOT] <= 0:
            search.begin(width=None, far=True)
