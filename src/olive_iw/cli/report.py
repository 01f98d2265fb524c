"""`olive-iw report`."""

from pathlib import Path

from olive_iw import reports
from olive_iw.cli.arguments import Folders
from olive_iw.cli.console import console, end, warn, wrote
from olive_iw.errors import InputError


def report(
    dirs: Folders,
    /,
    html: Path | None = None,
    markdown: bool = False,
    latex: bool = False,
    plots: Path | None = None,
    mix_budgets: bool = False,
    only: tuple[str, ...] = (),
    significance: float = 0.05,
) -> None:
    """Print the paper's tables for the runs below some folders; missing cells stay missing.

    Example: olive-iw report runs --html report.html

    Args:
        dirs: Folders that hold runs.
        html: Also write one self-contained page with plots and sortable tables.
        markdown: Print the tables as Markdown.
        latex: Print the tables as LaTeX.
        plots: Also write every plot into this folder, as PNG, SVG and PDF.
        mix_budgets: Show runs with different budgets apart, instead of refusing them.
        only: Games, systems as the tables label them, algorithms, or parts of the budget such as
            calls_per_action=100: only these.
        significance: A game is won if the two-sided p of its scores is below this.

    """
    if not dirs:
        raise InputError("report needs a folder of runs, for example: olive-iw report runs")
    done = reports.report(
        dirs,
        html=html,
        markdown=markdown,
        latex=latex,
        plots=plots,
        mix_budgets=mix_budgets,
        only=only,
        significance=significance,
        width=console.width,
        colour=console.is_terminal,
    )
    print(done.text)
    warn(*done.warnings)
    for path in done.written:
        wrote(path)
    end(done.left_out)
