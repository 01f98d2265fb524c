"""Wins and losses between algorithms, counted over games as the paper does.

A game is won with significance if the two-sided Mann-Whitney U test gives p < 0.05; the higher
mean is the winner (section "Evaluation Criteria"). Where only means are published, the higher
mean wins.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import mannwhitneyu

from olive_iw.stats.summary import Scores, as_scores

SIGNIFICANCE = 0.05


class Verdict(Enum):
    """How the first of two algorithms did against the second on one game."""

    WIN = "win"
    LOSS = "loss"
    TIE = "tie"

    @property
    def reversed(self) -> "Verdict":
        """The same game seen from the other side."""
        return {Verdict.WIN: Verdict.LOSS, Verdict.LOSS: Verdict.WIN}.get(self, self)


@dataclass(frozen=True, slots=True)
class Tally:
    """Verdicts on every game that both sides played."""

    verdicts: Mapping[str, Verdict]

    def count(self, verdict: Verdict) -> int:
        """Games with this verdict."""
        return sum(found is verdict for found in self.verdicts.values())

    @property
    def wins(self) -> int:
        """Games won."""
        return self.count(Verdict.WIN)

    @property
    def losses(self) -> int:
        """Games lost."""
        return self.count(Verdict.LOSS)

    @property
    def ties(self) -> int:
        """Games neither won nor lost."""
        return self.count(Verdict.TIE)

    @property
    def games(self) -> int:
        """Games compared."""
        return len(self.verdicts)

    @property
    def reversed(self) -> "Tally":
        """The same games seen from the other side."""
        return Tally({game: verdict.reversed for game, verdict in self.verdicts.items()})


def _higher_wins(first: float, second: float) -> Verdict:
    if first == second:
        return Verdict.TIE
    return Verdict.WIN if first > second else Verdict.LOSS


def mann_whitney_p(first: ArrayLike, second: ArrayLike) -> float:
    """Two-sided p-value that both samples, shapes (n,) and (m,), have one distribution."""
    a, b = as_scores(first), as_scores(second)
    if np.ptp(np.concatenate([a, b])) == 0:  # the normal approximation would divide by zero
        return 1.0
    return float(mannwhitneyu(a, b, alternative="two-sided").pvalue)


def verdict_by_test(
    first: ArrayLike, second: ArrayLike, significance: float = SIGNIFICANCE
) -> Verdict:
    """Verdict of one game: the higher mean wins if the difference is significant."""
    if mann_whitney_p(first, second) >= significance:
        return Verdict.TIE
    return _higher_wins(float(as_scores(first).mean()), float(as_scores(second).mean()))


def tally_by_test(first: Scores, second: Scores, significance: float = SIGNIFICANCE) -> Tally:
    """Significant wins and losses of `first` against `second`, over the games both played."""
    shared = [game for game in first if game in second]
    return Tally(
        {game: verdict_by_test(first[game], second[game], significance) for game in shared}
    )


def tally_by_mean(first: Mapping[str, float], second: Mapping[str, float]) -> Tally:
    """Wins and losses by the higher mean alone; ties are exactly equal means."""
    return Tally(
        {game: _higher_wins(first[game], second[game]) for game in first if game in second}
    )


def portfolio(first: Tally, second: Tally) -> Tally:
    """Oracular portfolio of two algorithms against one opponent, as the paper defines it.

    It wins a game if either member wins, and loses it only if both lose. Games that one member
    did not play are left out: nothing is known of what it would have done.
    """
    verdicts = {}
    for game, one in first.verdicts.items():
        if game not in second.verdicts:
            continue
        pair = (one, second.verdicts[game])
        if Verdict.WIN in pair:
            verdicts[game] = Verdict.WIN
        else:
            verdicts[game] = Verdict.LOSS if pair == (Verdict.LOSS,) * 2 else Verdict.TIE
    return Tally(verdicts)


def win_matrix(
    algorithms: Mapping[str, Scores], significance: float = SIGNIFICANCE
) -> dict[tuple[str, str], Tally]:
    """Tally of every ordered pair of different algorithms: [(winner's row, loser's column)]."""
    names = list(algorithms)
    matrix: dict[tuple[str, str], Tally] = {}
    for index, row in enumerate(names):
        for column in names[index + 1 :]:
            tally = tally_by_test(algorithms[row], algorithms[column], significance)
            matrix[row, column] = tally
            matrix[column, row] = tally.reversed
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
