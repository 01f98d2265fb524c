"""Noise: learned bits are flipped by chance, where plain reading decides nothing."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

from olive_iw.rules.grain import Fit
from olive_iw.search.rule import Rule
from olive_iw.settings import Range


@final
@dataclass(unsafe_hash=True)
class Noise(Rule):
    """Flips learned bits by chance; switches itself on where the game wants it."""

    neutral: ClassVar = {"noise": 0.0, "fit": "none"}

    noise: Annotated[float, Range(0, 1)] = 0.0
    """Chance of every bit of learned features to be flipped, drawn anew for every node. With fit =
    noise, 0 stands for 0.1, and noise is drawn by turns: for every node, or once for every state.
    """
    fit: Fit = "noise"
    """As in `Grain`: with noise it switches itself on and off."""
    wanted_depth: Annotated[float, Range(1, 100)] = 10.0
    """As in `Grain`."""

    @property
    def acts(self) -> bool:
        """Whether bits may be flipped."""
        return self.noise > 0 or self.fit == "noise"
