"""`olive-iw pretrained`."""

from pathlib import Path
from typing import Annotated, Literal

import tyro

from olive_iw.cli import arguments as args
from olive_iw.cli.console import console
from olive_iw.runs.pretrained import SHELF, add


def pretrained(
    action: Annotated[Literal["add"], tyro.conf.Positional, tyro.conf.arg(metavar="add")],
    run: args.Folder,
    /,
    *,
    out: Path = SHELF,
) -> None:
    """Make a compact file of a finished run's agent: what it learned, and where that is from.

    Agents in the package's own folder play when their game is named: `olive-iw play breakout`,
    `olive-iw view breakout`, `olive.load_pretrained("breakout")`. Others play with --agent FILE.

    Example: olive-iw pretrained add runs/breakout/olive-laptop/seed-0 --out agents

    Args:
        action: What to do: add.
        run: Folder of a finished run of an algorithm that learns.
        out: Folder of the file, which has the game's name.

    """
    added = add(run, out)
    size = added.path.stat().st_size / 1000
    console.print(f"wrote {added.path}, {size:,.0f} kB", highlight=False, soft_wrap=True)
    console.print(f"{added.config.game}: {added.description}", highlight=False)
