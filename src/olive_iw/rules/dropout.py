"""Dropout: plan with the network in training mode, as the authors' code did."""

from dataclasses import dataclass
from typing import ClassVar, final

from olive_iw.features.base import Atoms, NoisyFeatures
from olive_iw.search.rule import Rule, Stream
from olive_iw.search.search import Search
from olive_iw.simulators.base import Screen


@final
@dataclass(unsafe_hash=True)
class Dropout(Rule):
    """Draws a node's atoms with the network's dropout and batch statistics on."""

    neutral: ClassVar = {"training_mode": False}
    needs: ClassVar = "dropout"

    training_mode: bool = True
    """Plan with the network in training mode, as the authors' code did: dropout and batch
    statistics are on, so that a screen has other bits at every node. Of the profile paper only."""

    def draw(self, search: Search, screen: Screen) -> Atoms | None:
        """Draw what a screen looks like this time."""
        if not isinstance(search.features, NoisyFeatures):
            return None
        return search.features.noisy_atoms(screen, search.random(Stream.READING))
