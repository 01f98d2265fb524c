"""One table model, rendered as text, markdown, LaTeX and HTML.

Cells may hold text from files of strangers: names of games and of runs. Each rendering escapes it.
"""

import html
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.console import Console, ConsoleOptions
from rich.table import Table as RichTable
from rich.text import Text

from olive_iw.errors import clean_text

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


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: what it shows, what it sorts by, whether it stands out."""

    text: str
    sort: float | None = None
    """Number to sort by; cells without one sort last."""
    bold: bool = False


EMPTY = Cell(MISSING)


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table; the first column names the row."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    left: frozenset[int] = frozenset({0})
    """Columns of words, aligned left; the others hold numbers and are aligned right."""

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
        """Choose the columns of every part by index; each has the first."""
        wide = [
            2 + max(len(column), *(len(row[index].text) for row in self.rows), 0)
            for index, column in enumerate(self.columns)
        ]
        parts: list[list[int]] = [[0]]
        used = wide[0]
        for index in range(1, len(self.columns)):
            if used + wide[index] > width and len(parts[-1]) > 1:
                parts.append([0])
                used = wide[0]
            parts[-1].append(index)
            used += wide[index]
        return parts

    def _rich(self, columns: Sequence[int]) -> RichTable:
        table = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for index in columns:
            justify: Literal["left", "right"] = "left" if index in self.left else "right"
            heading = Text(clean_text(self.columns[index]))
            table.add_column(heading, justify=justify, overflow="fold")
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
        rule = [":---" if index in self.left else "---:" for index in range(len(head))]
        table = "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *rows))
        notes = "".join(f"\n{_markdown(note)}\n" for note in self.notes)
        return f"### {_markdown(self.title)}\n\n{table}\n{notes}"

    def as_latex(self) -> str:
        """LaTeX: a `table` in the style of booktabs, with title and notes as its caption."""
        align = "".join("l" if index in self.left else "r" for index in range(len(self.columns)))
        lines = [rf"{' & '.join(line)} \\" for line in self._texts(_latex, r"\textbf{{{}}}")]
        caption = " ".join(_latex(part) for part in (f"{self.title}.", *self.notes))
        before = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{align}}}", r"\toprule"]
        after = [r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}", r"\end{table}"]
        return "\n".join([*before, lines[0], r"\midrule", *lines[1:], *after]) + "\n"

    def as_html(self) -> str:
        """HTML: a sortable table in its own scrolling box, with its notes below."""
        head = "".join(
            f'<th scope="col" class="{self._side(index)}" aria-sort="none">'
            f'<button type="button">{html.escape(column)}</button></th>'
            for index, column in enumerate(self.columns)
        )
        rows = ["".join(map(self._html_cell, range(len(row)), row)) for row in self.rows]
        body = "\n".join(f"<tr>{row}</tr>" for row in rows)
        notes = "".join(f'<p class="note">{html.escape(note)}</p>\n' for note in self.notes)
        return (
            f'<div class="scroll" tabindex="0" role="region" '
            f'aria-label="{html.escape(self.title, quote=True)}">\n'
            f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>\n"
            f"{notes}"
        )

    def _side(self, index: int) -> str:
        return "words" if index in self.left else "number"

    def _html_cell(self, index: int, cell: Cell) -> str:
        text = html.escape(cell.text)
        if cell.bold:
            text = f"<strong>{text}</strong>"
        sort = "" if cell.sort is None else f' data-sort="{cell.sort!r}"'
        if index == 0:
            return f'<th scope="row" class="words"{sort}>{text}</th>'
        return f'<td class="{self._side(index)}"{sort}>{text}</td>'


def _markdown(text: str) -> str:
    # No link out of a name: what stands in brackets is followed by no address.
    return " ".join(text.split()).translate(_MARKDOWN).replace("](", "]\\(")


def _latex(text: str) -> str:
    return " ".join(text.split()).translate(_LATEX)
