"""From a searched tree to one action: returns with risk aversion, and who wins a tie."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from olive_iw.arithmetic import exp

Stopped: TypeAlias = Literal["budget", "exhausted"]


@dataclass(frozen=True, slots=True)
class Risk:
    """How much worse than its reward a loss counts, when an action is chosen.

    Bandit statistics and scores use raw rewards.
    """

    averse: bool = True
    negative_factor: float = 50_000.0
    """A negative reward is multiplied by this."""
    life_penalty: float = 10 * 50_000.0
    """Subtracted once, in the step in which a life is lost."""
    life_replaces: bool = False
    """Whether the penalty takes the place of that step's reward, as in Bandres et al. 2018."""

    def reward(self, reward: float, life_lost: bool) -> float:
        """Reward of one step as the decision counts it."""
        if not self.averse:
            return reward
        shaped = reward * self.negative_factor if reward < 0 else reward
        if life_lost and self.life_replaces:
            return -self.life_penalty
        # In this step alone; the authors' code subtracts it again at every node below.
        return shaped - self.life_penalty if life_lost else shaped


@dataclass(frozen=True, slots=True)
class Decision:
    """What planning from one root came to."""

    action: int
    values: NDArray[np.float64]
    """Risk-averse value of each action, shape (actions,); NaN where none was tried."""
    visits: NDArray[np.int64]
    """How many rollouts took each action, shape (actions,)."""
    calls: int
    """Simulator calls made."""
    stopped: Stopped
    """Why planning ended: the budget was spent, or nothing was left to search."""
    ties: int = 1
    """How many actions share the greatest value."""

    def __repr__(self) -> str:
        values = ", ".join(f"{value:.4g}" for value in self.values)
        return f"<Decision for action {self.action} of [{values}], {self.calls} calls>"


def best_actions(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Actions of the greatest value, ascending; untried ones (NaN) never win."""
    return np.flatnonzero(values == np.nanmax(values))


def softmax(values: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """Shares of some values, shape (actions,): exp(value / temperature), and 1 in all.

    At temperature 0 the greatest values share equally; what is NaN (untried) has none.
    """
    above = values - np.nanmax(values)  # at most 0: no power overflows
    if temperature == 0.0:
        weights = (above == 0.0).astype(np.float64)
    else:
        powers = (above / temperature).tolist()
        weights = np.array([0.0 if math.isnan(power) else exp(power) for power in powers])
    # fsum and our own exp: numpy's sums and powers differ between processors in the last digit.
    shares: NDArray[np.float64] = weights / math.fsum(weights.tolist())
    return shares


def break_tie(best: NDArray[np.int64], generator: np.random.Generator) -> int:
    """Choose among actions that tie, at random; a clear winner draws no random number."""
    return int(best[0] if len(best) == 1 else generator.choice(best))


def of_longest(best: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Keep the actions that begin the longest paths, ascending; lengths: shape (actions,)."""
    tied = lengths[best]
    return best[np.flatnonzero(tied == tied.max())]
