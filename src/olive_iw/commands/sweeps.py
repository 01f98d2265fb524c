"""Commands about many runs."""

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import tyro

from olive_iw.commands.console import Json, console, warn
from olive_iw.sweeps.options import EngineOptions

Folder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
File = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]


def sweep(
    file: File,
    /,
    options: Annotated[EngineOptions, tyro.conf.arg(name="")] = EngineOptions(),  # noqa: B008
    out: Path = Path("runs"),
    engine: str = "local",
    dry_run: bool = False,
    order_seed: int = 0,
    retries: int = 2,
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto",
) -> None:
    """Do all runs of a sweep file; finished runs are skipped, unfinished ones go on.

    Every run is checked before the first one starts. Stop it with Ctrl-C and run it again to go
    on. A run that fails costs itself only; the exit code is 1 if any did.

    For example: olive-iw sweep sweeps/smoke.toml --out runs/smoke --dry-run

    Args:
        file: Sweep file, such as sweeps/smoke.toml.
        options: Where the runs are done.
        out: Folder of the runs.
        engine: inline: one after the other in this process; local: one process per run; ray: on a
            Ray cluster; or the name of a plug-in.
        dry_run: Only show what would be done, and how long it may take.
        order_seed: Of the shuffled order.
        retries: How often a failed run is tried again from its checkpoint.
        device: Where networks are trained.

    """
    from olive_iw.sweeps.sweep import sweep as do_sweep

    report = do_sweep(
        file,
        out,
        engine,
        options,
        dry_run=dry_run,
        order_seed=order_seed,
        retries=retries,
        device=device,
        console=console,
    )
    sys.exit(report.exit_code)


def status(folder: Folder, /, file: Path | None = None, json_output: Json = False) -> None:
    """Say which runs are done, running, stopped, failed (and why) or missing.

    Args:
        folder: Folder of runs.
        file: Sweep file to compare with (default: those that were run into the folder).
        json_output: Print JSON instead of a table.

    """
    from olive_iw.sweeps.status import status as look
    from olive_iw.sweeps.status import status_table

    found = look(folder, file)
    warn(*found.problems)
    if json_output:
        print(json.dumps(found.to_dict(), indent=2))
    else:
        table = status_table(found)
        console.print(table if table.row_count else table.title, highlight=False)


def export(
    folder: Folder,
    /,
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("episodes.csv"),
) -> None:
    """Write one row per evaluation episode of all runs below a folder.

    Args:
        folder: Folder of runs.
        out: File to write: .csv, or .parquet if pyarrow is installed.

    """
    from olive_iw.sweeps.export import export as do_export

    rows = do_export(folder, out)
    console.print(f"wrote {out}: {rows:,} episodes", highlight=False)
