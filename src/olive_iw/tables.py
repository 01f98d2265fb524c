"""Numbers and tables as everything here prints them: in terminals, Markdown and LaTeX.

Cells may hold text from files of strangers: names of games and of runs. Each rendering escapes it,
as does the page of a report.
"""

import io
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table as RichTable
from rich.text import Text

from olive_iw.errors import clean_text

MINUS = "−"
MISSING = "–"
"""What a cell without a value shows."""
NARROW = 20
"""Characters that a column of words can be broken into, to have all columns side by side."""

MARGINS = 2
"""Characters beside the text of a column."""
NARROW_TERMINAL = 80
"""Columns of a terminal below which a table that does not fit is printed row by row."""

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


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: what it shows, what it sorts by, whether it stands out."""

    text: str
    sort: float | None = None
    """Number to sort by; cells without one sort last."""
    bold: bool = False
    style: str = ""
    """Colour in a terminal."""

    def as_rich(self, width: int) -> Text:
        """Return the text for a terminal; paths that are wider than `width` break at a slash."""
        text = "\n".join(_broken(clean_text(self.text), width))
        return Text(text, f"{'bold ' * self.bold}{self.style}".strip())


def _broken(text: str, width: int) -> Iterator[str]:
    """Break a path that is too wide after slashes; what has blanks is broken there."""
    line = ""
    for part in [text] if " " in text else re.split("(?<=/)", text):
        if line and len(line) + len(part) > width:
            yield line
            line = ""
        line += part
    yield line


EMPTY = Cell(MISSING)


def number_cell(number: float | None) -> Cell:
    """Print a number; None is a cell without a value."""
    return EMPTY if number is None else Cell(plain(number), number)


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

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Let `console.print` show the table as it fits there.

        A table that is wider is printed in parts, each with the column that names the rows; in a
        terminal that is narrow row by row, also where words (paths) would be broken.
        """
        parts = self._parts(options.max_width)
        words = (word for row in self.rows for cell in row for word in cell.text.split())
        broken = max(map(len, words), default=0) > options.max_width // 2
        if options.max_width < NARROW_TERMINAL and (broken or len(parts) > 1):
            parts = []
            yield Text(clean_text(self.title), "italic")
            yield from self._row_by_row(options.max_width)
        for part, columns in enumerate(parts):
            title = f"{self.title}{' (continued)' * (part > 0)}"
            yield Text(clean_text(title), "italic")
            yield self._rich(columns, self._widths(options.max_width))
        for note in self.notes:
            yield Text(clean_text(note))

    def _row_by_row(self, width: int) -> Iterator[Text]:
        """Write every row as a paragraph: `game 0: calls 100, depth 5`."""
        for row in self.rows:
            cells = zip(self.columns, row, strict=True)
            name, *facts = (f"{column} {cell.text}" for column, cell in cells if cell != EMPTY)
            text = textwrap.fill(
                f"{name}: {', '.join(facts)}",
                width,
                subsequent_indent="  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
            yield Text(clean_text(text), no_wrap=True, overflow="ignore")

    def as_text(self, width: int = 100, colour: bool = False) -> str:
        """Plain text for a terminal of `width` columns."""
        out = io.StringIO()
        Console(file=out, width=width, force_terminal=colour, no_color=not colour).print(
            self, crop=False
        )
        return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"

    def _widths(self, width: int) -> list[int]:
        """Say how wide each column is, with its margins; those of words share what is left."""
        wide = [
            MARGINS + max(len(column), *(len(row[index].text) for row in self.rows), 0)
            for index, column in enumerate(self.columns)
        ]
        words = [index for index in range(len(wide)) if index in self.left]
        room = width - sum(size for index, size in enumerate(wide) if index not in words)
        most = room if room >= NARROW * len(words) else width // 2
        for left, index in enumerate(sorted(words, key=wide.__getitem__)):  # who needs least first
            wide[index] = min(wide[index], most // (len(words) - left))
            most -= wide[index]
        return wide

    def _parts(self, width: int) -> list[list[int]]:
        """Choose the columns of every part by index; each has the first, and words may break."""
        wide, parts = self._widths(width), [[0]]
        for index in range(1, len(self.columns)):
            used = sum(wide[column] for column in parts[-1])
            if used + wide[index] > width and len(parts[-1]) > 1:
                parts.append([0])
            parts[-1].append(index)
        return parts

    def _rich(self, columns: Sequence[int], wide: Sequence[int]) -> RichTable:
        table = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
        justify = self._aligned("left", "right")
        for index in columns:
            heading = Text(clean_text(self.columns[index]))
            table.add_column(heading, justify=justify[index], overflow="fold")
        for row in self.rows:
            table.add_row(*(row[index].as_rich(wide[index] - MARGINS) for index in columns))
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


def _markdown(text: str) -> str:
    # No link out of a name: what stands in brackets is followed by no address.
    return " ".join(text.split()).translate(_MARKDOWN).replace("](", "]\\(")


def _latex(text: str) -> str:
    return " ".join(text.split()).translate(_LATEX)
