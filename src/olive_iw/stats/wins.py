"""Wins and losses between algorithms, counted over games as the paper does.

A game is won with significance if the two-sided Mann-Whitney U test gives p < 0.05; the higher
mean is the winner (section "Evaluation Criteria"). Where only means are published, the higher
mean wins. docs/fidelity.md says at which p the published counts were very likely made.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from olive_iw.errors import InputError
from olive_iw.stats import distributions
from olive_iw.stats.summary import Scores, as_scores

SIGNIFICANCE = 0.05


class Verdict(IntEnum):
    """How the first of two algorithms did against the second on one game; more is better."""

    LOSS = -1
    TIE = 0
    WIN = 1

    @classmethod
    def of(cls, first: float, second: float) -> "Verdict":
        """Say whether the first is higher."""
        return cls((first > second) - (first < second))


@dataclass(frozen=True, slots=True)
class Tally:
    """Verdicts on every game that both sides played."""

    verdicts: Mapping[str, Verdict]

    @property
    def wins(self) -> int:
        """Games won."""
        return list(self.verdicts.values()).count(Verdict.WIN)

    @property
    def losses(self) -> int:
        """Games lost."""
        return list(self.verdicts.values()).count(Verdict.LOSS)

    @property
    def ties(self) -> int:
        """Games neither won nor lost."""
        return self.games - self.wins - self.losses

    @property
    def games(self) -> int:
        """Games compared."""
        return len(self.verdicts)

    @property
    def reversed(self) -> "Tally":
        """The same games seen from the other side."""
        return Tally({game: Verdict(-verdict) for game, verdict in self.verdicts.items()})


def check_significance(p: float) -> None:
    """Refuse what cannot be a level of significance."""
    if not 0.0 < p < 1.0:
        raise InputError(f"significance {p:g} is not possible; it must lie between 0 and 1")


def mann_whitney_p(first: ArrayLike, second: ArrayLike) -> float:
    """Two-sided p-value that both samples, shapes (n,) and (m,), have one distribution."""
    a, b = as_scores(first), as_scores(second)
    if np.ptp(np.concatenate([a, b])) == 0:  # the normal approximation would divide by zero
        return 1.0
    return distributions.mann_whitney_p(a, b)


def verdict_by_test(
    first: ArrayLike, second: ArrayLike, significance: float = SIGNIFICANCE
) -> Verdict:
    """Verdict of one game: the higher mean wins if the difference is significant."""
    if mann_whitney_p(first, second) >= significance:
        return Verdict.TIE
    return Verdict.of(float(as_scores(first).mean()), float(as_scores(second).mean()))


def tally_by_test(first: Scores, second: Scores, significance: float = SIGNIFICANCE) -> Tally:
    """Significant wins and losses of `first` against `second`, over the games both played."""
    shared = [game for game in first if game in second]
    verdicts = {game: verdict_by_test(first[game], second[game], significance) for game in shared}
    return Tally(verdicts)


def tally_by_mean(first: Mapping[str, float], second: Mapping[str, float]) -> Tally:
    """Wins and losses by the higher mean alone; ties are exactly equal means."""
    return Tally({game: Verdict.of(first[game], second[game]) for game in first if game in second})


def sign_test_p(tally: Tally) -> float:
    """Two-sided p of so many wins and losses if each were a coin's; ties are left out."""
    return distributions.coin_p(tally.wins, tally.losses)


def portfolio(first: Tally, second: Tally) -> Tally:
    """Oracular portfolio of two algorithms against one opponent, as the paper defines it.

    It wins a game if either member wins, and loses it only if both lose: the better verdict.
    Games that one member did not play are left out: nothing is known of what it would have done.
    """
    shared = [game for game in first.verdicts if game in second.verdicts]
    return Tally({game: max(first.verdicts[game], second.verdicts[game]) for game in shared})


def win_matrix(
    algorithms: Mapping[str, Scores], significance: float = SIGNIFICANCE
) -> dict[tuple[str, str], Tally]:
    """Tally of every ordered pair of different algorithms: [(winner's row, loser's column)]."""
    matrix: dict[tuple[str, str], Tally] = {}
    for (row, one), (column, other) in combinations(algorithms.items(), 2):
        tally = tally_by_test(one, other, significance)
        matrix |= {(row, column): tally, (column, row): tally.reversed}
    return matrix


def best_in_group(group: Mapping[str, Mapping[str, float]]) -> dict[str, int]:
    """Games on which each algorithm has the highest value, ties counting for all that tie.

    Only games that every algorithm of the group has are counted.
    """
    shared = set.intersection(*(set(values) for values in group.values())) if group else set()
    best = {game: max(values[game] for values in group.values()) for game in shared}
    return {
        name: sum(values[game] == best[game] for game in shared) for name, values in group.items()
    }
