"""Mechanisms of surveyed systems by short names, as the arguments of a planner."""

from typing import Any

import numpy as np

from olive_iw.novelty import Judging
from olive_iw.planners.mechanisms import Drawn, HighestZero, Repeats
from olive_iw.search.rule import Rule


def mechanisms(
    untried: float = -np.inf,
    highest_zero: bool = False,
    max_repeats: int = 0,
    temperature: float = 0.0,
    **judging: Any,
) -> dict[str, Any]:
    """Arguments of a planner that has them; those of novelty are the fields of `Judging`."""
    rules: list[Rule] = []
    rules += [HighestZero()] if highest_zero else []
    rules += [Repeats(max_repeats)] if max_repeats else []
    rules += [Drawn(temperature, 0.0)] if temperature else []
    found: dict[str, Any] = {"rules": rules, "judging": Judging(**judging)}
    return found if untried == -np.inf else {**found, "untried": untried}
