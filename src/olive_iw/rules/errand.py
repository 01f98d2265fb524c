"""Errands: rollouts that rules send to a node of the tree, to search from there."""

from dataclasses import dataclass
from typing import final

from olive_iw.bandits import ActionStatistics
from olive_iw.search.rule import Rule
from olive_iw.search.search import Search
from olive_iw.search.tree import Tree
from olive_iw.search.walk import Walk

MOST_CALLS = 15
"""Calls of a rollout from where it was sent to."""
PATIENCE = 10
"""Rollouts in a row that are sent somewhere and find nothing untried, before no more are."""


@final
@dataclass(slots=True)
class Errand:
    """A rollout that was sent somewhere."""

    way: list[int]
    """Actions that are left to where it was sent, the next one last."""
    checked: int = 0
    """Nodes of its path that it is known of whether a loss led to them."""
    lost: bool = False

    def step(self, known: ActionStatistics) -> int | None:
        """Return the next action of its way; None where it has arrived, or the way is closed."""
        if not self.way:
            return None
        action = self.way.pop()
        if known.unsolved[action]:
            return action
        self.way.clear()
        return None

    def ends(self, search: Search, walk: Walk) -> bool:
        """Whether it makes no more calls: after some, and after a loss."""
        shaped_reward, new = search.tree.shaped_reward, walk.path[self.checked :]
        self.checked += len(new)
        self.lost |= any(shaped_reward[node] < 0 for node in new)
        return self.lost or walk.calls >= MOST_CALLS


class Sending(Rule):
    """What sends rollouts. A rollout has one errand, from the first rule that gives it one."""

    @staticmethod
    def send(walk: Walk, tree: Tree, node: int) -> None:
        """Send a rollout to a node."""
        walk.notes[Errand] = Errand(way_to(tree, node)[::-1])

    @staticmethod
    def is_sent(walk: Walk) -> bool:
        """Whether a rollout was sent somewhere."""
        return Errand in walk.notes

    def pick(self, search: Search, walk: Walk, node: int, known: ActionStatistics) -> int | None:
        """Go on to where the rollout was sent, unless the way there is closed."""
        errand: Errand | None = walk.notes.get(Errand)
        return errand.step(known) if errand else None

    def stops(self, search: Search, walk: Walk) -> bool:
        """End a rollout that was sent somewhere after some calls, and after a loss."""
        errand: Errand | None = walk.notes.get(Errand)
        return errand is not None and errand.ends(search, walk)


def way_to(tree: Tree, node: int) -> list[int]:
    """Actions from the root to a node."""
    return [int(tree.action[each]) for each in tree.path(node)[1:]]
