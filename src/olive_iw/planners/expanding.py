"""What planners share that expand nodes: all children of a node are made, one after the other."""

from collections.abc import Iterator

from olive_iw.search.rule import Stream
from olive_iw.search.search import Search
from olive_iw.search.tree import NONE


def children_of(search: Search, node: int) -> Iterator[int]:
    """Go through a node's children in random order, making those that are missing.

    Actions that a rule leaves out are passed over. NONE, at last, says that no call was left.
    """
    for action in map(int, search.random(Stream.BANDIT).permutation(search.tree.actions)):
        child = search.known_child(node, action)
        if child == NONE:
            if any(rule.leaves_out(search, node, action) for rule in search.asked["leaves_out"]):
                continue
            if search.ledger.budget.left:
                child = search.expand(node, action)
        yield child
        if child == NONE:
            return
