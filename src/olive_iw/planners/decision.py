"""From a searched tree to one action: returns with risk aversion, and who wins a tie."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

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

    def reward(self, reward: float, life_lost: bool) -> float:
        """Reward of one step as the decision counts it."""
        if not self.averse:
            return reward
        shaped = reward * self.negative_factor if reward < 0 else reward
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


def best_actions(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Actions of the greatest value, ascending; untried ones (NaN) never win."""
    return np.flatnonzero(values == np.nanmax(values))


def break_tie(best: NDArray[np.int64], generator: np.random.Generator) -> int:
    """Choose among actions that tie, at random; a clear winner draws no random number."""
    return int(best[0] if len(best) == 1 else generator.choice(best))


def of_longest(best: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of some actions, ascending, that begin the longest paths; lengths: shape (actions,)."""
    tied = lengths[best]
    return best[np.flatnonzero(tied == tied.max())]


@njit(cache=True)
def safe_lengths(
    actions: int,
    parent: NDArray[np.int32],
    action: NDArray[np.int32],
    shaped_reward: NDArray[np.float64],
    terminal: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Count the steps of the longest safe path that each root action begins, shape (actions,).

    A path is safe if no step of it has a negative reward, and its last node is not terminal.
    The other arrays are a tree's, each parent before its children; `parent` says how many count.
    """
    first = np.empty(len(parent), np.int32)  # root action above each node
    length = np.zeros(len(parent), np.int64)  # from the root; -1 below a loss
    longest = np.zeros(actions, np.int64)
    for node in range(1, len(parent)):
        above = parent[node]
        first[node] = action[node] if above == 0 else first[above]
        safe = length[above] >= 0 and shaped_reward[node] >= 0.0
        length[node] = length[above] + 1 if safe else -1
        if not terminal[node]:
            longest[first[node]] = max(longest[first[node]], length[node])
    return longest


@njit(cache=True)
def best_child_value(
    children: NDArray[np.int32],
    shaped_reward: NDArray[np.float64],
    value: NDArray[np.float64],
    discount: float,
) -> float:
    """Greatest `reward + discount · value` over the children there are, 0 at a leaf."""
    best = -np.inf
    for child in children:
        if child >= 0:
            best = max(best, shaped_reward[child] + discount * value[child])
    return 0.0 if best == -np.inf else best
