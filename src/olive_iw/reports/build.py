"""One report of many runs: read them, make the tables and plots, write the page."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from olive_iw.reports.groups import System, check_budgets, games_of, systems
from olive_iw.reports.layout import Table
from olive_iw.reports.page import report_tables, write_html
from olive_iw.reports.plots import make_plots, save_plots
from olive_iw.reports.published import PAPER_COLUMNS, PublishedScores, published
from olive_iw.reports.results import read_results
from olive_iw.stats import SIGNIFICANCE, check_significance

MANY_RUNS = 50
"""More than these are listed one by one on the page only."""


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """What `report` found and wrote."""

    systems: Sequence[System]
    tables: Sequence[Table]
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
    significance: float = SIGNIFICANCE,
    width: int = 100,
    colour: bool = False,
) -> Report:
    """Report all runs below the folders.

    `html` is the file of the page, `plots` the folder for the plots. Runs with different budgets
    are refused with an `InputError` that says which, unless `mix_budgets`, which shows them apart.
    A win is one with a two-sided p below `significance`.
    """
    check_significance(significance)
    folders = [str(folder) for folder in dirs]
    results = read_results(folders)
    groups = systems(results)
    if not mix_budgets:
        check_budgets(groups)
    beside = _published_beside(groups)
    named = report_tables(groups, beside, significance)
    drawn = html is not None or plots is not None
    figures = make_plots(groups, beside, significance) if drawn else {}
    written: list[Path] = []
    if html is not None:
        commands = _commands(folders, html, mix_budgets, significance)
        page = write_html(html, groups, named, figures, results.warnings, commands)
        written.append(page)
    if plots is not None:
        written += save_plots(plots, figures)
    if len(results.runs) > MANY_RUNS:
        del named["runs"]
    tables = list(named.values())
    texts = [
        table.as_latex()
        if latex
        else table.as_markdown()
        if markdown
        else table.as_text(width, colour)
        for table in tables
    ]
    return Report(groups, tables, "\n".join(texts), results.warnings, written)


def _published_beside(groups: Sequence[System]) -> list[PublishedScores]:
    """Find published scores of the same algorithms, if any of the games has one."""
    names = dict.fromkeys(
        PAPER_COLUMNS[system.algorithm] for system in groups if system.algorithm in PAPER_COLUMNS
    )
    games = set(games_of(groups))
    return [scores for scores in map(published, names) if games & set(scores.mean)]


def _commands(
    folders: Sequence[str], html: Path | str, mix_budgets: bool, significance: float
) -> list[str]:
    """Commands that make the page again, and that prove its scores."""
    again = ["olive-iw", "report", *folders, "--html", str(html)]
    again += ["--mix-budgets"] if mix_budgets else []
    again += [] if significance == SIGNIFICANCE else ["--significance", f"{significance:g}"]
    proofs = [["olive-iw", "verify", folder] for folder in folders]
    return [shlex.join(command) for command in (again, *proofs)]
