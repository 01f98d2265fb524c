"""Commands that show and prove what runs came to."""

import sys

from olive_iw import reports
from olive_iw.commands import arguments as args
from olive_iw.commands.console import console, warn
from olive_iw.errors import InputError
from olive_iw.runs.verification import remember


def report(
    dirs: args.Folders,
    /,
    html: args.MaybePath = None,
    markdown: args.Flag = False,
    latex: args.Flag = False,
    plots: args.MaybePath = None,
    mix_budgets: args.Flag = False,
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
        console.print(f"wrote {path}", highlight=False)


def compare(folder: args.Folder, /, against: str = "paper", significance: float = 0.05) -> None:
    """Say, game by game and in words, whether runs reproduce published scores.

    Example: olive-iw compare runs --against n-cpl

    Args:
        folder: Folder that holds runs.
        against: paper, another published system such as n-cpl, or another folder of runs.
        significance: Scores differ if the two-sided p of their means is below this.

    """
    for comparison in reports.compare(folder, against, significance):
        print(comparison.table().as_text(console.width))
        warn(*comparison.warnings)


def verify(path: args.Folder, /, workers: int = 1, quiet: args.Flag = False) -> None:
    """Replay every episode in a fresh simulator and confirm each reward and the score.

    Nothing is planned, so it takes seconds. Exit code 1 if an episode differs.

    Example: olive-iw verify runs

    Args:
        path: Folder that holds runs, or one episode file.
        workers: Processes that replay at the same time. What --import and --plugins load is there
            for one only.
        quiet: Show the episodes that were not confirmed, and counts; not those that were.

    """
    from olive_iw.reports.run_tables import verification_table

    if workers < 1:
        raise InputError(f"workers = {workers} is not possible; at least 1 is")
    found = reports.verify(path, workers)
    remember(found)
    print(verification_table(found, quiet).as_text(console.width))
    if not all(verification.confirmed for verification in found):
        sys.exit(1)


def video(
    episode: args.File,
    /,
    out: args.Out = None,
    overlay: args.Flag = False,
    max_actions: args.MaybeAll = None,
) -> None:
    """Render an episode as a film: 60 frames a second, all frames of every action.

    Example: olive-iw video evaluation-0000.json --overlay

    Args:
        episode: Episode file, such as …/episodes/evaluation-0000.json.
        out: File to write (default: beside the episode, .mp4).
        overlay: Show score, action and the value of every action.
        max_actions: Only so many actions from the start.

    """
    film = reports.video(
        episode, out or episode.with_suffix(".mp4"), overlay, max_actions=max_actions
    )
    warn(*film.warnings)
    console.print(f"wrote {film.path}: {film.frames} frames", highlight=False)


def gif(
    episode: args.File,
    /,
    out: args.Out = None,
    max_seconds: float = 10.0,
    max_bytes: int = 3_000_000,
    max_actions: args.MaybeAll = None,
) -> None:
    """Render the beginning of an episode as a small GIF, for a README.

    Example: olive-iw gif evaluation-0000.json --max-seconds 5

    Args:
        episode: Episode file, such as …/episodes/evaluation-0000.json.
        out: File to write (default: beside the episode, .gif).
        max_seconds: Length at most.
        max_bytes: Size at most.
        max_actions: Only so many actions from the start.

    """
    film = reports.gif(
        episode,
        out or episode.with_suffix(".gif"),
        max_bytes=max_bytes,
        max_seconds=max_seconds,
        max_actions=max_actions,
    )
    warn(*film.warnings)
    console.print(f"wrote {film.path}: {film.frames} frames", highlight=False)
