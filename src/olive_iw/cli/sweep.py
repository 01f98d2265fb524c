"""`olive-iw sweep`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from olive_iw.cli.arguments import Device, File, Group, settings_arguments, shown
from olive_iw.cli.console import console, suggest
from olive_iw.settings import settings_of
from olive_iw.sweeps.options import EngineOptions
from olive_iw.sweeps.sweep import Order
from olive_iw.sweeps.sweep import sweep as do_sweep


def sweep(
    file: File,
    /,
    *,
    out: Path = Path("runs"),
    engine: str = "local",
    only: tuple[str, ...] = (),
    dry_run: bool = False,
    order: Order = "shuffled",
    order_seed: int = 0,
    retries: int = 2,
    device: Device = "auto",
    **settings: Any,
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
        settings: What the engine may use.

    """
    report = do_sweep(
        file,
        out,
        engine,
        EngineOptions(**settings),
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


def settings_groups(words: Sequence[str]) -> list[Group]:
    """Return the settings of an engine, which are few."""
    usual = EngineOptions()
    defaults = {name: shown(getattr(usual, name)) for name in settings_of(EngineOptions)}
    return [Group("What the engine may use", settings_arguments(EngineOptions, defaults), defaults)]
