"""`olive-iw export`."""

from pathlib import Path
from typing import Annotated

from olive_iw.cli.arguments import Folder, Shown
from olive_iw.cli.console import console, end, warn, wrote
from olive_iw.errors import InputError
from olive_iw.runs.compact import copy_runs
from olive_iw.sweeps.export import export as do_export


def export(
    folder: Folder,
    /,
    out: Annotated[Path, Shown("FILE", short="-o")] = Path("episodes.csv"),
    results: Path | None = None,
    commit: str = "",
) -> None:
    """Write one row per evaluation episode of all runs below a folder, or copy the runs compactly.

    A compact copy has all that proves a run's scores and no checkpoint: a few kilobytes that
    report, compare, verify, video, gif and view read like the run itself.

    Example: olive-iw export runs --out episodes.csv

    Args:
        folder: Folder of runs.
        out: File to write: .csv, or .parquet if pyarrow is installed.
        results: Copy the finished runs to this folder instead, which is named after their
            protocol: five-minute (at most 1,200 actions an episode) or paper (18,000).
        commit: With --results: commit of the repository that the runs were made with.

    """
    if results is None:
        rows, problems = do_export(folder, out)
        warn(*problems)
        wrote(out, f"{rows:,} episodes")
        end(len(problems))
        return
    if not commit:
        raise InputError("--results needs --commit, the commit that the runs were made with")
    done = copy_runs(folder, results, commit)
    for path in done.new:
        wrote(path)
    warn(*done.problems)
    counts = f"{len(done.new)} copied, {done.there} there before, {done.unfinished} not finished"
    console.print(counts, highlight=False)
    end(len(done.problems))
