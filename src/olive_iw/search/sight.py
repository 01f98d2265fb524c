"""What a new node shows: the atoms that features, rules or a policy network say of its step."""

from typing import TYPE_CHECKING, final

import numpy as np

from olive_iw.features.base import (
    Atoms,
    CachedFeatures,
    Features,
    Guidance,
    GuidingFeatures,
    check_atoms,
)
from olive_iw.search.tree import MEMORY, NONE
from olive_iw.simulators.base import Step

if TYPE_CHECKING:
    from olive_iw.search.search import Search

NO_ATOMS = np.empty(0, np.int32)


@final
class Sight:
    """Looks at steps, with some features or none."""

    def __init__(self, features: Features | None) -> None:
        self._features = features
        # Asked once, here: isinstance() of a protocol looks every attribute up.
        self._guide = features if isinstance(features, GuidingFeatures) else None
        self._cached = features if isinstance(features, CachedFeatures) else None

    def look(self, search: "Search", node: int, step: Step) -> tuple[Atoms, Guidance | None]:
        """Atoms of a step that follows a node (NONE: the first), and what a policy says of it."""
        counters, tree = search.ledger.counters, search.tree
        if self._guide is not None:
            counters.cache_misses += 1
            with search.ledger.stopwatches.features:
                guidance = self._guide.of_path([*tree.last_steps(node, MEMORY), step])
            return guidance.atoms, guidance
        if self._features is None:
            return NO_ATOMS, None
        for rule in search.asked["draw"]:
            drawn = rule.draw(search, step.screen)
            if drawn is not None:
                return drawn, None
        hits = 0 if self._cached is None else -self._cached.cache_hits
        with search.ledger.stopwatches.features:
            previous = None if node == NONE else tree.seen[node].step
            atoms = self._features.of_step(step, previous)
        hits += 0 if self._cached is None else self._cached.cache_hits
        counters.cache_hits += hits
        counters.cache_misses += 1 - hits
        atoms = check_atoms(atoms, self._features)  # compiled code takes them as indices
        for rule in search.asked["perceive"]:
            atoms = rule.perceive(search, atoms)
        return atoms, None
