"""The rules there are, from any action to successive halving.

Each takes one number from the generator it is given and decides in compiled code. All but the first
two try every unsolved action once before they compare any.
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from olive_iw.arithmetic import log
from olive_iw.bandits.base import ActionStatistics, Counts, Mask, Priors, Values
from olive_iw.bandits.draws import (
    Stream,
    best_of,
    chi_square,
    first_try,
    normal,
    one_of,
    open_stream,
    uniform,
)
from olive_iw.compiled import njit


@final
class Uniform:
    """Chooses uniformly among the unsolved actions, whatever they returned."""

    def choose(self, statistics: ActionStatistics, generator: np.random.Generator) -> int:
        """Return an unsolved action, as Rollout-IW does."""
        return int(_uniform(statistics.unsolved, generator.random()))


@njit
def _uniform(unsolved: Mask, seed: float) -> int:
    return one_of(unsolved, open_stream(seed))


@final
class ByPolicy:
    """Draws an unsolved action by the weights that a policy gives; uniformly where there is none.

    Actions without weight are not unsolved, in trees that know a policy.
    """

    def choose(self, statistics: ActionStatistics, generator: np.random.Generator) -> int:
        """Return an unsolved action, as π-IW does (Junyent, Jonsson and Gómez 2019)."""
        prior = statistics.prior
        if prior is None:
            return int(_uniform(statistics.unsolved, generator.random()))
        return int(_by_policy(prior, statistics.unsolved, generator.random()))


@njit
def _by_policy(prior: Priors, unsolved: Mask, drawn: float) -> int:
    total = 0.0
    for action in range(len(prior)):
        total += prior[action] * unsolved[action]
    if not total > 0.0:
        return one_of(unsolved, open_stream(drawn))
    left, chosen = drawn * total, 0  # the last with a share, if rounding leaves something
    for action in range(len(prior)):
        if unsolved[action] and prior[action] > 0.0:
            chosen = action
            left -= prior[action]
            if left < 0.0:
                break
    return chosen


@final
class Max:
    """Tries every unsolved action once, then takes the largest mean, ties broken at random."""

    def choose(self, statistics: ActionStatistics, generator: np.random.Generator) -> int:
        """Return an unsolved action: the paper's "max"."""
        count, mean, _, unsolved, *_ = statistics
        return int(_max(count, mean, unsolved, generator.random()))


@njit
def _max(count: Counts, mean: Values, unsolved: Mask, seed: float) -> int:
    action, stream = first_try(count, unsolved, seed)
    return action if action >= 0 else best_of(mean, unsolved, stream)


@final
@dataclass(frozen=True, slots=True)
class UCB1:
    """Tries every unsolved action once, then takes the largest mean + √(2·ln N / n).

    N counts the tries of all actions, solved ones too; ties are broken at random.
    """

    normalised: bool = False
    """Scale the unsolved actions' means to [0, 1] first (equal ones to 0), as the paper's code."""

    def choose(self, statistics: ActionStatistics, generator: np.random.Generator) -> int:
        """Return an unsolved action (Auer, Cesa-Bianchi and Fischer 2002)."""
        count, mean, _, unsolved, *_ = statistics
        return int(_ucb1(count, mean, unsolved, self.normalised, generator.random()))


def normalised_ucb1() -> UCB1:
    """UCB1 with the means scaled to [0, 1] first, the range that its bound is made for."""
    return UCB1(normalised=True)


@njit
def _ucb1(count: Counts, mean: Values, unsolved: Mask, normalised: bool, seed: float) -> int:
    action, stream = first_try(count, unsolved, seed)
    if action >= 0:
        return action
    if normalised:
        low, high = mean[unsolved].min(), mean[unsolved].max()
        mean = (mean - low) * (1.0 / (high - low) if high > low else 0.0)
    # Solved actions may never have been tried; they are no candidates, but must not divide by 0.
    bound = np.sqrt(2.0 * log(float(count.sum())) / np.maximum(count, 1))
    return best_of(mean + bound, unsolved, stream)


@final
class Thompson:
    """Tries every unsolved action once, then takes the one with the largest drawn return.

    Returns are taken as normal with unknown mean and variance. A draw is from the posterior's
    predictive distribution: σ² ~ Scaled-Inv-χ²(n + 1, variance), μ ~ N(mean, σ²/n), Q ~ N(μ, σ²).
    """

    def choose(self, statistics: ActionStatistics, generator: np.random.Generator) -> int:
        """Return an unsolved action, each as often as it is believed to be the best."""
        return int(_thompson(*statistics[:4], generator.random()))


@njit
def draw_return(count: int, mean: float, variance: float, stream: Stream) -> float:
    """Draw the next return of an action tried at least once.

    Drawing μ and then Q around it is drawing Q ~ N(mean, σ²/n + σ²) at once.
    """
    degrees = count + 1
    drawn_variance = degrees * variance / chi_square(stream, degrees)
    return mean + math.sqrt(drawn_variance * (1.0 + 1.0 / count)) * normal(stream)


