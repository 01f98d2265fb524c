"""One rollout: Algorithm 1 of the paper, as a generator that stops where it needs a call."""

from collections.abc import Generator
from typing import TypeAlias

from olive_iw.search.search import Search
from olive_iw.search.tree import NONE
from olive_iw.search.walk import Walk

Rollout: TypeAlias = Generator[tuple[Walk, int], None, Walk]
"""A rollout under way. Where it needs a call, it stops and yields its walk and the action to take.
It goes on from the child, or ends there if none was added to the tree. It returns its walk."""


def rollout(search: Search) -> Rollout:
    """Walk down while something is new, then back up what was earned on the way."""
    walk = search.walk()
    path = walk.path
    while search.enter(path[-1], depth=len(path) - 1):  # not terminal, too deep or nothing new
        action = search.choose(walk)
        child = search.known_child(path[-1], action)
        if child == NONE and not search.stops(walk):
            yield walk, action  # one call, if one is left
            child = search.arrive(walk, action)
        if child == NONE:
            break  # the budget is spent: what was earned so far still counts
        path.append(child)
    else:  # the walk ended by itself, not for want of calls: nothing is left below its last node
        search.solve(path[-1])
    search.back_up(path)
    return walk
