"""`olive-iw compare`."""

from olive_iw import reports
from olive_iw.cli.arguments import Folder
from olive_iw.cli.console import console, end, warn


def compare(folder: Folder, /, against: str = "paper", significance: float = 0.05) -> None:
    """Say, game by game and in words, whether runs reproduce published scores.

    Example: olive-iw compare runs --against n-cpl

    Args:
        folder: Folder that holds runs.
        against: paper, another published system such as n-cpl, or another folder of runs.
        significance: Scores differ if the two-sided p of their means is below this.

    """
    comparisons = reports.compare(folder, against, significance)
    for comparison in comparisons:
        print(comparison.table().as_text(console.width))
    warn(*comparisons[0].warnings)
    end(comparisons[0].left_out)
