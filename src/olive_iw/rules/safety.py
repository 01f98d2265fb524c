"""Safety: an action must be known to be safe for some steps before it is taken for its value."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

import numpy as np

from olive_iw.bandits.base import Values
from olive_iw.search.rule import Rule
from olive_iw.search.search import Search
from olive_iw.settings import Range


@final
@dataclass(unsafe_hash=True)
class Safety(Rule):
    """Takes only actions that are known to be safe for some steps."""

    neutral: ClassVar = {"safe_steps": 0}

    safe_steps: Annotated[int, Range(0, 100)] = 8
    """Steps without a loss, or the game's end, that must be known to follow an action before it is
    taken for what it earns. If no action has so many, as many as one has."""

    def allow(self, search: Search, values: Values) -> Values:
        """Rule out the actions that are not known to be safe for long enough."""
        # A game that ends well is as safe as can be, however soon it ends.
        lengths = search.tree.safe_lengths(at_end=self.safe_steps)
        return np.where(lengths >= min(self.safe_steps, lengths.max()), values, np.nan)
