"""Does a bandit keep its contract? For those who write one of their own."""

import numpy as np

from olive_iw.bandits.base import ActionStatistics, Bandit, checked_choice
from olive_iw.errors import InputError
from olive_iw.randomness import generator


def check_bandit(bandit: Bandit, *, seed: int = 0, nodes: int = 500) -> None:
    """Let a bandit choose twice at random nodes; `InputError` if it breaks its contract.

    It must return unsolved actions, the same for the same arguments, and leave these as they are.
    """
    random, name = generator(seed), type(bandit).__name__
    for number in range(nodes):
        node = _random_node(random, least=number % 2)
        rows = [row for row in node if row is not None]
        kept = [row.copy() for row in rows]
        choices = [checked_choice(bandit, node, generator(seed, number)) for _ in range(2)]
        if choices[0] != choices[1]:
            raise InputError(
                f"the bandit {name} chose {choices[0]}, then {choices[1]} for the same arguments: "
                "it must draw from the generator alone and keep nothing"
            )
        if not all(map(np.array_equal, rows, kept)):
            raise InputError(f"the bandit {name} changed the statistics, which are the planner's")


def _random_node(random: np.random.Generator, least: int) -> ActionStatistics:
    """Statistics of 1 to 18 actions, each tried at least so many times; some are unsolved."""
    actions = int(random.integers(1, 19))
    count = random.integers(least, 30, actions)
    mean = random.normal(0, 100, actions) * (count > 0)
    variance = np.where(count > 0, random.gamma(1, 50, actions), 0.2)
    unsolved = random.random(actions) < 0.6
    unsolved[random.integers(actions)] = True
    spread = np.sqrt(variance) * (count > 1)
    low = np.where(count > 0, mean - spread, np.inf)
    high = np.where(count > 0, mean + spread, -np.inf)
    prior = random.random(actions, np.float32)
    return ActionStatistics(count, mean, variance, unsolved, low, high, prior)
