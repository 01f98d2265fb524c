"""The tables of the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from olive_iw import stats
from olive_iw.randomness import generator
from olive_iw.reports.evidence.gather import (
    MOST,
    SURVEYED,
    Evidence,
    capped,
    log_ratios,
    mean_scores,
    normalised_means,
)
from olive_iw.reports.layout import (
    EMPTY,
    MINUS,
    Cell,
    Table,
    game_title,
    interval_cell,
    number_cell,
    plain,
    score_cell,
)
from olive_iw.reports.paper_tables import BOOTSTRAP_SEED
from olive_iw.reports.published import Scored
from olive_iw.reports.results import System
from olive_iw.reports.run_tables import call_cells, call_figures
from olive_iw.stats import METRICS, Summary, Tally

AGGREGATES = ("interquartile mean", "median", "mean")
WORST = 12
"""Games that are told of where we are behind."""
SHOWN_FIGURES = ("calls", "rollouts", "depth", "unused", "twins", "tied")
"""Of where the calls went, what is told beside scores."""


def scores_table(evidence: Evidence) -> Table:
    """Every game in the layout of the paper's Table 3; the first rows say caps and episodes."""
    beside = [*evidence.paper, *evidence.same_cap]
    systems: list[Scored] = [*evidence.shown, *beside]
    known = [system.summaries for system in systems]
    ours = len(evidence.shown)
    caps = [number_cell(system.budget.max_actions) for system in systems]
    counts = [sorted({one.count for one in summaries.values()}) for summaries in known]
    rows = [
        [Cell("cap of an episode, actions"), *caps],
        [Cell("episodes a game"), *map(_range_cell, counts)],
    ]
    for game in evidence.games:
        found = [summaries.get(game) for summaries in known]
        played = [summary.mean for summary in found[:ours] if summary]
        best = max(played) if len(played) > 1 else None
        cells = [
            score_cell(summary, _told(summary, each), place < ours and summary.mean == best)
            if summary
            else EMPTY
            for place, (summary, each) in enumerate(zip(found, counts, strict=True))
        ]
        rows.append([Cell(game_title(game)), *cells])
    notes = [
        "Mean score ± standard error, where it is known. Bold: the best of ours. Scores under "
        "different caps do not compare: where points are never lost, one under the shorter cap is "
        "at most what the same play would have under the longer.",
        *(f"{system.label}: {system.budgets}. {system.source}." for system in beside),
    ]
    columns = ("game", *(system.label for system in systems))
    return Table("Scores by game", columns, rows, notes)


def _told(summary: Summary, counts: Sequence[int]) -> int:
    """Episodes to be written beside a score: none where a row tells them."""
    return summary.count if 1 < len(counts) < 4 else 0


def _range_cell(counts: Sequence[int]) -> Cell:
    if not counts or counts[-1] == 0:
        return EMPTY
    spread = f"{counts[0]} to " * (len(counts) > 1)
    return Cell(f"{spread}{counts[-1]}", counts[-1])


def survey_table(evidence: Evidence) -> Table | None:
    """Every system of ours on the games that all play, and below them the paper's."""
    if len(evidence.surveyed) < 2:
        return None
    rows: list[list[Cell]] = []
    systems: list[Scored] = [*evidence.surveyed, *evidence.paper]
    for place, system in enumerate(systems):
        known = [system.summaries.get(game) for game in SURVEYED]
        own = place < len(evidence.surveyed)
        scores = [score_cell(it, it.count if it and own else 0) for it in known]
        rows.append([Cell(system.label), number_cell(system.budget.max_actions), *scores])
    notes = [
        "Mean score ± standard error (episodes). Some may well look bad: they are what the others "
        "are measured by."
    ]
    if any("frame_skip" in system.variant for system in evidence.surveyed):
        notes[0] += (
            " Most systems from before 2018 held an action for 5 frames; here all hold it for 15, "
            "so that the same calls look as far ahead (frame_skip=15 in a name)."
        )
    columns = ("system", "cap", *(game_title(game) for game in SURVEYED))
    return Table("All our systems, on three games", columns, rows, notes)


