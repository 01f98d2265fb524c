"""The tables of the paper, made from results: win matrices, scores, maxima, aggregates."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from olive_iw import stats
from olive_iw.randomness import generator
from olive_iw.reports.layout import game_title, interval_cell, per_game_table, score_cell
from olive_iw.reports.published import (
    SIMULATOR_NOTE,
    PublishedScores,
    Scored,
    caps_note,
    normalised,
    published_wins,
)
from olive_iw.reports.results import System, games_of
from olive_iw.stats import SIGNIFICANCE
from olive_iw.tables import EMPTY, Cell, Table, counted, signed

BANDIT_ALGORITHMS = ("vae-iw-annealed", "vae-iw-max", "vae-iw-ucb1", "vae-iw-ttts")
PORTFOLIO_MEMBERS = ("olive-passive", "olive")
BOOTSTRAP_SEED = 0
"""Intervals of one set of runs are always the same."""


def wins_table(
    title: str,
    names: Sequence[str],
    wins: Mapping[tuple[str, str], int],
    notes: Sequence[str] = (),
) -> Table:
    """Matrix in the layout of the paper's Tables 1 and 2; `wins` is by (row, column).

    A row's wins against a column; below the diagonal also wins minus losses.
    """
    rows = []
    for index, row in enumerate(names):
        cells = [Cell(row)]
        for place, column in enumerate(names):
            count, losses = wins.get((row, column)), wins.get((column, row))
            if count is None:
                cells.append(EMPTY)
                continue
            text = str(count)
            if place < index and losses is not None:
                text += f" ({signed(count - losses)})"
            cells.append(Cell(text, count))
        rows.append(cells)
    return Table(title, ("win \\ loss", *names), rows, notes)


def tallies_of(
    groups: Sequence[System], significance: float = SIGNIFICANCE
) -> dict[tuple[str, str], stats.Tally]:
    """Significant wins of every pair that shares a game, and of the portfolio of both Olives."""
    matrix = stats.win_matrix({system.label: system.scores for system in groups}, significance)
    members = [system for system in groups if system.algorithm in PORTFOLIO_MEMBERS]
    kinds = {(system.profile, system.variant) for system in members}
    # As in the paper: of both Olives, and only of those that are alike but for their selection.
    if tuple(system.algorithm for system in members) == PORTFOLIO_MEMBERS and len(kinds) == 1:
        first, second = (system.label for system in members)
        for other in (system.label for system in groups if system not in members):
            tally = stats.portfolio(matrix[first, other], matrix[second, other])
            matrix["portfolio", other], matrix[other, "portfolio"] = tally, tally.reversed
    return {pair: tally for pair, tally in matrix.items() if tally.games}


def ablation_table(
    groups: Sequence[System], significance: float = SIGNIFICANCE, title: str = "Wins and losses"
) -> Table | None:
    """Significant wins between all systems (Table 2); None for a single system."""
    if len(groups) < 2:
        return None
    matrix = tallies_of(groups, significance)
    names = [system.label for system in groups]
    if any(row == "portfolio" for row, _ in matrix):
        names.append("portfolio")
    games = sorted({tally.games for tally in matrix.values()}) or [0]
    spread = f"{games[0]} to " * (len(games) > 1) + counted(games[-1], "game")
    notes = (
        "Games won by the row against the column (Mann-Whitney U, two-sided "
        f"p < {significance:g}, the higher mean wins), of {spread} in common; in brackets wins "
        "minus losses.",
    )
    counts = {pair: tally.wins for pair, tally in matrix.items()}
    return wins_table(title, names, counts, notes)


def bandit_table(groups: Sequence[System], significance: float = SIGNIFICANCE) -> Table | None:
    """Significant wins between bandits (Table 1), if at least two of them were run."""
    chosen = [system for system in groups if system.algorithm in BANDIT_ALGORITHMS]
    return ablation_table(chosen, significance, "Wins and losses between bandits")


def printed_wins(groups: Sequence[System]) -> dict[str, Table]:
    """Show the paper's own counts of wins, of those algorithms of these systems that it has."""
    titles = {
        "paper_ablation_wins.csv": "Wins and losses, as the paper prints them",
        "paper_bandit_wins.csv": "Wins and losses between bandits, as the paper prints them",
    }
    known = {system.algorithm for system in groups} | {"portfolio"}
    made = {}
    for file, title in titles.items():
        wins = published_wins(file)
        names = [name for name in dict.fromkeys(row for row, _ in wins) if name in known]
        if len({*names} - {"portfolio"}) > 1:
            note = "Of 55 games, 50 episodes each; very likely at a two-sided p < 0.10."
            made[file.removesuffix(".csv")] = wins_table(title, names, wins, [note])
    return made


