"""Commands about many runs."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import tyro

from olive_iw.commands import arguments as args
from olive_iw.commands.console import console, suggest, warn
from olive_iw.errors import InputError
from olive_iw.runs.compact import copy_runs
from olive_iw.settings import settings_of
from olive_iw.sweeps.export import export as do_export
from olive_iw.sweeps.options import EngineOptions
from olive_iw.sweeps.status import status as find_status
from olive_iw.sweeps.status import status_table
from olive_iw.sweeps.sweep import Order
from olive_iw.sweeps.sweep import sweep as do_sweep


def sweep(
    file: args.File,
    /,
    *,
    out: Path = Path("runs"),
    engine: str = "local",
    only: tuple[str, ...] = (),
    dry_run: args.Flag = False,
    order: Order = "shuffled",
    order_seed: int = 0,
    retries: int = 2,
    device: args.Device = "auto",
    resources: args.Settings = args.NONE_GIVEN,
) -> None:
    """Do all runs of a sweep file; finished runs are skipped, unfinished ones go on.

    Every run is checked before the first one starts. Stop it with Ctrl-C and run it again to go
    on. A run that fails costs itself only; the exit code is 1 if any did.

    Example: olive-iw sweep sweeps/smoke.toml --out runs/smoke --dry-run

    Args:
        file: Sweep file, such as sweeps/smoke.toml.
        out: Folder of the runs.
        engine: inline: one after the other in this process; local: one process per run; ray: on a
            Ray cluster. See `olive-iw list engines`.
        only: Algorithms or games of the file: only their runs.
        dry_run: Only show what would be done, and how long it may take.
        order: shuffled: runs at random, so that a busy machine favours nobody; rounds: all games
            once, then all again with the file's next algorithm or seed.
        order_seed: Seed of the order: of the runs, or in rounds of the games.
        retries: How often a failed run is tried again from its checkpoint.
        device: Where networks are trained.
        resources: What the engine may use.

    """
    report = do_sweep(
        file,
        out,
        engine,
        EngineOptions(**resources),
        only=only,
        dry_run=dry_run,
        order=order,
        order_seed=order_seed,
        retries=retries,
        device=device,
        console=console,
    )
    if not dry_run:
        suggest(
            ("status", out, "which runs are done, and why others failed"),
            ("report", out, "the paper's tables of your runs"),
            ("view", out, "watch them think, in a browser"),
        )
    sys.exit(report.exit_code)


def settings_types(arguments: Sequence[str]) -> dict[str, Any]:
    """Types of the settings of an engine."""
    usual = EngineOptions()
    defaults = {name: args.shown(getattr(usual, name)) for name in settings_of(EngineOptions)}
    return {"resources": args.settings_type(EngineOptions, defaults)}


def status(
    folder: args.Folder, /, file: args.MaybePath = None, json_output: args.Json = False
) -> None:
    """Say which runs are done, running, stopped, failed (and why) or missing.

    Example: olive-iw status runs

    Args:
        folder: Folder of runs.
        file: Sweep file to compare with (default: those that were run into the folder).
        json_output: Print JSON instead of a table.

    """
    found = find_status(folder, file)
    warn(*found.problems)
    if json_output:
        print(json.dumps(found.to_dict(), indent=2))
    else:
        table = status_table(found)
        console.print(table if table.row_count else table.title, highlight=False)


def export(
    folder: args.Folder,
    /,
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("episodes.csv"),
    results: args.MaybePath = None,
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
        rows = do_export(folder, out)
        console.print(f"wrote {out}: {rows:,} episodes", highlight=False)
        return
    if not commit:
        raise InputError("--results needs --commit, the commit that the runs were made with")
    done = copy_runs(folder, results, commit)
    for path in done.new:
        console.print(f"wrote {path}", highlight=False, soft_wrap=True)
    counts = f"{len(done.new)} copied, {done.there} there before, {done.unfinished} not finished"
    console.print(counts, highlight=False)