def tally_cell(tally: Tally) -> Cell:
    """Print won–lost–equal."""
    if not tally.games:
        return EMPTY
    return Cell(f"{tally.wins}–{tally.losses}–{tally.ties}", tally.wins)


def wins_table(evidence: Evidence) -> Table:
    """Games won, lost and equal by mean: each of ours against all others."""
    others: list[Scored] = [*evidence.shown, *evidence.paper, *evidence.same_cap]
    means = {system.label: mean_scores(system) for system in others}
    rows = []
    for system in evidence.shown:
        tallies = [
            Tally({}) if other is system else stats.tally_by_mean(means[system.label], scores)
            for other, scores in zip(others, means.values(), strict=True)
        ]
        rows.append([Cell(system.label), *map(tally_cell, tallies)])
    note = "Won–lost–equal by mean score, of the games that both have. The paper's caps are longer."
    return Table("Wins by mean", ("row against column", *means), rows, [note])


def uncapped_table(evidence: Evidence) -> Table | None:
    """Count wins against the paper alone, in games that were over before our cap."""
    rows = []
    for system in evidence.shown:
        ended = [game for game, cut in capped(system).items() if not cut]
        own = mean_scores(system)
        own = {game: own[game] for game in ended}
        tallies = [stats.tally_by_mean(own, mean_scores(one)) for one in evidence.paper]
        rows.append([Cell(system.label), number_cell(len(ended)), *map(tally_cell, tallies)])
    if not rows:
        return None
    columns = ("row against column", "games", *(one.label for one in evidence.paper))
    note = "Here our cap cut nothing off: all our episodes of these games ended by game over."
    return Table("Wins by mean where the game was over before the cap", columns, rows, [note])


def aggregates_table(evidence: Evidence) -> Table:
    """Human-normalised aggregates of every system, over its games among those that ours played."""
    rows, games = [], set(evidence.games)
    systems: list[Scored] = [*evidence.shown, *evidence.paper, *evidence.same_cap]
    for place, system in enumerate(systems):
        scores = {g: score for g, score in normalised_means(system).items() if g in games}
        if not scores:
            continue
        found = [
            stats.interval_over_games(scores, METRICS[name], generator(BOOTSTRAP_SEED, place, n))
            for n, name in enumerate(AGGREGATES)
        ]
        cap, count = number_cell(system.budget.max_actions), Cell(str(len(scores)), len(scores))
        rows.append([Cell(system.label), cap, count, *map(interval_cell, found)])
    note = (
        "0 is random play, 1 a human tester. In brackets 95% by a bootstrap over games: how much "
        "the figure depends on which games were played, not on the luck of an episode. Rows of "
        "different numbers of games do not compare; the next table compares pairs."
    )
    columns = ("system", "cap", "games", *AGGREGATES)
    return Table("Human-normalised scores", columns, rows, [note])


def pairs_table(evidence: Evidence) -> Table:
    """Human-normalised aggregates of pairs, on the games that both sides have."""
    pairs: list[tuple[Scored, Scored]] = [
        (one, other) for other, one in combinations(evidence.shown, 2)
    ]
    published = [*evidence.same_cap, *evidence.paper]
    pairs += [(one, other) for one in evidence.shown for other in published]
    rows = []
    for one, other in pairs:
        found = [compared(one, other, name) for name in AGGREGATES]
        cells = [
            Cell(f"{pair.first:.2f} / {pair.second:.2f}".replace("-", MINUS), pair.first)
            for pair in found
            if pair
        ]
        if first := found[0]:
            name, games = f"{one.label} / {other.label}", len(first.games)
            gap = interval_cell(first.difference)
            rows.append([Cell(name), Cell(str(games), games), *cells, gap])
    note = "The last column: the difference of the interquartile means, with 95% over games."
    columns = ("pair", "games of both", *AGGREGATES, "difference")
    return Table("Pairs, on the games that both have", columns, rows, [note])


