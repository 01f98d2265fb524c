"""One report of many runs: read them, make the tables and plots, write the page.

The page is one self-contained HTML file: plots inline, sortable tables, links to episode files.
"""

import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from urllib.parse import quote

from matplotlib.figure import Figure

from olive_iw.reports import paper_tables, run_tables
from olive_iw.reports.choice import check_budgets, choose
from olive_iw.reports.layout import Table, counted, game_title, plain
from olive_iw.reports.plot_style import INK, as_svg
from olive_iw.reports.plots import make_plots, not_drawn, save_plots
from olive_iw.reports.published import PAPER_SYSTEMS, published
from olive_iw.reports.results import System, games_of, read_results, systems
from olive_iw.runs.config import versions
from olive_iw.stats import SIGNIFICANCE, check_significance

MANY_RUNS = 50
"""More than these are listed one by one on the page only."""
SMALLEST = 0.7
"""A plot is not made smaller than this in a narrow window; it scrolls."""
CAPTIONS = {
    "scores": "Mean score of evaluation episodes with a 95% interval; hollow, on grey: published.",
    "aggregates": "Human-normalised aggregates with 95% bootstrap intervals over runs.",
    "wins": "Games won by the row against the column; the colour is wins minus losses.",
    "profiles": "Part of runs above each human-normalised score; 95% bootstrap bands.",
    "learning": "Score of each training episode, mean over runs ± standard error. The small number "
    "tells how many episodes are behind a point, and those after it.",
    "losses": "Loss of the network after each training, mean over runs ± standard error. The small "
    "number tells how many trainings are behind a point, and those after it. Each is over the "
    "screens of its own training set, which grows: a rise need not be a worse network.",
    "anytime": "Score with different budgets of calls per action, mean ± standard error. The small "
    "number tells how many episodes are behind a point, and those after it.",
}
TITLES = {
    "profiles": "Performance profiles",
    "learning": "Learning curves",
    "losses": "Losses over training",
    "anytime": "Score against calls per action",
}
"""Of the plots that stand beside no table."""


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """What `report` found and wrote."""

    systems: Sequence[System]
    tables: Sequence[Table]
    text: str
    """The tables as asked for: plain text, markdown or LaTeX."""
    warnings: Sequence[str]
    """What could not be read, a line each; print these to the standard error."""
    written: Sequence[Path]
    """Files written: the page and the plots."""


def report(
    dirs: Iterable[Path | str],
    *,
    html: Path | str | None = None,
    markdown: bool = False,
    latex: bool = False,
    plots: Path | str | None = None,
    mix_budgets: bool = False,
    only: Sequence[str] = (),
    significance: float = SIGNIFICANCE,
    width: int = 100,
    colour: bool = False,
) -> Report:
    """Report all runs below the folders.

    `html` is the file of the page, `plots` the folder for the plots. Runs with different budgets
    are refused with an `InputError` that says what differs, unless `mix_budgets`, which shows them
    apart. `only` names games, systems or parts of the budget (`choice.choose`).
    A win is one with a two-sided p below `significance`.
    """
    check_significance(significance)
    folders = [str(folder) for folder in dirs]
    results = choose(read_results(folders), only)
    groups = systems(results)
    if not mix_budgets:
        check_budgets(groups, ["olive-iw", "report", *folders])
    algorithms, games = {system.algorithm for system in groups}, set(games_of(groups))
    printed = [published(name) for name in PAPER_SYSTEMS if name in algorithms]
    beside = [one for one in printed if games & set(one.mean)]
    found = {
        "scores": paper_tables.scores_table(groups, beside),
        "wins": paper_tables.ablation_table(groups, significance),
        "bandits": paper_tables.bandit_table(groups, significance),
        "aggregates": paper_tables.aggregates_table(groups),
        "improvement": paper_tables.improvement_table(groups),
        "maxima": paper_tables.maxima_table(groups),
        "runtime": run_tables.runtime_table(groups, beside),
        "calls": run_tables.calls_table(groups),
        "runs": run_tables.runs_table(groups),
    }
    tables = {name: table for name, table in found.items() if table is not None}
    written: list[Path] = []
    if html is not None or plots is not None:
        figures = make_plots(groups, beside, significance)
    if html is not None:
        narrow = make_plots(groups, beside, significance, phone=True)
        again = ["olive-iw", "report", *folders, "--html", str(html)]
        again += ["--mix-budgets"] if mix_budgets else []
        again += ["--only", *only] if only else []
        again += [] if significance == SIGNIFICANCE else ["--significance", f"{significance:g}"]
        commands = [again, *(["olive-iw", "verify", folder] for folder in folders)]
        written.append(Path(html))
        write_page(written[0], groups, tables, (figures, narrow), results.warnings, commands)
    if plots is not None:
        written += save_plots(plots, figures)
    if len(results.runs) > MANY_RUNS:
        del tables["runs"]
    as_text = partial(Table.as_text, width=width, colour=colour)
    render = Table.as_latex if latex else Table.as_markdown if markdown else as_text
    text = "\n".join(map(render, tables.values()))
    return Report(groups, list(tables.values()), text, results.warnings, written)


