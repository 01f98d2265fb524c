"""The tables of the pages: few columns each; all else is in the files of numbers (`numbers`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

import numpy as np

from olive_iw import stats
from olive_iw.randomness import generator
from olive_iw.reports.by_mean import at_shorter_length, means_at, met_cap, per_action, without
from olive_iw.reports.layout import (
    chance_cell,
    game_title,
    interval_cell,
    per_game_table,
    score_cell,
    tally_cell,
)
from olive_iw.reports.paper_tables import BOOTSTRAP_SEED
from olive_iw.reports.published import PublishedScores, Scored, published
from olive_iw.reports.results import System
from olive_iw.reports.run_tables import call_cells, call_figures
from olive_iw.stats import METRICS, Summary
from olive_iw.tables import EMPTY, MINUS, Cell, Table, number_cell, plain
from results_page.gather import DEVELOPED, SURVEYED, Evidence
from results_page.measures import (
    MOST,
    capped,
    log_ratios,
    mean_scores,
    normalised_means,
    tally_of,
)
from results_page.over_games import difference_over_games, interval_over_games

AGGREGATES = ("interquartile mean", "median", "mean")
LONGER_CAPS = (1_200, 4_500, 9_000, 18_000)
"""Actions after which longer episodes are compared."""
WORST = 12
"""Games that are told of where we are behind."""
SHOWN_FIGURES = ("calls", "depth", "unused", "twins", "pruned", "tied")
"""Of where the calls went, what the page tells."""


def question_pairs(evidence: Evidence) -> list[tuple[Scored, Scored]]:
    """Pairs that the page asks about, as far as both were run: ours first."""
    rollout, patches, olive, plus = map(
        evidence.named, ("rollout-iw", "patch-iw", "olive", "olive-plus")
    )
    lead, papers = evidence.lead, published("olive")
    asked: list[tuple[Scored | None, Scored | None]] = [
        *((lead, papers), (olive, rollout), (papers, published("rollout-iw"))),
        *((olive, patches), (plus, patches), (plus, olive), (olive, papers)),
        *((lead, one) for one in evidence.same_cap),
    ]
    found = [(one, other) for one, other in asked if one and other and one is not other]
    return list({(one.label, other.label): (one, other) for one, other in found}.values())


def questions_table(evidence: Evidence) -> Table:
    """Games won and lost and normalised scores of every pair that the page asks about."""
    rows = []
    for one, other in question_pairs(evidence):
        whole, tested = tally_of(one, other), tally_of(one, other, DEVELOPED)
        ours = isinstance(one, System)
        chance = chance_cell(tested if ours else whole)
        names = Cell(one.label), Cell(other.label)
        tallies = tally_cell(whole), tally_cell(tested) if ours else EMPTY
        rows.append([*names, *tallies, chance, _pair_cell(compared(one, other))])
    columns = ("system", "against", "all games", "other games", "p", "normalised")
    return Table("Pairs", columns, rows, left=frozenset({0, 1}))


def _pair_cell(pair: "Compared | None") -> Cell:
    if pair is None:
        return EMPTY
    return Cell(f"{pair.first:.2f} / {pair.second:.2f}".replace("-", MINUS), pair.first)


def systems_table(evidence: Evidence) -> Table:
    """Human-normalised aggregates of every system, over its games among those that ours played."""
    rows, games = [], set(evidence.games)
    systems: list[Scored] = [*evidence.shown, *evidence.paper, *evidence.same_cap]
    for place, system in enumerate(systems):
        scores = {g: score for g, score in normalised_means(system).items() if g in games}
        if not scores:
            continue
        found = [
            interval_over_games(scores, METRICS[name], generator(BOOTSTRAP_SEED, place, n))
            for n, name in enumerate(AGGREGATES[:2])
        ]
        cap, count = number_cell(system.budget.max_actions), Cell(str(len(scores)), len(scores))
        middle, half = interval_cell(found[0]), number_cell(round(found[1].point, 2))
        rows.append([Cell(system.label), cap, count, middle, half])
    columns = ("system", "cap", "games", *AGGREGATES[:2])
    return Table("Human-normalised scores", columns, rows)


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
    return Compared(games, first, second, difference_over_games(*sides, measure, random))


def uncapped_table(evidence: Evidence) -> Table:
    """Count wins against the paper alone, in games that were over before our cap."""
    rows = []
    for system in evidence.shown:
        ended = [game for game, cut in capped(system).items() if not cut]
        own = {game: mean for game, mean in mean_scores(system).items() if game in ended}
        tallies = [stats.tally_by_mean(own, mean_scores(one)) for one in evidence.paper]
        rows.append([Cell(system.label), number_cell(len(ended)), *map(tally_cell, tallies)])
    columns = ("system", "games", *(one.label for one in evidence.paper))
    return Table("Wins by mean where the game was over before the cap", columns, rows)


def scores_table(evidence: Evidence) -> Table:
    """Scores of our systems with their own settings, and of the paper's Olive, by game."""
    ours = [system for system in evidence.shown if not system.variant]
    return _by_game(evidence, ours, [published("olive")])


