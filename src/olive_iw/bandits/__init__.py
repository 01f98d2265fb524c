"""Bandits: which of its unsolved actions a rollout takes.

To add one, write a class with the method of `Bandit` and name it in `BANDITS`.
"""

from collections.abc import Callable

from olive_iw.bandits.base import ActionStatistics, Bandit
from olive_iw.bandits.max import Max
from olive_iw.bandits.statistics import INITIAL_VARIANCE
from olive_iw.bandits.successive_halving import SuccessiveHalving
from olive_iw.bandits.thompson import Thompson
from olive_iw.bandits.ttts import TopTwoThompson
from olive_iw.bandits.ucb1 import UCB1, normalised_ucb1
from olive_iw.bandits.uniform import Uniform
from olive_iw.registry import Registry

BANDITS: Registry[Callable[[], Bandit]] = Registry(
    "bandit",
    "olive_iw.bandits",
    {
        "uniform": Uniform,
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
    return BANDITS[bandit]() if isinstance(bandit, str) else bandit


__all__ = [
    "BANDITS",
    "INITIAL_VARIANCE",
    "UCB1",
    "ActionStatistics",
    "Bandit",
    "Max",
    "SuccessiveHalving",
    "Thompson",
    "TopTwoThompson",
    "Uniform",
    "make_bandit",
]
