"""What the tables and sentences are about: means, normalised means, ratios, who won what."""

import math
from collections.abc import Collection
from dataclasses import replace

from olive_iw import stats
from olive_iw.reports.by_mean import met_cap
from olive_iw.reports.published import PublishedScores, Scored, human_scores, random_scores
from olive_iw.reports.results import System
from olive_iw.stats import Tally


def mean_scores(system: Scored) -> dict[str, float]:
    """Mean score of every game."""
    return {game: summary.mean for game, summary in system.summaries.items()}


def normalised_means(system: Scored) -> dict[str, float]:
    """Human-normalised mean of every game that has references: 0 random play, 1 a human."""
    random, human = random_scores(), human_scores()
    return {
        game: (mean - random[game]) / (human[game] - random[game])
        for game, mean in mean_scores(system).items()
        if game in random and game in human
    }


def above_random(system: Scored) -> dict[str, float]:
    """Mean score of every game less that of random play, 0 where that is not known."""
    random = random_scores()
    return {game: mean - random.get(game, 0.0) for game, mean in mean_scores(system).items()}


def capped(system: System) -> dict[str, bool]:
    """Of every game: whether an episode was still going on at the cap."""
    cut = met_cap(system)
    return {game: game in cut for game in sorted(system.run_means)}


def within(system: System, games: Collection[str]) -> System:
    """Leave of a system the runs of some games."""
    return replace(system, runs=[run for run in system.runs if run.game in games])


MOST = 6.0
"""Largest logarithm, to the base 2, of a ratio that is told."""


def log_ratios(ours: Scored, theirs: Scored) -> dict[str, float]:
    """Logarithm to the base 2 of the ratio of two scores above random play, by game.

    A side that is no better than random play makes it ±`MOST`, which no other ratio exceeds; where
    both are, there is none.
    """
    one, other = above_random(ours), above_random(theirs)
    found = {}
    for game in sorted(one.keys() & other.keys()):
        if one[game] > 0.0 and other[game] > 0.0:
            found[game] = max(-MOST, min(MOST, math.log2(one[game] / other[game])))
        elif one[game] > 0.0 or other[game] > 0.0:
            found[game] = math.copysign(MOST, one[game] - other[game])
    return found


def tally_of(one: Scored, other: Scored, without: Collection[str] = ()) -> Tally:
    """Wins and losses by mean, in all games but some."""
    own = {game: mean for game, mean in mean_scores(one).items() if game not in without}
    return stats.tally_by_mean(own, mean_scores(other))


def keeps_pace(system: System, theirs: PublishedScores) -> set[str]:
    """Games in which our score per action of the cap is at least theirs of their own, longer cap.

    There our score would reach theirs if the play went on at the same pace.
    """
    own_cap, their_cap = system.budget.max_actions, theirs.budget.max_actions
    if own_cap is None or their_cap is None:
        return set()
    ours, others = mean_scores(system), mean_scores(theirs)
    return {
        game
        for game in ours.keys() & others.keys()
        if ours[game] > 0.0 and ours[game] / own_cap >= others[game] / their_cap
    }