def write_page(
    path: Path,
    groups: Sequence[System],
    tables: Mapping[str, Table],
    figures: tuple[Mapping[str, Figure], Mapping[str, Figure]],
    warnings: Sequence[str],
    commands: Sequence[Sequence[str]],
) -> None:
    """Write the page; its links to episodes are relative.

    `figures` are those for wide windows and those for phones. `commands` make the page again and
    prove its scores; they stand in its foot.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    games = games_of(groups)
    where = game_title(games[0]) if len(games) == 1 else f"{len(games)} games"
    what = groups[0].label if len(groups) == 1 else f"{len(groups)} systems"
    parts = [f"<h1>{escape(f'{what} on {where}')}</h1>\n", _list(map(_summary, groups))]
    if warnings:
        lines = _list(map(escape, warnings))
        parts.append(f'<div class="warnings"><strong>Warnings</strong>\n{lines}</div>\n')
    sections = _sections(groups, tables, figures, path.parent)
    links = [f'<a href="#{name}">{escape(title)}</a>' for name, (title, _) in sections.items()]
    parts.append(f"<nav>{' '.join(links)}</nav>\n")
    for name, (title, content) in sections.items():
        parts.append(f'<section id="{name}">\n<h2>{escape(title)}</h2>\n{content}</section>\n')
    now = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    made = ", ".join(f"{name} {version}" for name, version in versions().items())
    words = escape(f"Made {now} with {made}. To make it again, and to prove its scores:")
    lines = "".join(f"<pre>{escape(shlex.join(command))}</pre>\n" for command in commands)
    parts.append(f"<footer>\n<p>{words}</p>\n{lines}</footer>\n")
    page, css, js = (
        (files("olive_iw.reports") / f"page.{kind}").read_text(encoding="utf-8")
        for kind in ("html", "css", "js")
    )
    text = Template(page).substitute(css=css, js=js, body="".join(parts))
    path.write_text(text, encoding="utf-8")


def _list(lines: Iterable[str]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{line}</li>" for line in lines) + "\n</ul>\n"


def _summary(system: System) -> str:
    runs, episodes = counted(len(system.runs), "run"), counted(len(system.episodes), "episode")
    text = f" ({system.profile} profile): {runs}, {episodes}; {system.budget}"
    return f"<strong>{escape(system.label)}</strong>{escape(text)}"


def _sections(
    groups: Sequence[System],
    tables: Mapping[str, Table],
    figures: tuple[Mapping[str, Figure], Mapping[str, Figure]],
    base: Path,
) -> dict[str, tuple[str, str]]:
    """Anchor -> heading and content: tables with their plots, other plots, episodes."""
    left_out = not_drawn(groups)
    sections = {}
    for name in dict.fromkeys([*tables, *figures[0], *left_out]):
        content = ""
        if name in figures[0]:
            wide, narrow = (as_svg(drawn[name]) for drawn in figures)
            boxes = _box(wide, name) if wide == narrow else _box(wide, name, "wide")
            boxes += "" if wide == narrow else _box(narrow, name, "narrow")
            caption = escape(CAPTIONS[name])
            content = f"<figure>{boxes}<figcaption>{caption}</figcaption></figure>\n"
        elif name in left_out:
            content = f'<p class="note">No plot: {escape(left_out[name])}.</p>\n'
        table = tables.get(name)
        title = TITLES[name] if table is None else table.title
        sections[name] = title, content + ("" if table is None else table.as_html())
    episodes = ""
    for system in groups:
        head = escape(f"{system.label}: {counted(len(system.episodes), 'episode')}")
        lines = []
        for row in system.episodes:
            text = escape(f"{game_title(row.game)}, seed {row.seed}, episode {row.episode}")
            link = f'<a href="{_relative(row.path, base)}">{text}</a>'
            lines.append(f"{link}: {plain(row.score)}")
        episodes += f"<details><summary>{head}</summary>\n{_list(lines)}</details>\n"
    return {**sections, "episodes": ("Episodes", episodes)}


def _box(svg: str, name: str, windows: str = "") -> str:
    """Put a plot into a box that scrolls if it must, in windows that are wide, narrow, or all."""
    kind = f"scroll {windows}".strip()
    return (
        f'<div class="{kind}" tabindex="0" role="region" '
        f'aria-label="Plot: {name}">\n{inline_svg(svg, f"{windows}{name}")}</div>'
    )


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


def _relative(path: Path, base: Path) -> str:
    try:
        relative = os.path.relpath(path.resolve(), base.resolve())
    except ValueError:  # another drive
        return escape(path.resolve().as_uri(), quote=True)
    return quote(Path(relative).as_posix())
