"""Ties: of equal actions, the one that begins the longest known path without a loss."""

from dataclasses import dataclass
from typing import ClassVar, Literal, final

from olive_iw.search.rule import Rule


@final
@dataclass(unsafe_hash=True)
class Ties(Rule):
    """Says which of several actions of the greatest value is taken."""

    neutral: ClassVar = {"ties": "random"}

    ties: Literal["random", "longest"] = "longest"
    """Which of several actions of the greatest value is taken: any of them at random (the paper),
    or the one that begins the longest known path without a loss."""
