"""Numbers, names and tables as every report shows them: in text, markdown, LaTeX and HTML.

Cells may hold text from files of strangers: names of games and of runs. Each rendering escapes it.
"""

import html
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions
from rich.table import Table as RichTable
from rich.text import Text

from olive_iw.errors import clean_text
from olive_iw.stats import Interval, Summary

MINUS = "−"
MISSING = "–"
"""What a cell without a value shows."""

_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\|*_`<$"})
_LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        "–": "--",
        "−": "$-$",
        "π": r"$\pi$",
        "×": r"$\times$",
        "∞": r"$\infty$",
    }
)


def plain(value: float) -> str:
    """Print a score or mean: thousands separated, about four digits, a real minus sign."""
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    size = abs(value)
    digits = 0 if size >= 1000 or value == round(value) else 1 if size >= 10 else 2
    return f"{value:,.{digits}f}".replace("-", MINUS)


def signed(value: float) -> str:
    """Print a difference with its sign, as the paper does: +3, −2, ±0."""
    return "±0" if value == 0 else f"{'+' if value > 0 else ''}{plain(value)}"


def counted(number: int, one: str) -> str:
    """Print a number of things: `1 run`, `1,200 runs`."""
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def game_title(game: str) -> str:
    """Turn a game's name into one for people: `ms_pacman` -> `Ms Pacman`."""
    return game if ":" in game else game.replace("_", " ").title()


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: what it shows, what it sorts by, whether it stands out."""

    text: str
    sort: float | None = None
    """Number to sort by; cells without one sort last."""
    bold: bool = False


EMPTY = Cell(MISSING)


def number_cell(number: float | None) -> Cell:
    """Print a number; None is a cell without a value."""
    return EMPTY if number is None else Cell(plain(number), number)


def score_cell(summary: Summary | None, episodes: int = 0, bold: bool = False) -> Cell:
    """Print mean ± standard error, as far as known, and the `episodes` where a number is given."""
    if summary is None:
        return EMPTY
    error = "" if math.isnan(summary.standard_error) else f" ± {plain(summary.standard_error)}"
    count = f" ({episodes})" if episodes else ""
    return Cell(f"{plain(summary.mean)}{error}{count}", summary.mean, bold)


def interval_cell(found: Interval) -> Cell:
    """Print a point and its interval, two decimals; the point alone where there is no width."""
    around = "" if found.low == found.high else f" [{found.low:.2f}, {found.high:.2f}]"
    return Cell(f"{found.point:.2f}{around}".replace("-", MINUS), found.point)


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table; the first column names the row."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    left: frozenset[int] = frozenset({0})
    """Columns of words, aligned left; the others hold numbers and are aligned right."""

    def _aligned(self, left: Any, right: Any) -> list[Any]:
        """Say of every column how it is aligned, in the words of a rendering."""
        return [left if index in self.left else right for index in range(len(self.columns))]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Let `console.print` show the table as it fits there."""
        yield Text.from_ansi(self.as_text(options.max_width, console.is_terminal))

    def as_text(self, width: int = 100, colour: bool = False) -> str:
        """Plain text for a terminal of `width` columns.

        A table that is wider is printed in parts, each with the column that names the rows.
        """
        out = io.StringIO()
        console = Console(
            file=out, width=width, force_terminal=colour, no_color=not colour, highlight=False
        )
        for part, columns in enumerate(self._parts(width)):
            title = f"{self.title}{' (continued)' * (part > 0)}"
            console.print(Text(clean_text(title), "italic"), self._rich(columns))
        for note in self.notes:
            console.print(Text(clean_text(note)))
        return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"

    def _parts(self, width: int) -> list[list[int]]:
        """Choose the columns of every part by index; each has the first, which may be broken."""
        wide = [
            2 + max(len(column), *(len(row[index].text) for row in self.rows), 0)
            for index, column in enumerate(self.columns)
        ]
        wide[0] = min(wide[0], width // 2)
        parts: list[list[int]] = [[0]]
        for index in range(1, len(self.columns)):
            used = sum(wide[column] for column in parts[-1])
            if used + wide[index] > width and len(parts[-1]) > 1:
                parts.append([0])
            parts[-1].append(index)
        return parts

    def _rich(self, columns: Sequence[int]) -> RichTable:
        table = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
        justify = self._aligned("left", "right")
        for index in columns:
            heading = Text(clean_text(self.columns[index]))
            table.add_column(heading, justify=justify[index], overflow="fold")
        for row in self.rows:
            cells = [row[index] for index in columns]
            table.add_row(
                *(Text(clean_text(cell.text), "bold" if cell.bold else "") for cell in cells)
            )
        return table

    def _texts(self, escape: Callable[[str], str], bold: str) -> list[list[str]]:
        """Head and rows, escaped; `bold` is how bold text is marked, with {} for the text."""
        rows = [[(escape(cell.text), cell.bold) for cell in row] for row in self.rows]
        marked = [[bold.format(text) if strong else text for text, strong in row] for row in rows]
        return [[escape(column) for column in self.columns], *marked]

    def as_markdown(self) -> str:
        """Markdown with a heading of the third level."""
        head, *rows = self._texts(_markdown, "**{}**")
        lines = (head, self._aligned(":---", "---:"), *rows)
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        notes = "".join(f"\n{_markdown(note)}\n" for note in self.notes)
        return f"### {_markdown(self.title)}\n\n{table}\n{notes}"

    def as_latex(self) -> str:
        """LaTeX: a `table` in the style of booktabs, with title and notes as its caption."""
        align = "".join(self._aligned("l", "r"))
        lines = [rf"{' & '.join(line)} \\" for line in self._texts(_latex, r"\textbf{{{}}}")]
        caption = " ".join(_latex(part) for part in (f"{self.title}.", *self.notes))
        before = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{align}}}", r"\toprule"]
        after = [r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}", r"\end{table}"]
        return "\n".join([*before, lines[0], r"\midrule", *lines[1:], *after]) + "\n"

    def as_html(self) -> str:
        """HTML: a sortable table in its own scrolling box, with its notes below."""
        sides = self._aligned("words", "number")
        head = "".join(
            f'<th scope="col" class="{side}" aria-sort="none">'
            f'<button type="button">{_html(column)}</button></th>'
            for side, column in zip(sides, self.columns, strict=True)
        )
        starts = ['th scope="row" class="words"', *(f'td class="{side}"' for side in sides[1:])]
        rows = ["".join(map(_html_cell, starts, row)) for row in self.rows]
        body = "\n".join(f"<tr>{row}</tr>" for row in rows)
        notes = "".join(f'<p class="note">{html.escape(note)}</p>\n' for note in self.notes)
        return (
            f'<div class="scroll" tabindex="0" role="region" '
            f'aria-label="{html.escape(self.title, quote=True)}">\n'
            f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>\n"
            f"{notes}"
        )


def per_game_table(
    title: str,
    games: Sequence[str],
    columns: Mapping[str, Mapping[str, float]],
    notes: Sequence[str] = (),
) -> Table:
    """Lay out the numbers of every column by game."""
    rows = [
        [Cell(game_title(game)), *(number_cell(numbers.get(game)) for numbers in columns.values())]
        for game in games
    ]
    return Table(title, ("game", *columns), rows, notes)


def _html(text: str) -> str:
    """Escape a text, whose lines may end within a list of settings: `width=2,discount=0.5`."""
    return re.sub(r",(?=\w+=)", ",<wbr>", html.escape(text))


def _html_cell(start: str, cell: Cell) -> str:
    text = _html(cell.text)
    if cell.bold:
        text = f"<strong>{text}</strong>"
    sort = "" if cell.sort is None else f' data-sort="{cell.sort!r}"'
    return f"<{start}{sort}>{text}</{start[:2]}>"


def _markdown(text: str) -> str:
    # No link out of a name: what stands in brackets is followed by no address.
    return " ".join(text.split()).translate(_MARKDOWN).replace("](", "]\\(")


def _latex(text: str) -> str:
    return " ".join(text.split()).translate(_LATEX)
