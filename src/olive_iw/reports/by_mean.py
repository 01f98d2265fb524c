"""Wins by the higher mean: against everything published, and between ours on equal terms.

The paper counts so where others publish means only. A higher score may come of earning more or of
living longer, so pairs of our systems are also compared at equal lengths and by points an action.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

from olive_iw import stats
from olive_iw.reports.layout import chance_cell, tally_cell
from olive_iw.reports.published import PAPER_SYSTEMS, Scored, published, published_names
from olive_iw.reports.results import EpisodeRow, System, by_game
from olive_iw.stats import Tally
from olive_iw.tables import EMPTY, Cell, Table, number_cell

CAPS = (300, 1_200, 4_500, 18_000)
"""Actions at which the scores of longer episodes are compared too; 1,200 are five minutes."""


def published_table(groups: Sequence[System]) -> Table | None:
    """Games won, lost and equal against every published column that shares a game; else None."""
    rows = []
    for other in map(published, published_names()):
        tallies = [stats.tally_by_mean(stats.means(system.scores), other.mean) for system in groups]
        if any(tally.games for tally in tallies):
            found = [cell for one in tallies for cell in (tally_cell(one), chance_cell(one))]
            rows.append([Cell(other.label), number_cell(other.budget.max_actions), *found])
    if not rows:
        return None
    heads = [head for system in groups for head in (system.label, "p")]
    notes = (
        "Games in which our mean is higher–lower–equal, of all that both have. p: two-sided sign "
        "test of the games won and lost. Cap: actions an episode, where known; ours: "
        + "; ".join(f"{one.label} {one.budget.max_actions or 0:,}" for one in groups)
        + ".",
    )
    return Table("Wins by mean against published scores", ("against", "cap", *heads), rows, notes)


def best_table(groups: Sequence[System]) -> Table | None:
    """Count the games in which each of the paper's planners and one of ours is best; or None.

    The paper does so of its own three, by mean and by the highest score of an episode.
    """
    papers = [published(name) for name in PAPER_SYSTEMS]
    rows = []
    for system in groups:
        group: list[Scored] = [system, *papers]
        for measure in ("mean", "maximum"):
            values = {
                one.label: {game: getattr(it, measure) for game, it in one.summaries.items()}
                for one in group
            }
            counts = list(stats.best_in_group(values).values())
            if any(counts):
                rows.append([Cell(f"{system.label}, {measure}"), *map(number_cell, counts)])
    columns = ("ours and the paper's", "ours", *(one.label for one in papers))
    note = (
        "Games in which each has the highest mean, or the highest score of an episode, of those "
        "that all four have; equals count for all. The paper's maxima are of 50 episodes, and its "
        "cap is 18,000 actions."
    )
    return Table("Best in group", columns, rows, [note]) if rows else None


def at_shorter_length(one: System, other: System) -> Tally:
    """Compare scores at equal lengths: every two episodes after the actions of the shorter one."""
    ours, theirs = _episodes(one), _episodes(other)
    balance = {
        game: sum(
            mine.score_after(length) - its.score_after(length)
            for mine in ours[game]
            for its in theirs[game]
            for length in [min(mine.actions, its.actions)]
        )
        for game in ours
        if game in theirs
    }
    return stats.tally_by_mean(balance, dict.fromkeys(balance, 0.0))


def per_action(system: System) -> dict[str, float]:
    """Game -> points an action, over all episodes."""
    return {
        game: sum(row.score for row in rows) / max(1, sum(row.actions for row in rows))
        for game, rows in _episodes(system).items()
    }


def met_cap(system: System) -> set[str]:
    """Games in which an episode was still going on at the cap."""
    return {row.game for row in system.episodes if row.actions == system.budget.max_actions}


def means_at(system: System, cap: int) -> dict[str, float]:
    """Game -> mean score after at most so many actions: that of the same play under this cap."""
    return stats.means(by_game((row.game, row.score_after(cap)) for row in system.episodes))


def without(means: Mapping[str, float], games: set[str]) -> dict[str, float]:
    """Leave games out."""
    return {game: mean for game, mean in means.items() if game not in games}


def terms_table(groups: Sequence[System]) -> Table | None:
    """Games won by mean between every two of ours, on several terms; None for a single system."""
    # The longest cap needs no column of its own: under it scores are those of whole episodes.
    caps = [cap for cap in sorted({*map(_cap, groups), *CAPS}) if cap < max(map(_cap, groups))]
    rows = []
    for one, other in combinations(groups, 2):
        ours, theirs = stats.means(one.scores), stats.means(other.scores)
        cut, shortest = met_cap(one) | met_cap(other), min(_cap(one), _cap(other))
        tallies = [
            stats.tally_by_mean(ours, theirs),
            at_shorter_length(one, other),
            stats.tally_by_mean(per_action(one), per_action(other)),
            stats.tally_by_mean(without(ours, cut), theirs),
        ]
        if tallies[0].games:
            early = [
                tally_cell(stats.tally_by_mean(means_at(one, cap), means_at(other, cap)))
                if cap <= shortest
                else EMPTY
                for cap in caps
            ]
            rows.append([Cell(one.label), Cell(other.label), *map(tally_cell, tallies), *early])
    if not rows:
        return None
    terms = ("score", "equal length", "per action", "no cap met")
    columns = ("system", "against", *terms, *(f"after {cap:,}" for cap in caps))
    note = (
        "Games won–lost–equal by mean. Score: of whole episodes. Equal length: every two episodes "
        "after the actions of the shorter one. Per action: points by actions, so that living on "
        "does not count. No cap met: of games in which no episode of either was cut off. After: "
        "the same play ended after so many actions."
    )
    return Table("Wins by mean, on equal terms", columns, rows, [note], left=frozenset({0, 1}))


def _cap(system: System) -> int:
    return system.budget.max_actions or 0


def _episodes(system: System) -> dict[str, list[EpisodeRow]]:
    games: dict[str, list[EpisodeRow]] = {}
    for row in system.episodes:
        games.setdefault(row.game, []).append(row)
    return games
