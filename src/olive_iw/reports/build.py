"""One report of many runs: read them, make the tables and plots, write the page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from olive_iw.reports import by_mean, paper_tables, run_tables
from olive_iw.reports.choice import check_budgets, choose
from olive_iw.reports.published import PAPER_SYSTEMS, published
from olive_iw.reports.results import System, games_of, read_results, systems
from olive_iw.stats import SIGNIFICANCE, check_significance
from olive_iw.tables import Table

MANY = 50
"""Tables of runs, and of pairs, with more rows than this are on the page only."""


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
    left_out: int = 0
    """Files of runs that do not count; the warnings name them."""


def report(
    dirs: Iterable[Path | str],
    *,
    html: Path | str | None = None,
    markdown: bool = False,
    latex: bool = False,
    plots: Path | str | None = None,
    mix_budgets: bool = False,
    only: Sequence[str] = (),
    significance: float = SIGNIFICANCE,
    width: int = 100,
    colour: bool = False,
) -> Report:
    """Report all runs below the folders.

    `html` is the file of the page, `plots` the folder for the plots. Runs with different budgets
    are refused with an `InputError` that says what differs, unless `mix_budgets`, which shows them
    apart. `only` names games, systems or parts of the budget (`choice.choose`).
    A win is one with a two-sided p below `significance`.
    """
    check_significance(significance)
    folders = [str(folder) for folder in dirs]
    results = choose(read_results(folders), only)
    groups = systems(results)
    if not mix_budgets:
        check_budgets(groups, ["olive-iw", "report", *folders])
    algorithms, games = {system.algorithm for system in groups}, set(games_of(groups))
    printed = [published(name) for name in PAPER_SYSTEMS if name in algorithms]
    beside = [one for one in printed if games & set(one.mean)]
    found = {
        "scores": paper_tables.scores_table(groups, beside),
        "wins": paper_tables.ablation_table(groups, significance),
        "bandits": paper_tables.bandit_table(groups, significance),
        **paper_tables.printed_wins(groups),
        "aggregates": paper_tables.aggregates_table(groups),
        "improvement": paper_tables.improvement_table(groups),
        "published": by_mean.published_table(groups),
        "best": by_mean.best_table(groups),
        "terms": by_mean.terms_table(groups),
        "maxima": paper_tables.maxima_table(groups, beside),
        "runtime": run_tables.runtime_table(groups, beside),
        "calls": run_tables.calls_table(groups),
        "runs": run_tables.runs_table(groups),
    }
    tables = {name: table for name, table in found.items() if table is not None}
    written: list[Path] = []
    if html is not None or plots is not None:
        from olive_iw.reports.plots import make_plots, save_plots

        figures = make_plots(groups, beside, significance)
    if html is not None:
        from olive_iw.reports.page import write_page

        narrow = make_plots(groups, beside, significance, phone=True)
        again = ["olive-iw", "report", *folders, "--html", str(html)]
        again += ["--mix-budgets"] if mix_budgets else []
        again += ["--only", *only] if only else []
        again += [] if significance == SIGNIFICANCE else ["--significance", f"{significance:g}"]
        commands = [again, *(["olive-iw", "verify", folder] for folder in folders)]
        written.append(Path(html))
        write_page(written[0], groups, tables, (figures, narrow), results.warnings, commands)
    if plots is not None:
        written += save_plots(plots, figures)
    # In a terminal they would push the scores out of sight.
    for name in ("runs", "terms"):
        if name in tables and len(tables[name].rows) > MANY:
            del tables[name]
    as_text = partial(Table.as_text, width=width, colour=colour)
    render = Table.as_latex if latex else Table.as_markdown if markdown else as_text
    text = "\n".join(map(render, tables.values()))
    shown = list(tables.values())
    return Report(groups, shown, text, results.warnings, written, results.left_out)
