"""Did I reproduce it? Our scores game by game against published ones, or against other runs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import t as student

from olive_iw.errors import InputError
from olive_iw.reports.groups import System, systems
from olive_iw.reports.layout import EMPTY, Cell, Table
from olive_iw.reports.numbers import game_title, plain, with_error
from olive_iw.reports.published import (
    PAPER_COLUMNS,
    SIMULATOR_NOTE,
    PublishedScores,
    published,
    published_names,
)
from olive_iw.reports.results import read_results
from olive_iw.stats import Summary, Tally, summarise, tally_by_mean

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Side:
    """What one side of a comparison says of its scores."""

    title: str
    budgets: str
    uses_simulator: bool
    summaries: Mapping[str, Summary]
    """By game; the standard error is not a number, and the count 0, where they are not known."""
    limits: tuple[int | None, int | None, int | None] = (None, None, None)
    """Training calls, calls per action, actions an episode; None where not known."""


@dataclass(frozen=True, slots=True)
class GameComparison:
    """One game of a comparison."""

    game: str
    ours: Summary
    theirs: Summary | None
    difference: float | None
    """(ours - theirs) in standard errors of the difference; None where there is nothing to say."""
    verdict: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """One of our systems against one other."""

    ours: Side
    theirs: Side
    games: Sequence[GameComparison]
    tally: Tally
    """By mean, over the games both have."""
    warnings: Sequence[str] = ()

    def table(self) -> Table:
        """Lay the comparison out as a table."""
        rows = [
            [
                Cell(game_title(row.game)),
                _cell(row.ours),
                EMPTY if row.theirs is None else _cell(row.theirs),
                EMPTY if row.difference is None else Cell(_signed(row.difference), row.difference),
                Cell(row.verdict),
            ]
            for row in self.games
        ]
        columns = ("game", "ours", "theirs", "difference (standard errors)", "verdict")
        title = f"{self.ours.title} against {self.theirs.title}"
        return Table(title, columns, rows, self.notes(), left=frozenset({0, 4}))

    def notes(self) -> list[str]:
        """Both budgets, what they do not share, and the tally."""
        tally = self.tally
        notes = [
            f"Ours: {self.ours.title}; {self.ours.budgets}.",
            f"Theirs: {self.theirs.title}; {self.theirs.budgets}.",
        ]
        if self.ours.limits != self.theirs.limits:
            notes.append("The budgets are not the same, or not known to be: read scores with that.")
        if not self.theirs.uses_simulator:
            notes.append(f"{self.theirs.title} does not use the simulator to act.")
        notes.append(SIMULATOR_NOTE)
        notes.append(
            f"By mean: higher in {tally.wins}, lower in {tally.losses}, equal in {tally.ties} "
            f"of {tally.games} games. Ours: mean ± standard error (episodes). "
            f"Verdicts: {CONFIDENCE:.0%} confidence by Student's t."
        )
        return notes


def _cell(summary: Summary) -> Cell:
    count = f" ({summary.count})" if summary.count else ""
    return Cell(with_error(summary.mean, summary.standard_error) + count, summary.mean)


def _signed(value: float) -> str:
    return plain(value) if value < 0 else f"+{plain(value)}"


def judge(ours: Summary, theirs: Summary) -> tuple[float | None, str]:
    """Difference in standard errors and a verdict in words.

    Where theirs has no standard error it is taken as exact, which the verdict says.
    """
    if ours.count == 1:
        return None, "too few episodes to tell (n=1)"
    exact = math.isnan(theirs.standard_error)
    error = math.hypot(ours.standard_error, 0.0 if exact else theirs.standard_error)
    gap = ours.mean - theirs.mean
    caveat = "; their error is not known" if exact else ""
    if gap == 0:
        return 0.0, f"equal{caveat}"
    if error == 0:
        return math.copysign(math.inf, gap), _higher(gap) + caveat
    difference = gap / error
    if abs(difference) <= student.ppf(0.5 + CONFIDENCE / 2, _freedom(ours, theirs)):
        return difference, f"within noise{caveat}"
    return difference, _higher(gap) + caveat


def _higher(gap: float) -> str:
    return "higher than theirs" if gap > 0 else "lower than theirs"


def _freedom(ours: Summary, theirs: Summary) -> float:
    """Degrees of freedom after Welch and Satterthwaite; only ours vary where theirs is exact."""
    parts = [(ours.standard_error**2, ours.count - 1)]
    if theirs.count > 1 and not math.isnan(theirs.standard_error):
        parts.append((theirs.standard_error**2, theirs.count - 1))
    below = sum(variance**2 / freedom for variance, freedom in parts)
    total = sum(variance for variance, _ in parts)
    return total**2 / below if below else float(ours.count - 1)


def _side_of_system(system: System, title: str) -> Side:
    budget = system.budget
    summaries = {game: summarise(scores) for game, scores in system.scores.items()}
    limits = (budget.training_calls, budget.calls_per_action, budget.max_actions)
    return Side(title, f"{budget}, {system.profile} profile", True, summaries, limits)


def _side_of_published(scores: PublishedScores) -> Side:
    summaries = {
        game: Summary(
            mean,
            scores.standard_error.get(game, math.nan),
            scores.maximum.get(game, math.nan),
            scores.episodes or 0,
        )
        for game, mean in scores.mean.items()
    }
    return Side(
        scores.title,
        f"{scores.budgets}; {scores.source}",
        scores.uses_simulator,
        summaries,
        (scores.training_calls, scores.planning_calls, scores.max_actions),
    )


def compare_sides(ours: Side, theirs: Side, warnings: Sequence[str] = ()) -> Comparison:
    """Compare game by game; games only they have are left out."""
    games = []
    for game, summary in sorted(ours.summaries.items()):
        other = theirs.summaries.get(game)
        if other is None:
            games.append(GameComparison(game, summary, None, None, "no score to compare with"))
        else:
            games.append(GameComparison(game, summary, other, *judge(summary, other)))
    tally = tally_by_mean(
        {game: summary.mean for game, summary in ours.summaries.items()},
        {game: summary.mean for game, summary in theirs.summaries.items()},
    )
    return Comparison(ours, theirs, games, tally, warnings)


def compare_runs(folder: Path | str, against: str) -> list[Comparison]:
    """Compare every system below a folder with `against`.

    `against` is "paper" (the column of the same algorithm), the name of a published system such
    as "n-cpl", or another folder of runs.
    """
    results = read_results([folder])
    groups = systems(results)
    if against == "paper":
        pairs = _against_paper(groups)
    elif against in published_names():
        pairs = [(system, _side_of_published(published(against))) for system in groups]
    elif Path(against).is_dir():
        other = read_results([against])
        results.warnings += other.warnings
        pairs = _against_systems(groups, systems(other), against)
    else:
        choices = ", ".join(("paper", *published_names()))
        raise InputError(f"cannot compare with {against!r}; give a folder of runs or: {choices}")
    return [
        compare_sides(_side_of_system(system, f"{system.label} ({folder})"), side, results.warnings)
        for system, side in pairs
    ]


def _against_paper(groups: Sequence[System]) -> list[tuple[System, Side]]:
    pairs = [
        (system, _side_of_published(published(PAPER_COLUMNS[system.algorithm])))
        for system in groups
        if system.algorithm in PAPER_COLUMNS
    ]
    if not pairs:
        found = ", ".join(system.algorithm for system in groups)
        raise InputError(
            f"the paper prints no scores by game for {found}, only for "
            f"{', '.join(PAPER_COLUMNS)}; compare against one of these by its name"
        )
    return pairs


def _against_systems(
    groups: Sequence[System], others: Sequence[System], folder: str
) -> list[tuple[System, Side]]:
    """Pair systems of the same algorithm and profile; if none match, every pair."""
    same = [
        (one, other)
        for one in groups
        for other in others
        if (one.algorithm, one.profile) == (other.algorithm, other.profile)
    ]
    pairs = same or [(one, other) for one in groups for other in others]
    return [(one, _side_of_system(other, f"{other.label} ({folder})")) for one, other in pairs]