def same_cap_table(evidence: Evidence) -> Table:
    """Scores of the system that the pictures are of, and of others with the same cap, by game."""
    return _by_game(evidence, [evidence.lead] if evidence.lead else [], evidence.same_cap)


def _by_game(
    evidence: Evidence, ours: Sequence[System], theirs: Sequence[PublishedScores]
) -> Table:
    """Mean ± standard error of several of ours, means of all others; the best of ours is bold."""
    systems: list[Scored] = [*ours, *theirs]
    known = [system.summaries for system in systems]
    caps = [number_cell(system.budget.max_actions) for system in systems]
    rows = [[Cell("cap, actions"), *caps]]
    for game in evidence.games:
        found = [summaries.get(game) for summaries in known]
        means = [summary.mean for summary in found[: len(ours)] if summary]
        best = max(means) if len({*means}) > 1 else None
        cells = [number_cell(summary.mean if summary else None) for summary in found]
        if len(ours) > 1:
            cells[: len(ours)] = [_score(summary, best) for summary in found[: len(ours)]]
        rows.append([Cell(game_title(game)), *cells])
    return Table("Scores", ("game", *(system.label for system in systems)), rows)


def _score(summary: Summary | None, best: float | None) -> Cell:
    return score_cell(summary, bold=summary is not None and summary.mean == best)


def look_up_table(asked: Sequence[tuple[Scored, Scored]]) -> Table:
    """Games won and lost by score, at equal lengths, per action, and where no cap was met."""
    rows = []
    for one, other in asked:
        whole = stats.tally_by_mean(mean_scores(one), mean_scores(other))
        cells = [tally_cell(whole), chance_cell(whole), EMPTY, EMPTY, EMPTY]
        if isinstance(one, System) and isinstance(other, System):
            cut = met_cap(one) | met_cap(other)
            ended = stats.tally_by_mean(without(mean_scores(one), cut), mean_scores(other))
            rates = stats.tally_by_mean(per_action(one), per_action(other))
            equal = at_shorter_length(one, other)
            cells[2:] = map(tally_cell, (equal, rates, ended))
        rows.append([Cell(one.label), Cell(other.label), *cells])
    columns = ("system", "against", "score", "p", "equal length", "per action", "no cap met")
    return Table("Look-up", columns, rows, left=frozenset({0, 1}))


def caps_table(evidence: Evidence) -> Table | None:
    """Games won and lost if the same play is ended sooner: ours against ours and the paper's."""
    pairs: list[tuple[System, Scored]] = [(b, a) for a, b in combinations(evidence.long, 2)]
    pairs += [(one, paper) for one in evidence.long for paper in evidence.paper]
    rows = []
    for one, other in pairs:
        tallies = [
            stats.tally_by_mean(
                means_at(one, cap),
                means_at(other, cap) if isinstance(other, System) else mean_scores(other),
            )
            for cap in LONGER_CAPS
        ]
        rows.append([Cell(one.label), Cell(other.label), *map(tally_cell, tallies)])
    columns = ("system", "against", *(f"{cap:,}" for cap in LONGER_CAPS))
    return Table("By cap", columns, rows, left=frozenset({0, 1})) if rows else None


