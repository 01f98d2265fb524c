"""What planners share that expand nodes: all children of a node are made, one after the other."""

from collections.abc import Iterator

from olive_iw.planners.search import Search
from olive_iw.planners.tree import NONE


def children_of(search: Search, node: int) -> Iterator[int]:
    """Go through a node's children in random order, making those that are missing.

    Actions that the rules leave out are passed over. NONE, at last, says that no call was left.
    """
    for action in map(int, search.bandit_generator.permutation(search.tree.actions)):
        child = search.known_child(node, action)
        if child == NONE and search.leaves_out(node, action):
            continue
        if child == NONE and search.ledger.budget.left:
            child = search.expand(node, action)
        yield child
        if child == NONE:
            return
