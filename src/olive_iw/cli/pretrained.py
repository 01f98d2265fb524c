"""`olive-iw pretrained`."""

from pathlib import Path
from typing import Annotated, Literal

from olive_iw.cli.arguments import Folder, Shown
from olive_iw.cli.console import console, wrote
from olive_iw.runs.pretrained import SHELF, add


def pretrained(
    action: Annotated[Literal["add"], Shown("add")],
    run: Folder,
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
    wrote(added.path, f"{added.path.stat().st_size / 1000:,.0f} kB")
    console.print(f"{added.config.game}: {added.description}", highlight=False)
