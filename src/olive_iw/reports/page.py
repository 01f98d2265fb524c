"""The page of a report: one self-contained HTML file with plots inline and sortable tables.

`page.html` and `table.html` have its words; what they are given is escaped.
"""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from olive_iw.files import naming
from olive_iw.reports.layout import game_title
from olive_iw.reports.plot_style import INK, as_svg
from olive_iw.reports.plots import not_drawn
from olive_iw.reports.results import System, games_of
from olive_iw.runs.config import versions
from olive_iw.tables import Table, counted, plain

SMALLEST = 0.7
"""A plot is not made smaller than this in a narrow window; it scrolls."""


def write_page(
    path: Path,
    groups: Sequence[System],
    tables: Mapping[str, Table],
    figures: tuple[Mapping[str, Figure], Mapping[str, Figure]],
    warnings: Sequence[str],
    commands: Sequence[Sequence[str]],
) -> None:
    """Write the page; its links to episodes are relative.

    figures: for wide windows, and for phones
    commands: make the page again, and prove its scores; they stand in its foot
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    games, left_out = games_of(groups), not_drawn(groups)
    text = (
        templates()
        .get_template("page.html")
        .render(
            games=game_title(games[0]) if len(games) == 1 else counted(len(games), "game"),
            groups=groups,
            warnings=warnings,
            names=list(dict.fromkeys([*tables, *figures[0], *left_out])),
            tables=tables,
            drawings={
                name: _drawings(name, *(drawn[name] for drawn in figures)) for name in figures[0]
            },
            left_out=left_out,
            address=partial(_address, base=path.parent),
            now=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
            versions=", ".join(f"{name} {version}" for name, version in versions().items()),
            commands=map(shlex.join, commands),
        )
    )
    with naming(path):
        path.write_text(text, encoding="utf-8", errors="backslashreplace")


@cache
def templates() -> Environment:
    """Return the page's templates; what they are given is escaped."""
    made = Environment(
        loader=PackageLoader("olive_iw", "reports"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "breakable": _breakable,
        "counted": counted,
        "game_title": game_title,
        "plain": plain,
    }
    return made


def _breakable(text: str) -> Markup:
    """Let lines end within a list of settings: `width=2,discount=0.5`."""
    return Markup(re.sub(r",(?=\w+=)", ",<wbr>", str(escape(text))))


def _drawings(name: str, wide: Figure, narrow: Figure) -> list[tuple[str, Markup]]:
    """Windows that a plot is for (`wide`, `narrow`, or empty: all), and its drawing for them."""
    texts = [as_svg(wide), as_svg(narrow)]
    windows = ["wide", "narrow"] if texts[0] != texts[1] else [""]
    return [
        (window, Markup(inline_svg(text, f"{window}{name}")))
        for window, text in zip(windows, texts, strict=False)
    ]


def inline_svg(svg: str, name: str) -> str:
    """Make an SVG fit for HTML: ids of its own, the page's text colour, about its natural width."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    width = re.search(r'<svg[^>]*? width="([\d.]+)pt"', svg)
    pixels = round(float(width[1]) * 4 / 3) if width else 640
    style = f"width: {pixels}px; min-width: {round(SMALLEST * pixels)}px"
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', rf'\1 style="{style}"', svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'href="#', f'href="#{name}-', svg)
    svg = svg.replace("url(#", f"url(#{name}-")
    return svg.replace(INK, "currentColor").replace("<svg ", '<svg role="img" ', 1)


def _address(path: Path, base: Path) -> str:
    """Link to a file from a page in a folder."""
    try:
        relative = os.path.relpath(path.resolve(), base.resolve())
    except ValueError:  # another drive
        return path.resolve().as_uri()
    return quote(os.fsencode(Path(relative).as_posix()))
