"""Persistence: some rollouts go straight on, others wind."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

from olive_iw.search.rule import Rule
from olive_iw.settings import Range


@final
@dataclass(unsafe_hash=True)
class Persistence(Rule):
    """Lets a rollout's first choice at a node repeat the action that led there."""

    neutral: ClassVar = {"persistence": 0.0}

    persistence: Annotated[float, Range(0, 1)] = 0.5
    """Chance that a rollout's first choice at a node is the action that led there once more. Every
    rollout draws a chance of its own; this is their mean."""
