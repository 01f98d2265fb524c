"""Two bandits of a paper, UCB1-Normal2 and UCB1-Uniform (Asai and Wissow), as bandits of your own.

With a name in `BANDITS` they are used like those of the package: `bandit="ucb1-normal2"`.
"""

import math

import numpy as np

import olive_iw as olive
from olive_iw.bandits import BANDITS, INITIAL_VARIANCE


def best(scores, statistics, generator):
    """One of the best unsolved actions; first every one must have been tried twice."""
    count, unsolved = statistics.count, statistics.unsolved
    if (least := count[unsolved].min()) < 2:
        return int(generator.choice(np.flatnonzero(unsolved & (count == least))))
    scores = np.where(unsolved, scores, -np.inf)
    return int(generator.choice(np.flatnonzero(scores == scores.max())))


class UCB1Normal2:
    """Largest mean + σ·√(2·ln N): σ of an action's returns, N tries of all actions."""

    def choose(self, statistics, generator):
        """See `olive_iw.bandits.Bandit`."""
        count = statistics.count
        squares = (count + 1) * statistics.variance - INITIAL_VARIANCE  # freed of its prior
        squares = np.where(squares > 1e-12, squares, 0.0)  # less is rounding
        deviation = np.sqrt(squares / np.maximum(count - 1, 1))
        bonus = deviation * math.sqrt(2 * math.log(max(1, count.sum())))
        return best(statistics.mean + bonus, statistics, generator)


class UCB1Uniform:
    """Largest middle + width·√(6·n·ln N), of the range of an action's returns after n tries."""

    def choose(self, statistics, generator):
        """See `olive_iw.bandits.Bandit`."""
        count, known = statistics.count, statistics.low <= statistics.high
        low, high = (np.where(known, row, 0.0) for row in (statistics.low, statistics.high))
        width = (high - low) * np.sqrt(6 * count * math.log(max(1, count.sum())))
        scores = np.where(known, (low + high) / 2 + width, -np.inf)
        return best(scores, statistics, generator)


BANDITS.add("ucb1-normal2", UCB1Normal2)
BANDITS.add("ucb1-uniform", UCB1Uniform)
print("Coins found in the world grid:collect (there are 7), 40 actions, 30 calls each:")
for name in ("uniform", "ucb1", "ucb1-normal2", "ucb1-uniform"):
    agent = olive.make_agent("patch-iw", bandit=name, calls_per_action=30)
    scores = [agent.play(olive.make_simulator("grid:collect"), 40, n).score for n in range(5)]
    print(f"  {name:<14} {' '.join(f'{score:g}' for score in scores)}   mean {np.mean(scores):.1f}")
