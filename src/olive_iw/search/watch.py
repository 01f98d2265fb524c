"""Looking on while a planner searches."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from olive_iw.simulators.base import Step

if TYPE_CHECKING:
    from olive_iw.search.search import Search


class SearchWatch:
    """Looks on while a planner searches, `with planner.watched_by(watch):`; must change nothing.

    Every method does nothing unless overridden.
    """

    def on_search(self, search: "Search") -> None:
        """Note that a search begins: one in each decision, or more, where rules begin another."""

    def on_step(self, step: Step) -> None:
        """Look at a step that the simulator shows: an episode's first one, or that of a call."""

    def on_enter(self, node: int, depth: int) -> None:
        """Note that a walk reaches a node, `depth` below the root; its novelty is judged next."""

    def on_judged(self, node: int, novel: bool) -> None:
        """Note whether the node that was reached last is novel."""

    def on_rollout(self, path: Sequence[int]) -> None:
        """Note that a rollout along some nodes, the root first, has ended and is backed up."""