def two_caps_table(evidence: Evidence) -> Table | None:
    """Scores by game at the cap of five minutes and at the paper's, and the paper's own."""
    if not evidence.long:
        return None
    short = evidence.protocol.max_actions
    columns: dict[str, Mapping[str, float]] = {}
    for one in evidence.long:
        columns[f"{one.label}, {short:,}"] = means_at(one, short)
        columns[f"{one.label}, {one.budget.max_actions:,}"] = mean_scores(one)
    columns |= {one.label: one.mean for one in evidence.paper}
    games = sorted({game for one in evidence.long for game in one.run_means})
    return per_game_table("Two caps", games, columns)


def survey_table(evidence: Evidence) -> Table:
    """Every system of ours on the games that all play, and below them the paper's."""
    rows: list[list[Cell]] = []
    systems: list[Scored] = [*evidence.surveyed, *evidence.paper]
    for system in systems:
        scores = [score_cell(system.summaries.get(game)) for game in SURVEYED]
        rows.append([Cell(system.label), *scores])
    columns = ("system", *(game_title(game) for game in SURVEYED))
    return Table("All our systems, on three games", columns, rows)


def behind_table(system: System, theirs: Scored) -> Table:
    """Games in which a system is furthest behind another."""
    ratios, cut = log_ratios(system, theirs), capped(system)
    worst = sorted((game for game in ratios if ratios[game] < 0.0), key=lambda g: ratios[g])
    ours, other = mean_scores(system), mean_scores(theirs)
    rows = []
    for game in worst[:WORST]:
        actions = [row.actions for row in system.episodes if row.game == game]
        over = f"over after {plain(sum(actions) / len(actions))}"
        end = Cell("at the cap" if cut[game] else over)
        scores = [number_cell(side[game]) for side in (ours, other)]
        told_ratio = f"{2 ** ratios[game]:.2f}" if ratios[game] > -MOST else "below 1/64"
        rows.append([Cell(game_title(game)), *scores, Cell(told_ratio, ratios[game]), end])
    columns = ("game", system.label, theirs.label, "ratio", "our episode")
    return Table("Furthest behind", columns, rows, left=frozenset({0, 4}))


def calls_table(evidence: Evidence) -> Table:
    """Where the calls of every system went: medians over its games."""
    rows = [[Cell(one.label), *_medians(call_figures(one))] for one in evidence.shown]
    return Table("Where the calls went", ("system", *SHOWN_FIGURES), rows)


def calls_behind_table(system: System, theirs: Scored) -> Table | None:
    """Compare where calls went in games behind and in others; None if there are none on a side."""
    ratios, figures = log_ratios(system, theirs), call_figures(system)
    sides = {
        "behind": [game for game in ratios if ratios[game] < 0.0],
        "ahead or equal": [game for game in ratios if ratios[game] >= 0.0],
    }
    if not all(sides.values()):
        return None
    rows = []
    for name, games in sides.items():
        cells = _medians({game: figures[game] for game in games})
        rows.append([Cell(name), number_cell(len(games)), *cells])
    return Table("Behind and ahead", (system.label, "games", *SHOWN_FIGURES), rows)


def _medians(figures: Mapping[str, Mapping[str, float | None]]) -> list[Cell]:
    """Medians over games of what is told, of the games in which it was recorded."""
    told: dict[str, float | None] = {}
    for name in SHOWN_FIGURES:
        known = [value for one in figures.values() if (value := one[name]) is not None]
        told[name] = median(known) if known else None
    return call_cells(told)
