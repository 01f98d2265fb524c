"""A rollout under way."""

from dataclasses import dataclass, field
from typing import Any, final


@final
@dataclass(slots=True, eq=False)
class Walk:
    """One rollout under way: rollouts of search workers interleave, so each has its own."""

    path: list[int]
    """Nodes from where it began."""
    calls: int = 0
    """Simulator calls that it has made."""
    notes: dict[Any, Any] = field(default_factory=dict)
    """What rules note of it, each under its class."""
