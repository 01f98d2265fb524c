"""The tables of the paper, made from results: win matrices, scores, maxima, seconds, aggregates."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from olive_iw.randomness import generator
from olive_iw.reports.groups import System, games_of
from olive_iw.reports.layout import EMPTY, Cell, Table
from olive_iw.reports.numbers import game_title, interval, plain, signed, with_error
from olive_iw.reports.published import (
    SIMULATOR_NOTE,
    PublishedScores,
    human_scores,
    random_scores,
)
from olive_iw.runs.verification import Outcome, Verification
from olive_iw.stats import (
    METRICS,
    Scores,
    Tally,
    best_in_group,
    bootstrap_interval,
    human_normalised,
    means,
    portfolio,
    probability_of_improvement,
    summarise,
    win_matrix,
)

BANDIT_ALGORITHMS = ("vae-iw-annealed", "vae-iw-max", "vae-iw-ucb1", "vae-iw-ttts")
PORTFOLIO_MEMBERS = ("olive-passive", "olive")
BOOTSTRAP_SEED = 0
"""Intervals of one set of runs are always the same."""

Wins = Mapping[tuple[str, str], int]
"""Wins of [row, column]."""


def wins_table(title: str, names: Sequence[str], wins: Wins, notes: Sequence[str] = ()) -> Table:
    """Matrix in the layout of the paper's Tables 1 and 2.

    A row's wins against a column; below the diagonal also wins minus losses.
    """
    rows = []
    for row_index, row in enumerate(names):
        cells = [Cell(row)]
        for column_index, column in enumerate(names):
            cells.append(_wins_cell(wins, row, column, column_index < row_index))
        rows.append(cells)
    return Table(title, ("win \\ loss", *names), rows, notes)


def _wins_cell(wins: Wins, row: str, column: str, below: bool) -> Cell:
    count = wins.get((row, column))
    if count is None:
        return EMPTY
    losses = wins.get((column, row))
    if not below or losses is None:
        return Cell(str(count), count)
    return Cell(f"{count} ({signed(count - losses)})", count)


def tallies_of(groups: Sequence[System]) -> dict[tuple[str, str], Tally]:
    """Significant wins of every pair that shares a game, and of the portfolio of both Olives."""
    matrix = win_matrix({system.label: system.scores for system in groups})
    first, second = (
        [system.label for system in groups if system.algorithm == name]
        for name in PORTFOLIO_MEMBERS
    )
    if len(first) == len(second) == 1:
        members = {first[0], second[0]}
        for other in (system.label for system in groups if system.label not in members):
            tally = portfolio(matrix[first[0], other], matrix[second[0], other])
            matrix["portfolio", other], matrix[other, "portfolio"] = tally, tally.reversed
    return {pair: tally for pair, tally in matrix.items() if tally.games}


def ablation_table(groups: Sequence[System]) -> Table:
    """Significant wins between all systems (Table 2 of the paper)."""
    matrix = tallies_of(groups)
    names = [system.label for system in groups]
    if any(row == "portfolio" for row, _ in matrix):
        names.append("portfolio")
    games = sorted({tally.games for tally in matrix.values()}) or [0]
    spread = " to ".join(str(count) for count in dict.fromkeys((games[0], games[-1])))
    spread += " game" if games == [1] else " games"
    notes = (
        f"Games won by the row against the column (Mann-Whitney U, two-sided p < 0.05, the higher "
        f"mean wins), of {spread} in common; in brackets wins minus losses.",
    )
    counts = {pair: tally.wins for pair, tally in matrix.items()}
    return wins_table("Wins and losses", names, counts, notes)


def bandit_table(groups: Sequence[System]) -> Table | None:
    """Significant wins between bandits (Table 1), if at least two of them were run."""
    chosen = [system for system in groups if system.algorithm in BANDIT_ALGORITHMS]
    if len(chosen) < 2:
        return None
    counts = {pair: tally.wins for pair, tally in tallies_of(chosen).items()}
    names = [system.label for system in chosen]
    return wins_table("Wins and losses between bandits", names, counts)


def scores_table(groups: Sequence[System], beside: Sequence[PublishedScores] = ()) -> Table:
    """Mean ± standard error of every game (Table 3), published scores beside ours."""
    ours = {system.label: means(system.scores) for system in groups}
    rows = []
    for game in games_of(groups):
        best = max(values[game] for values in ours.values() if game in values)
        cells = [Cell(game_title(game))]
        cells += [_score_cell(system.scores, game, best, len(groups) > 1) for system in groups]
        cells += [_published_cell(system, game) for system in beside]
        rows.append(cells)
    columns = ("game", *ours, *(system.title for system in beside))
    return Table(
        "Scores: mean ± standard error (episodes)",
        columns,
        rows,
        _score_notes(groups, ours, beside),
    )


def _score_cell(scores: Scores, game: str, best: float, mark: bool) -> Cell:
    if game not in scores:
        return EMPTY
    summary = summarise(scores[game])
    text = f"{with_error(summary.mean, summary.standard_error)} ({summary.count})"
    return Cell(text, summary.mean, bold=mark and summary.mean == best)


def _published_cell(system: PublishedScores, game: str) -> Cell:
    if game not in system.mean:
        return EMPTY
    mean = system.mean[game]
    return Cell(with_error(mean, system.standard_error.get(game)), mean)


def _score_notes(
    groups: Sequence[System],
    ours: Mapping[str, Mapping[str, float]],
    beside: Sequence[PublishedScores],
) -> list[str]:
    notes = [f"{system.label}: {system.budget}, {system.profile} profile." for system in groups]
    best = best_in_group(ours)
    if len(ours) > 1 and any(best.values()):
        counts = ", ".join(f"{name} {count}" for name, count in best.items())
        notes.append(f"Best of the games all systems played (bold): {counts}.")
    notes += [f"{system.title}: {system.budgets}. {system.source}." for system in beside]
    return notes + ([SIMULATOR_NOTE] if beside else [])


def _per_game(
    title: str, groups: Sequence[System], value: Callable[[System, str], float | None]
) -> Table:
    rows = []
    for game in games_of(groups):
        numbers = [value(system, game) for system in groups]
        cells = [EMPTY if number is None else Cell(plain(number), number) for number in numbers]
        rows.append([Cell(game_title(game)), *cells])
    return Table(title, ("game", *(system.label for system in groups)), rows)


def maxima_table(groups: Sequence[System]) -> Table:
    """Highest score of every game."""
    scores = {system.label: system.scores for system in groups}

    def highest(system: System, game: str) -> float | None:
        values = scores[system.label].get(game)
        return None if values is None else float(values.max())

    return _per_game("Highest score of an episode", groups, highest)


def seconds_table(groups: Sequence[System]) -> Table:
    """Mean seconds per action of every game."""
    seconds = {system.label: system.seconds_per_action for system in groups}
    return _per_game(
        "Seconds per action", groups, lambda system, game: seconds[system.label].get(game)
    )


def normalised(system: System) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    """Human-normalised mean score of every run, by game; games without reference are left out."""
    return human_normalised(system.run_means, random_scores(), human_scores())


def aggregates_table(groups: Sequence[System], samples: int = 2000) -> Table | None:
    """Human-normalised aggregates with 95% intervals; None if no game has reference scores."""
    rows = []
    left_out: set[str] = set()
    for system in groups:
        scores = normalised(system)
        left_out |= set(system.run_means) - set(scores)
        if not scores:
            rows.append([Cell(system.label), *[EMPTY] * (len(METRICS) + 1)])
            continue
        cells = [Cell(system.label)]
        for index, metric in enumerate(METRICS.values()):
            found = bootstrap_interval(scores, metric, generator(BOOTSTRAP_SEED, index), samples)
            cells.append(Cell(interval(found.point, found.low, found.high), found.point))
        cells.append(Cell(str(len(scores)), len(scores)))
        rows.append(cells)
    if all(row[-1] is EMPTY for row in rows):
        return None
    notes = [
        "0 is random play, 1 a human tester. Intervals: 95%, stratified bootstrap over runs "
        "(one run of a game gives no width). Optimality gap: lower is better."
    ]
    if left_out:
        notes.append(f"Without reference scores, and left out: {', '.join(sorted(left_out))}.")
    columns = ("system", *METRICS, "games")
    return Table("Human-normalised aggregates", columns, rows, notes)


def improvement_table(groups: Sequence[System], samples: int = 2000) -> Table | None:
    """Chance that a run of the row beats a run of the column; None for a single system."""
    if len(groups) < 2:
        return None
    scores = [system.run_means for system in groups]
    rows = []
    for row, system in enumerate(groups):
        cells = [Cell(system.label)]
        for column in range(len(groups)):
            if row == column or not set(scores[row]) & set(scores[column]):
                cells.append(EMPTY)
                continue
            found = probability_of_improvement(
                scores[row], scores[column], generator(BOOTSTRAP_SEED, row, column), samples
            )
            cells.append(Cell(interval(found.point, found.low, found.high), found.point))
        rows.append(cells)
    columns = ("row beats column", *(system.label for system in groups))
    return Table("Probability of improvement", columns, rows, ("95% intervals, as above.",))


def verification_table(found: Iterable[Verification]) -> Table:
    """Lay verifications out as a table, with warnings and differences as notes."""
    found = list(found)
    rows = [
        [
            Cell("/".join(one.path.parts[-5:])),
            Cell(one.outcome.value),
            EMPTY if one.score is None else Cell(f"{one.score:g}", one.score),
        ]
        for one in found
    ]
    notes = [one.message for one in found if not one.confirmed]
    notes += list(dict.fromkeys(f"warning: {line}" for one in found for line in one.warnings))
    counts = ", ".join(
        f"{sum(one.outcome is outcome for one in found)} {outcome.value}" for outcome in Outcome
    )
    return Table(
        "Episodes replayed",
        ("episode", "outcome", "score"),
        rows,
        [*notes, f"{counts}."],
        left=frozenset({0, 1}),
    )
