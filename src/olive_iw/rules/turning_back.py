"""Turning back: a path may be left before a loss that is known farther on.

The paper values an action by the best path that is known below it, walked to its end. A path that
is safe for thirty steps and then ends in a loss is then worth less than nothing, though it can be
left at any of its nodes, where most actions were never tried. So the agent gave up long safe paths
for short ones that nobody had walked on. Here an action is worth the best that is had on a path
below it up to any node; whether it is safe to go there is for the rule Safety to say.
"""

from dataclasses import dataclass
from typing import ClassVar, final

from olive_iw.bandits.base import Values
from olive_iw.search.rule import Rule
from olive_iw.search.search import Search


@final
@dataclass(unsafe_hash=True)
class TurningBack(Rule):
    """Values actions by what is had on a path up to any node, not only to its end."""

    neutral: ClassVar = {"turning_back": False}

    turning_back: bool = True
    """Value an action by the best that a known path below it gives up to any of its nodes, so that
    a loss farther on does not count: the path can be left before it. For safe_steps, which says
    how far no loss may be known."""

    def allow(self, search: Search, values: Values) -> Values:
        """Say what actions are worth if their paths may be left anywhere."""
        return search.tree.values_up_to_any_node()
