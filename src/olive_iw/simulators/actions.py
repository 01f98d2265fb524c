"""From a Gymnasium action space to a list of actions, each known by its number."""

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete

from olive_iw.errors import InputError, one_line

MOST_ACTIONS = 256
"""A planner tries actions one by one; more than these it could not."""


class Actions(NamedTuple):
    """Actions of an environment, and what they are called."""

    actions: Sequence[Any]
    """What `env.step` takes, by number."""
    names: tuple[str, ...]


def actions_of(env: gymnasium.Env[Any, Any], levels: int | None = None) -> Actions:
    """Every action of an environment, those of several dimensions as their product.

    A `Box` has `levels` for each dimension, evenly from its lower to its upper bound.
    """
    space, name = env.action_space, one_line(str(env.action_space), 200)
    if isinstance(space, Box):
        parts = _levels(space, name, levels)
    elif levels is not None:
        raise InputError(f"action_levels are for actions that are a Box, not for {name}")
    elif isinstance(space, Discrete):
        first, count = int(space.start), int(space.n)
        _check(count, name)
        return Actions(range(first, first + count), _names(env, count))
    elif isinstance(space, MultiDiscrete):
        starts, counts = space.start.ravel().tolist(), space.nvec.ravel().tolist()
        parts = [range(start, start + n) for start, n in zip(starts, counts, strict=True)]
    elif isinstance(space, MultiBinary):
        parts = [range(2)] * prod(space.shape)
    else:
        raise InputError(
            f"{name} cannot be planned with: actions must be Discrete, MultiDiscrete, "
            "MultiBinary or a Box"
        )
    _check(prod(map(len, parts)), name)
    shape, kind = space.shape, space.dtype
    numbers = list(product(*parts))
    found = [np.array(one, kind).reshape(shape) for one in numbers]
    names = tuple(" ".join(f"{number:g}" for number in one) for one in numbers)
    return Actions(found, names)


def _levels(space: Box, name: str, levels: int | None) -> list[Sequence[float]]:
    """Levels of each dimension; the order of the computation is fixed."""
    low, high = space.low.ravel().tolist(), space.high.ravel().tolist()
    if levels is None:
        raise InputError(
            f"actions are any numbers of {name}: say how many levels each dimension should have, "
            "with action_levels=3 (--action-levels 3)"
        )
    if not np.isfinite([*low, *high]).all():
        raise InputError(f"{name} has no bounds: its actions cannot be cut into levels")
    if levels < 2:
        raise InputError(f"action_levels = {levels} is not possible; it must be at least 2")
    steps = range(levels)
    return [
        [first + (last - first) * step / (levels - 1) for step in steps]
        for first, last in zip(low, high, strict=True)
    ]


def _check(count: int, name: str) -> None:
    if count > MOST_ACTIONS:
        raise InputError(f"{name} has {count:,} actions; at most {MOST_ACTIONS} can be tried")


def _names(env: gymnasium.Env[Any, Any], count: int) -> tuple[str, ...]:
    meanings = getattr(env, "get_action_meanings", None)
    names = meanings() if meanings is not None else getattr(env, "actions", None)
    try:
        found = tuple(str(getattr(name, "name", name)) for name in names)  # type: ignore[union-attr]
    except TypeError:
        found = ()
    return found if len(found) == count else tuple(f"action {index}" for index in range(count))
