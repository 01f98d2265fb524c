"""One table model, rendered as text, markdown, LaTeX and HTML."""

import html
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

MISSING = "–"
"""What a cell without a value shows."""

_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "–": "--",
    "−": "$-$",
    "π": r"$\pi$",
    "×": r"$\times$",
    "∞": r"$\infty$",
}


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

    def as_text(self, width: int = 100, colour: bool = False) -> str:
        """Plain text for a terminal of `width` columns.

        A table that is wider is printed in parts, each with the column that names the rows.
        """
        out = io.StringIO()
        console = Console(
            file=out, width=width, force_terminal=colour, no_color=not colour, highlight=False
        )
        for part, columns in enumerate(self._parts(width)):
            console.print(self._rich(columns, f"{self.title}{' (continued)' * (part > 0)}"))
        for note in self.notes:
            console.print(Text(note))
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
            if used + wide[index] > width - 2 and len(parts[-1]) > 1:
                parts.append([0])
                used = wide[0]
            parts[-1].append(index)
            used += wide[index] + 1
        return parts

    def _rich(self, columns: Sequence[int], title: str) -> RichTable:
        table = RichTable(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD)
        for index in columns:
            justify: Literal["left", "right"] = "left" if index in self.left else "right"
            table.add_column(Text(self.columns[index]), justify=justify, overflow="fold")
        for row in self.rows:
            cells = [row[index] for index in columns]
            table.add_row(*(Text(cell.text, style="bold" if cell.bold else "") for cell in cells))
        return table

    def as_markdown(self) -> str:
        """Markdown with a heading of the third level."""
        rule = [":---" if index in self.left else "---:" for index in range(len(self.columns))]
        lines = [_bars(_markdown(column) for column in self.columns), _bars(rule)]
        for row in self.rows:
            lines.append(
                _bars(
                    f"**{_markdown(cell.text)}**" if cell.bold else _markdown(cell.text)
                    for cell in row
                )
            )
        notes = "".join(f"\n{_markdown(note)}\n" for note in self.notes)
        return f"### {self.title}\n\n" + "\n".join(lines) + "\n" + notes

    def as_latex(self) -> str:
        """LaTeX: a `table` in the style of booktabs, with title and notes as its caption."""
        align = "".join("l" if index in self.left else "r" for index in range(len(self.columns)))
        lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{align}}}", r"\toprule"]
        lines += [_ampersands(_latex(column) for column in self.columns), r"\midrule"]
        for row in self.rows:
            lines.append(
                _ampersands(
                    rf"\textbf{{{_latex(cell.text)}}}" if cell.bold else _latex(cell.text)
                    for cell in row
                )
            )
        lines += [r"\bottomrule", r"\end{tabular}"]
        caption = " ".join(_latex(part) for part in (f"{self.title}.", *self.notes))
        lines += [rf"\caption{{{caption}}}", r"\end{table}"]
        return "\n".join(lines) + "\n"

    def as_html(self) -> str:
        """HTML: a sortable table in its own scrolling box, with its notes below."""
        head = "".join(
            f'<th scope="col" class="{self._side(index)}" aria-sort="none">'
            f'<button type="button">{html.escape(column)}</button></th>'
            for index, column in enumerate(self.columns)
        )
        body = "\n".join(self._html_row(row) for row in self.rows)
        notes = "".join(f'<p class="note">{html.escape(note)}</p>\n' for note in self.notes)
        return (
            f"<h3>{html.escape(self.title)}</h3>\n"
            f'<div class="scroll" tabindex="0" role="region" '
            f'aria-label="{html.escape(self.title, quote=True)}">\n'
            f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>\n"
            f"{notes}"
        )

    def _side(self, index: int) -> str:
        return "words" if index in self.left else "number"

    def _html_row(self, row: Sequence[Cell]) -> str:
        return "<tr>" + "".join(self._html_cell(i, cell) for i, cell in enumerate(row)) + "</tr>"

    def _html_cell(self, index: int, cell: Cell) -> str:
        text = html.escape(cell.text)
        if cell.bold:
            text = f"<strong>{text}</strong>"
        sort = "" if cell.sort is None else f' data-sort="{cell.sort!r}"'
        if index == 0:
            return f'<th scope="row" class="words"{sort}>{text}</th>'
        return f'<td class="{self._side(index)}"{sort}>{text}</td>'


def _bars(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _ampersands(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _markdown(text: str) -> str:
    for character in "\\|*_`":
        text = text.replace(character, f"\\{character}")
    return text


def _latex(text: str) -> str:
    return "".join(_LATEX_SPECIAL.get(character, character) for character in text)
