"""Reports: tables, plots, a page, comparisons, verification and videos of finished runs.

The functions below are what the command line calls; each returns what it found, so that a
notebook can use it as well.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from olive_iw.reports.comparison import Comparison
    from olive_iw.reports.film import Film
    from olive_iw.reports.groups import System
    from olive_iw.reports.layout import Table
    from olive_iw.reports.published import PublishedScores
    from olive_iw.runs.verification import Verification

__all__ = ["Report", "compare", "gif", "report", "verify", "video"]


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """What `report` found and wrote."""

    systems: "Sequence[System]"
    tables: "Sequence[Table]"
    text: str
    """The tables as asked for: plain text, markdown or LaTeX."""
    warnings: Sequence[str]
    """What could not be read, a line each; print these to the standard error."""
    written: Sequence[Path]
    """Files written: the page and the plots."""


def report(
    dirs: Iterable[Path | str],
    *,
    html: Path | str | None = None,
    markdown: bool = False,
    latex: bool = False,
    plots: Path | str | None = None,
    mix_budgets: bool = False,
    width: int = 100,
    colour: bool = False,
) -> Report:
    """Report all runs below the folders.

    `html` is the file of the page, `plots` the folder for the plots. Runs with different budgets
    are refused with an `InputError` that says which, unless `mix_budgets`, which shows them apart.
    """
    from olive_iw.reports.groups import check_budgets, systems
    from olive_iw.reports.page import report_tables, write_html
    from olive_iw.reports.plots import make_plots, save_plots
    from olive_iw.reports.results import read_results

    results = read_results(dirs)
    groups = systems(results)
    if not mix_budgets:
        check_budgets(groups)
    beside = _published_beside(groups)
    named = report_tables(groups, beside)
    figures = make_plots(groups, beside) if html is not None or plots is not None else {}
    written: list[Path] = []
    if html is not None:
        written.append(write_html(html, groups, named, figures, results.warnings))
    if plots is not None:
        written += save_plots(plots, figures)
    tables = list(named.values())
    if latex:
        text = "\n".join(table.as_latex() for table in tables)
    elif markdown:
        text = "\n".join(table.as_markdown() for table in tables)
    else:
        text = "\n".join(table.as_text(width, colour) for table in tables)
    return Report(groups, tables, text, results.warnings, written)


def _published_beside(groups: "Sequence[System]") -> "list[PublishedScores]":
    """Find published scores of the same algorithms, if any of the games has one."""
    from olive_iw.reports.groups import games_of
    from olive_iw.reports.published import PAPER_COLUMNS, published

    names = dict.fromkeys(
        PAPER_COLUMNS[system.algorithm] for system in groups if system.algorithm in PAPER_COLUMNS
    )
    games = set(games_of(groups))
    return [scores for scores in map(published, names) if games & set(scores.mean)]


def compare(dir: Path | str, against: str = "paper") -> "list[Comparison]":
    """Compare the runs below a folder, each system by itself.

    `against` is "paper", a published system ("n-cpl", "efficientzero", …) or a folder of runs.
    Print `comparison.table()` of each: it says both budgets and gives a verdict for every game.
    """
    from olive_iw.reports.comparison import compare_runs

    return compare_runs(dir, against)


def verify(dir: Path | str) -> "list[Verification]":
    """Replay every episode below a folder (or one file) and confirm what it says.

    `olive_iw.reports.paper_tables.verification_table` lays the answer out for printing.
    """
    from olive_iw.runs.verification import verify_folder

    return verify_folder(dir)


def video(
    episode: Path | str, out: Path | str, overlay: bool = False, max_actions: int | None = None
) -> "Film":
    """Write an episode as mp4, 60 frames a second."""
    from olive_iw.reports.film import write_video

    return write_video(episode, out, overlay, max_actions=max_actions)


def gif(
    episode: Path | str,
    out: Path | str,
    *,
    max_bytes: int = 3_000_000,
    max_seconds: float = 10.0,
    max_actions: int | None = None,
) -> "Film":
    """Write the beginning of an episode as a small GIF."""
    from olive_iw.reports.film import write_gif

    return write_gif(
        episode, out, max_bytes=max_bytes, max_seconds=max_seconds, max_actions=max_actions
    )
