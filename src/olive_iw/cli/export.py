"""`olive-iw export`."""

from pathlib import Path
from typing import Annotated

from olive_iw.cli.arguments import Folder, Shown
from olive_iw.cli.console import end, warn, wrote
from olive_iw.sweeps.export import export as do_export


def export(
    folder: Folder, /, out: Annotated[Path, Shown("FILE", short="-o")] = Path("episodes.csv")
) -> None:
    """Write one row per evaluation episode of all runs below a folder.

    Example: olive-iw export runs --out episodes.csv

    Args:
        folder: Folder of runs.
        out: File to write: .csv, or .parquet if pyarrow is installed.

    """
    rows, problems = do_export(folder, out)
    warn(*problems)
    wrote(out, f"{rows:,} episodes")
    end(len(problems))