@njit
def draw_returns(
    count: Counts, mean: Values, variance: Values, unsolved: Mask, stream: Stream
) -> Values:
    """Draw the next return of every unsolved action; shape (actions,), 0 where solved."""
    drawn = np.zeros(count.shape[0])
    for action in range(count.shape[0]):
        if unsolved[action]:
            drawn[action] = draw_return(count[action], mean[action], variance[action], stream)
    return drawn


@njit
def _thompson(count: Counts, mean: Values, variance: Values, unsolved: Mask, seed: float) -> int:
    action, stream = first_try(count, unsolved, seed)
    if action >= 0:
        return action
    return best_of(draw_returns(count, mean, variance, unsolved, stream), unsolved, stream)


@final
@dataclass(frozen=True, slots=True)
class TopTwoThompson:
    """Tries every unsolved action once, then one of the two likeliest to be the best.

    One draw of all returns, as in `Thompson`, gives the leader. It is taken with probability
    `keep_probability`. Otherwise the returns are drawn again until another action wins: the
    challenger, which is taken. If the leader wins `retries` times more, the challenger is the
    best of the others in the last draw.
    """

    keep_probability: float = 0.5
    retries: int = 16

    def choose(self, statistics: ActionStatistics, generator: np.random.Generator) -> int:
        """Return an unsolved action (Russo 2016)."""
        numbers = self.keep_probability, self.retries
        return int(_top_two(*statistics[:4], *numbers, generator.random()))


@njit
def _top_two(
    count: Counts, mean: Values, spread: Values, unsolved: Mask, keep: float, most: int, seed: float
) -> int:
    action, stream = first_try(count, unsolved, seed)
    if action >= 0:
        return action
    drawn = draw_returns(count, mean, spread, unsolved, stream)
    leader = best_of(drawn, unsolved, stream)
    if unsolved.sum() == 1 or uniform(stream) < keep:  # alone it has no challenger
        return leader
    # A bounded number of times: where one action is far ahead, the others would hardly ever win.
    for _ in range(most):
        drawn = draw_returns(count, mean, spread, unsolved, stream)
        challenger = best_of(drawn, unsolved, stream)
        if challenger != leader:
            return challenger
    others = unsolved.copy()
    others[leader] = False
    return best_of(drawn, others, stream)


@final
class SuccessiveHalving:
    """Tries every unsolved action once, then better halves of them ever more often.

    Of K unsolved actions, round r = 0, 1, … of a phase looks at the best ⌈K / 2^r⌉ by mean, and
    each of them must have been tried q·(2^(r+1) − 1) times: q in round 0, and twice as often as in
    the round before in each later one. A phase ends with the round in which two are left (one, if
    there is only one). The doubling trick then starts the next phase, with all K and twice the
    quota q.

    The statistics say where in this schedule a node is: the quota is the largest power of two that
    no unsolved action falls short of, and the first round that somebody falls short of is the
    current one. Tries from earlier phases count, so a phase costs only what it adds; and since a
    phase starts with all actions, none waits for ever, also when others become solved and K
    shrinks.
    """

    def choose(self, statistics: ActionStatistics, generator: np.random.Generator) -> int:
        """Return an unsolved action (Karnin, Koren and Somekh 2013, but anytime and stateless)."""
        count, mean, _, unsolved, *_ = statistics
        return int(_halving(count, mean, unsolved, generator.random()))


@njit
def _halving(count: Counts, mean: Values, unsolved: Mask, seed: float) -> int:
    action, stream = first_try(count, unsolved, seed)
    if action >= 0:
        return action
    ranking = _ranking(count, mean, unsolved, stream)
    quota = 1  # what all have been tried says which phase this is
    while quota * 2 <= count[ranking].min():
        quota *= 2
    survivors = ranking.shape[0]
    target = quota
    while survivors > 2:
        survivors = (survivors + 1) // 2
        target = 2 * target + quota
        least_tried = ranking[np.argmin(count[ranking[:survivors]])]
        if count[least_tried] < target:
            return int(least_tried)
    return int(ranking[np.argmin(count[ranking])])  # round 0 of the next phase


@njit
def _ranking(count: Counts, mean: Values, unsolved: Mask, stream: Stream) -> Counts:
    """Unsolved actions, best mean first, among equals most tried, then at random.

    So survivors stay survivors; the sorts keep the order of what they find equal.
    """
    # Shuffled (Fisher and Yates), then sorted by tries, then by mean: the last sort counts most.
    ranking = np.flatnonzero(unsolved)
    for last in range(ranking.shape[0] - 1, 0, -1):
        other = int(uniform(stream) * (last + 1))
        ranking[last], ranking[other] = ranking[other], ranking[last]
    ranking = ranking[np.argsort(-count[ranking], kind="mergesort")]
    return ranking[np.argsort(-mean[ranking], kind="mergesort")]
