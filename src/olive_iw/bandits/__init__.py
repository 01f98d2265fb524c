"""Bandits: which of its unsolved actions a rollout takes.

To add one, write a class with the method of `Bandit` and name it in `BANDITS`.
"""

from collections.abc import Callable

from olive_iw.bandits.base import INITIAL_VARIANCE, ActionStatistics, Bandit
from olive_iw.bandits.check import check_bandit
from olive_iw.bandits.rules import (
    UCB1,
    ByPolicy,
    Max,
    SuccessiveHalving,
    Thompson,
    TopTwoThompson,
    Uniform,
    normalised_ucb1,
)
from olive_iw.errors import InputError
from olive_iw.registry import Registry

BANDITS: Registry[Callable[[], Bandit]] = Registry(
    "bandit",
    "olive_iw.bandits",
    {
        "uniform": Uniform,
        "policy": ByPolicy,
        "max": Max,
        "ucb1": UCB1,
        "ucb1-normalised": normalised_ucb1,
        "thompson": Thompson,
        "ttts": TopTwoThompson,
        "successive-halving": SuccessiveHalving,
    },
)


def make_bandit(bandit: str | Bandit) -> Bandit:
    """Return the bandit of that name, or the bandit itself."""
    if isinstance(bandit, str):
        return BANDITS[bandit]()
    if not isinstance(bandit, Bandit):
        raise InputError(f"{type(bandit).__name__} is no bandit: it lacks the method choose")
    return bandit


__all__ = [
    "BANDITS",
    "INITIAL_VARIANCE",
    "UCB1",
    "ActionStatistics",
    "Bandit",
    "ByPolicy",
    "Max",
    "SuccessiveHalving",
    "Thompson",
    "TopTwoThompson",
    "Uniform",
    "check_bandit",
    "make_bandit",
]