def scores_table(groups: Sequence[System], beside: Sequence[PublishedScores] = ()) -> Table:
    """Mean ± standard error of every game (Table 3), published scores beside ours."""
    systems: list[Scored] = [*groups, *beside]
    ours = [system.summaries for system in groups]
    theirs = [system.summaries for system in beside]
    rows = []
    for game in games_of(groups):
        found = [summaries.get(game) for summaries in ours]
        best = max(summary.mean for summary in found if summary) if len(groups) > 1 else None
        cells = [
            score_cell(summary, summary.count, summary.mean == best) if summary else EMPTY
            for summary in found
        ]
        cells += [score_cell(summaries.get(game)) for summaries in theirs]
        rows.append([Cell(game_title(game)), *cells])
    notes = caps_note({system.label: system.budget.max_actions for system in systems})
    notes += [f"{system.label}: {system.budgets}; {system.proof}." for system in groups]
    wins = stats.best_in_group({system.label: stats.means(system.scores) for system in groups})
    if len(groups) > 1 and any(wins.values()):
        counts = ", ".join(f"{name} {count}" for name, count in wins.items())
        notes.append(f"Best of the games all systems played (bold): {counts}.")
    notes += [f"{system.label}: {system.budgets}. {system.source}." for system in beside]
    notes += [SIMULATOR_NOTE] if beside else []
    columns = ("game", *(system.label for system in systems))
    return Table("Scores: mean ± standard error (episodes)", columns, rows, notes)


def maxima_table(groups: Sequence[System], beside: Sequence[PublishedScores] = ()) -> Table:
    """Highest score of every game, published ones beside ours."""
    systems: list[Scored] = [*groups, *beside]
    highest = {
        system.label: {game: it.maximum for game, it in system.summaries.items()}
        for system in systems
    }
    return per_game_table("Highest score of an episode", games_of(groups), highest)


def aggregates_of(system: System, samples: int = stats.SAMPLES) -> dict[str, stats.Interval]:
    """Every human-normalised aggregate with its interval; empty if no game has a reference."""
    scores = normalised(system)
    if not scores:
        return {}
    found = {
        name: stats.bootstrap_interval(scores, metric, generator(BOOTSTRAP_SEED, index), samples)
        for index, (name, metric) in enumerate(stats.METRICS.items())
    }
    gap = found["optimality gap"]  # of which there is none below 0, however wide the interval
    return found | {"optimality gap": replace(gap, low=max(0.0, gap.low))}


def aggregates_table(groups: Sequence[System], samples: int = stats.SAMPLES) -> Table | None:
    """Human-normalised aggregates with 95% intervals; None if no game has reference scores."""
    known = {system.label: normalised(system) for system in groups}
    if not any(known.values()):
        return None
    rows = []
    for system in groups:
        found, games = aggregates_of(system, samples), len(known[system.label])
        cells = [interval_cell(found[name]) if found else EMPTY for name in stats.METRICS]
        rows.append([Cell(system.label), *cells, Cell(str(games), games)])
    notes = [
        "0 is random play, 1 a human tester. Intervals: 95%, stratified bootstrap over runs, "
        "widened for few runs; none where every game has one run. Optimality gap: lower is better."
    ]
    left_out = {game for system in groups for game in system.run_means.keys() - known[system.label]}
    if left_out:
        notes.append(f"Without reference scores, and left out: {', '.join(sorted(left_out))}.")
    return Table("Human-normalised aggregates", ("system", *stats.METRICS, "games"), rows, notes)


def improvement_table(groups: Sequence[System], samples: int = stats.SAMPLES) -> Table | None:
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
            random = generator(BOOTSTRAP_SEED, row, column)
            found = stats.probability_of_improvement(scores[row], scores[column], random, samples)
            cells.append(interval_cell(found))
        rows.append(cells)
    columns = ("row beats column", *(system.label for system in groups))
    return Table("Probability of improvement", columns, rows, ("95% intervals, as above.",))