@dataclass(frozen=True, slots=True)
class Compared:
    """A human-normalised aggregate of two sides."""

    games: Sequence[str]
    """Those that both have, with reference scores."""
    first: float
    second: float
    difference: stats.Interval
    """Of the first above the second, over games."""


def compared(one: Scored, other: Scored, metric: str = AGGREGATES[0]) -> Compared | None:
    """Compare two sides by an aggregate on the games that both have; None if there are none."""
    sides = normalised_means(one), normalised_means(other)
    games = sorted(sides[0].keys() & sides[1].keys())
    if not games:
        return None
    measure, random = METRICS[metric], generator(BOOTSTRAP_SEED)
    first, second = (
        float(measure(stats.Strata.of({game: np.array([side[game]]) for game in games}))[0])
        for side in sides
    )
    return Compared(games, first, second, stats.difference_over_games(*sides, measure, random))


def behind_table(system: System, theirs: Scored) -> Table | None:
    """Games in which a system is furthest behind another, with what its planning came to."""
    ratios, figures, cut = log_ratios(system, theirs), call_figures(system), capped(system)
    worst = sorted((game for game in ratios if ratios[game] < 0.0), key=lambda g: ratios[g])
    if not worst:
        return None
    ours, other = mean_scores(system), mean_scores(theirs)
    rows = []
    for game in worst[:WORST]:
        actions = [row.counts["actions"] for row in system.episodes if row.game == game]
        mean_actions = plain(sum(actions) / len(actions))
        end = "at the cap" if cut[game] else f"over after {mean_actions}"
        told = {name: figures[game][name] for name in SHOWN_FIGURES}
        scores = [number_cell(side[game]) for side in (ours, other)]
        told_ratio = f"{2 ** ratios[game]:.2f}" if ratios[game] > -MOST else "below 1/64"
        ratio = Cell(told_ratio, ratios[game])
        rows.append([Cell(game_title(game)), *scores, ratio, Cell(end), *call_cells(told)])
    columns = ("game", system.label, theirs.label, "ratio", "our episode", *SHOWN_FIGURES)
    notes = [
        "Ratio: of the scores above random play, or above 0 where that is not known. The other "
        "columns as in the last table below."
    ]
    title = f"Where {system.label} is furthest behind {theirs.label}"
    return Table(title, columns, rows, notes, left=frozenset({0, 4}))


def versions_table(evidence: Evidence) -> Table:
    """Commit and packages of every system's runs."""
    rows, shown = [], [*evidence.shown, *evidence.surveyed]
    for version in evidence.versions:
        system = version.system
        packages = ", ".join(
            f"{name} {' and '.join(found)}" for name, found in version.packages.items()
        )
        games = len(system.run_means)
        counts = (system.budget.calls_per_action, games, len(system.episodes))
        used = "yes" if system in shown else "no"
        commits = ", ".join(commit[:10] for commit in version.made_with)
        cells = [Cell(system.label), *map(number_cell, counts), Cell(commits)]
        rows.append([*cells, Cell(used), Cell(packages)])
    notes = [
        "Runs of two commits are not taken together unless they play alike: of a system with two, "
        "the tables have the one with more games. Those of other calls per action are in the "
        "picture of calls alone. The commit says what was run: on the way to 0.2.0 the package "
        "still called itself 0.1.0."
    ]
    notes += [
        f"{commit[:10]} plays as {same.plays_as[:10]}: {same.why}"
        for commit, same in evidence.alike.items()
    ]
    columns = ("system", "calls/action", "games", "episodes", "commit", "in the tables", "packages")
    return Table("Versions", columns, rows, notes, left=frozenset({0, 4, 5, 6}))
