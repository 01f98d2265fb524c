"""Twins: actions that lead to the same state, and how not to buy it twice."""

from dataclasses import dataclass
from typing import ClassVar, final

from olive_iw.search.rule import Rule


@final
@dataclass(unsafe_hash=True)
class Twins(Rule):
    """Leaves out untried actions that probably lead where a tried one leads."""

    neutral: ClassVar = {"avoid_twins": False}

    avoid_twins: bool = True
    """Leave out untried actions that, by what the episode has shown, probably lead to the same
    state as a tried one. Where one does nevertheless, the walk goes on from the known state.
    States are the same if screen and RAM are (in simulators without RAM: screen and saved state).
    """
