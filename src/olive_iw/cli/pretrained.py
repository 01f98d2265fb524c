"""`olive-iw pretrained`."""

from pathlib import Path
from typing import Annotated, Literal

from olive_iw.cli.arguments import Folder, Shown
from olive_iw.cli.console import console, wrote
from olive_iw.files import write_text
from olive_iw.reports.model_card import model_card
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
    Whoever gets such a file needs no other. With --out a card is written beside it, as hubs of
    models want it in a README.md: what the agent is, what it scored, and how to verify that.

    Example: olive-iw pretrained add runs/breakout/olive-laptop/seed-0 --out agents

    Args:
        action: What to do: add.
        run: Folder of a finished run of an algorithm that learns.
        out: Folder of the file, which has the game's name, and of its card.

    """
    added = add(run, out)
    wrote(added.path, f"{added.path.stat().st_size / 1000:,.0f} kB")
    if out != SHELF:
        card = added.path.with_suffix(".md")
        write_text(card, model_card(added))
        wrote(card, "its card")
    console.print(f"{added.config.game}: {added.description}", highlight=False)
