"""Did I reproduce it? Our scores game by game against published ones, or against other runs."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from olive_iw import stats
from olive_iw.errors import InputError
from olive_iw.reports.layout import game_title, score_cell
from olive_iw.reports.published import (
    PAPER_SYSTEMS,
    SIMULATOR_NOTE,
    Scored,
    caps_note,
    published,
    published_names,
)
from olive_iw.reports.results import System, read_results, systems
from olive_iw.stats import SIGNIFICANCE, Summary
from olive_iw.tables import EMPTY, Cell, Table, counted, signed

TOO_FEW = "too few episodes"
NO_SCORE = "no score"


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

    ours: System
    theirs: Scored
    games: Sequence[GameComparison]
    significance: float
    warnings: Sequence[str] = ()
    left_out: int = 0
    """Files of runs that do not count; the warnings name them."""

    @property
    def tally(self) -> stats.Tally:
        """Higher and lower by mean, over the games both have."""
        theirs = {row.game: row.theirs.mean for row in self.games if row.theirs is not None}
        return stats.tally_by_mean({row.game: row.ours.mean for row in self.games}, theirs)

    def verdict(self) -> str:
        """Say in one line what came of all games."""
        counts = Counter(row.verdict for row in self.games)
        found = ", ".join(f"{verdict} in {count}" for verdict, count in counts.most_common())
        found += f" of {counted(len(self.games), 'game')}"
        if len(self.games) == 1:
            found = f"{self.games[0].verdict} in {game_title(self.games[0].game)}"
        return f"{self.ours.label} against {self.theirs.label}: {found}"

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
        notes = caps_note({side.label: side.budget.max_actions for side in (ours, theirs)})
        if ours.budget != theirs.budget:
            notes.append("The budgets are not the same, or not known to be: read scores with that.")
        for whose, side in (("Ours", ours), ("Theirs", theirs)):
            notes.append(f"{whose}: {side.label}; {side.budgets}; {side.source}.")
        if any(row.theirs and math.isnan(row.theirs.standard_error) for row in self.games):
            notes.append("Where theirs has no standard error, its mean is taken as exact.")
        if not theirs.uses_simulator:
            notes.append(f"{theirs.label} does not use the simulator to act.")
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
    if len(counts) == 1 and any(counts):
        return f"{title} ({max(counts)})", [score_cell(summary) for summary in summaries]
    return title, [score_cell(summary, summary.count if summary else 0) for summary in summaries]


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
    limit = stats.student_quantile(1.0 - significance / 2, stats.welch_freedom(variances, freedoms))
    if abs(difference) <= limit:
        return difference, "within noise"
    return difference, "higher" if gap > 0 else "lower"


def compare_runs(
    folder: Path | str, against: str = "paper", significance: float = SIGNIFICANCE
) -> list[ScoreComparison]:
    """Compare every system below a folder with `against`, each by itself.

    `against` is "paper" (the column of the same algorithm), the name of a published system such
    as "n-cpl", or another folder of runs. Print `table()` of each: its first line is the verdict.
    """
    stats.check_significance(significance)
    results = read_results([folder])
    groups = systems(results)
    pairs: Sequence[tuple[System, Scored]]
    if against == "paper":
        pairs = [
            (one, published(one.algorithm)) for one in groups if one.algorithm in PAPER_SYSTEMS
        ]
    elif against in published_names():
        pairs = [(one, published(against)) for one in groups]
    elif Path(against).is_dir():
        other = read_results([against])
        results.warnings += other.warnings
        results.left_out += other.left_out
        # Of the same algorithm, profile and variant; if there is none, every pair.
        every = [(one, another) for one in groups for another in systems(other)]
        pairs = [(one, another) for one, another in every if one.kind == another.kind] or every
    else:
        choices = ", ".join(("paper", *published_names()))
        raise InputError(f"cannot compare with {against!r}; give a folder of runs or: {choices}")
    if not pairs:
        found = ", ".join(dict.fromkeys(system.algorithm for system in groups))
        raise InputError(
            f"the paper prints no scores by game for {found}, only for "
            f"{', '.join(PAPER_SYSTEMS)}; compare against one of these by its name"
        )
    problems = results.warnings, results.left_out
    return [
        ScoreComparison(*pair, _games(*pair, significance), significance, *problems)
        for pair in pairs
    ]


def _games(ours: System, theirs: Scored, significance: float) -> list[GameComparison]:
    """Compare game by game; games only they have are left out."""
    games = []
    for game, summary in sorted(ours.summaries.items()):
        other = theirs.summaries.get(game)
        found = (None, NO_SCORE) if other is None else judge_scores(summary, other, significance)
        games.append(GameComparison(game, found[1], summary, other, found[0]))
    return games
