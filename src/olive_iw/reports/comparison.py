"""Did I reproduce it? Our scores game by game against published ones, or against other runs."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import t as student

from olive_iw.errors import InputError
from olive_iw.reports.groups import System, systems
from olive_iw.reports.layout import EMPTY, Cell, Table
from olive_iw.reports.numbers import counted, game_title, signed, with_error
from olive_iw.reports.published import (
    PAPER_COLUMNS,
    SIMULATOR_NOTE,
    PublishedScores,
    caps_note,
    published,
    published_names,
)
from olive_iw.reports.results import read_results
from olive_iw.stats import SIGNIFICANCE, Summary, Tally, summarise, tally_by_mean
from olive_iw.stats.intervals import welch_freedom
from olive_iw.stats.wins import check_significance

TOO_FEW = "too few episodes"
NO_SCORE = "no score"


@dataclass(frozen=True, slots=True)
class Side:
    """What one side of a comparison says of its scores."""

    title: str
    where: str
    """Budgets, and where the scores come from."""
    summaries: Mapping[str, Summary]
    """By game; the standard error is not a number, and the count 0, where they are not known."""
    limits: tuple[int | None, int | None, int | None]
    """Training calls, calls per action, actions an episode; None where not known."""
    uses_simulator: bool = True


def _side_of_runs(system: System, folder: Path | str) -> Side:
    budget = system.budget
    summaries = {game: summarise(scores) for game, scores in system.scores.items()}
    limits = (budget.training_calls, budget.calls_per_action, budget.max_actions)
    where = f"{folder}; {budget}, {system.profile} profile"
    return Side(system.label, where, summaries, limits)


def _side_of_published(scores: PublishedScores) -> Side:
    limits = (scores.training_calls, scores.planning_calls, scores.max_actions)
    where = f"{scores.budgets}; {scores.source}"
    return Side(scores.title, where, scores.summaries, limits, scores.uses_simulator)


@dataclass(frozen=True, slots=True)
class GameComparison:
    """One game of a comparison."""

    game: str
    verdict: str
    """`higher`, `lower`, `within noise`, `equal`, or why there is none."""
    ours: Summary
    theirs: Summary | None
    difference: float | None
    """(ours - theirs) in standard errors of the difference; None where there is nothing to say."""


@dataclass(frozen=True, slots=True)
class ScoreComparison:
    """One of our systems against one other."""

    ours: Side
    theirs: Side
    games: Sequence[GameComparison]
    significance: float
    warnings: Sequence[str] = ()

    @property
    def tally(self) -> Tally:
        """Higher and lower by mean, over the games both have."""
        theirs = {row.game: row.theirs.mean for row in self.games if row.theirs is not None}
        return tally_by_mean({row.game: row.ours.mean for row in self.games}, theirs)

    def verdict(self) -> str:
        """Say in one line what came of all games."""
        counts = Counter(row.verdict for row in self.games)
        found = ", ".join(f"{verdict} in {count}" for verdict, count in counts.most_common())
        found += f" of {counted(len(self.games), 'game')}"
        if len(self.games) == 1:
            found = f"{self.games[0].verdict} in {game_title(self.games[0].game)}"
        return f"{self.ours.title} against {self.theirs.title}: {found}"

    def table(self) -> Table:
        """Lay the comparison out as a table, which the verdict heads."""
        ours, our_cells = _column("ours", [row.ours for row in self.games])
        theirs, their_cells = _column("theirs", [row.theirs for row in self.games])
        rows = []
        for row, *scores in zip(self.games, our_cells, their_cells, strict=True):
            gap = row.difference
            last = EMPTY if gap is None else Cell(signed(gap), gap)
            rows.append([Cell(game_title(row.game)), Cell(row.verdict), *scores, last])
        columns = ("game", "verdict", ours, theirs, "diff.")
        return Table(self.verdict(), columns, rows, self.notes(), left=frozenset({0, 1}))

    def notes(self) -> list[str]:
        """Both budgets, what they do not share, and how the verdicts were found."""
        ours, theirs, tally = self.ours, self.theirs, self.tally
        notes = caps_note({ours.title: ours.limits[2], theirs.title: theirs.limits[2]})
        if ours.limits != theirs.limits:
            notes.append("The budgets are not the same, or not known to be: read scores with that.")
        notes += [f"Ours: {ours.title}; {ours.where}.", f"Theirs: {theirs.title}; {theirs.where}."]
        if any(row.theirs and math.isnan(row.theirs.standard_error) for row in self.games):
            notes.append("Where theirs has no standard error, its mean is taken as exact.")
        if not theirs.uses_simulator:
            notes.append(f"{theirs.title} does not use the simulator to act.")
        return [
            *notes,
            SIMULATOR_NOTE,
            f"By mean: higher in {tally.wins}, lower in {tally.losses}, equal in {tally.ties} "
            f"of {counted(tally.games, 'game')}. Mean ± standard error (episodes), and the "
            "difference in standard errors. Verdicts: Welch's t-test, two-sided "
            f"p < {self.significance:g}, with at least two episodes on both sides.",
        ]


def _column(title: str, summaries: Sequence[Summary | None]) -> tuple[str, list[Cell]]:
    """Heading and cells of one side; a number of episodes that all share stands in the heading."""
    counts = {summary.count for summary in summaries if summary is not None}
    shared = f" ({max(counts)})" if len(counts) == 1 and any(counts) else ""
    cells = []
    for summary in summaries:
        if summary is None:
            cells.append(EMPTY)
            continue
        own = "" if shared or not summary.count else f" ({summary.count})"
        cells.append(Cell(with_error(summary.mean, summary.standard_error) + own, summary.mean))
    return title + shared, cells


def judge_scores(
    ours: Summary, theirs: Summary, significance: float = SIGNIFICANCE
) -> tuple[float | None, str]:
    """Difference in standard errors, and a verdict in words.

    One episode says nothing of how scores vary, so there is no verdict with one on either side.
    Published means without a standard error, and without a count, are taken as exact.
    """
    if 1 in (ours.count, theirs.count):
        return None, TOO_FEW
    known = [side for side in (ours, theirs) if not math.isnan(side.standard_error)]
    variances = [side.standard_error**2 for side in known]
    gap, error = ours.mean - theirs.mean, math.sqrt(sum(variances))
    if gap == 0:
        return 0.0, "equal"
    difference = gap / error if error else math.copysign(math.inf, gap)
    # An error published without a count comes from many episodes, as far as is known.
    freedoms = [side.count - 1 if side.count else math.inf for side in known]
    limit = student.ppf(1.0 - significance / 2, welch_freedom(variances, freedoms))
    if abs(difference) <= limit:
        return difference, "within noise"
    return difference, "higher" if gap > 0 else "lower"


def _compare(
    ours: Side, theirs: Side, warnings: Sequence[str], significance: float
) -> ScoreComparison:
    """Compare game by game; games only they have are left out."""
    games = []
    for game, summary in sorted(ours.summaries.items()):
        other = theirs.summaries.get(game)
        found = (None, NO_SCORE) if other is None else judge_scores(summary, other, significance)
        games.append(GameComparison(game, found[1], summary, other, found[0]))
    return ScoreComparison(ours, theirs, games, significance, warnings)


def compare_runs(
    folder: Path | str, against: str = "paper", significance: float = SIGNIFICANCE
) -> list[ScoreComparison]:
    """Compare every system below a folder with `against`, each by itself.

    `against` is "paper" (the column of the same algorithm), the name of a published system such
    as "n-cpl", or another folder of runs. Print `table()` of each: its first line is the verdict.
    """
    check_significance(significance)
    results = read_results([folder])
    groups = systems(results)
    if against == "paper":
        named = [(one, PAPER_COLUMNS.get(one.algorithm)) for one in groups]
        pairs = [(one, _side_of_published(published(name))) for one, name in named if name]
    elif against in published_names():
        pairs = [(one, _side_of_published(published(against))) for one in groups]
    elif Path(against).is_dir():
        other = read_results([against])
        results.warnings += other.warnings
        # Of the same algorithm, profile and variant; if there is none, every pair.
        every = [(one, another) for one in groups for another in systems(other)]
        same = [(one, another) for one, another in every if one.kind == another.kind]
        pairs = [(one, _side_of_runs(another, against)) for one, another in same or every]
    else:
        choices = ", ".join(("paper", *published_names()))
        raise InputError(f"cannot compare with {against!r}; give a folder of runs or: {choices}")
    if not pairs:
        found = ", ".join(system.algorithm for system in groups)
        raise InputError(
            f"the paper prints no scores by game for {found}, only for "
            f"{', '.join(PAPER_COLUMNS)}; compare against one of these by its name"
        )
    return [
        _compare(_side_of_runs(one, folder), side, results.warnings, significance)
        for one, side in pairs
    ]
