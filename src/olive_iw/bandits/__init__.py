"""Bandits: which of its unsolved actions a rollout takes.

To add one, write a class with the method of `Bandit` and name it in `BANDITS`.
"""

from collections.abc import Callable
from functools import partial

from olive_iw.bandits.base import Bandit
from olive_iw.bandits.greedy import Greedy
from olive_iw.bandits.statistics import INITIAL_VARIANCE, back_up, updated
from olive_iw.bandits.successive_halving import SuccessiveHalving
from olive_iw.bandits.thompson import Thompson
from olive_iw.bandits.top_two import TopTwo
from olive_iw.bandits.ucb1 import UCB1
from olive_iw.bandits.uniform import Uniform
from olive_iw.registry import Registry

BANDITS: Registry[Callable[[], Bandit]] = Registry(
    "bandit",
    "olive_iw.bandits",
    {
        "uniform": Uniform,
        "max": Greedy,
        "ucb1": UCB1,
        "ucb1-normalised": partial(UCB1, normalised=True),
        "thompson": Thompson,
        "ttts": TopTwo,
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
    "Bandit",
    "Greedy",
    "SuccessiveHalving",
    "Thompson",
    "TopTwo",
    "Uniform",
    "back_up",
    "make_bandit",
    "updated",
]
