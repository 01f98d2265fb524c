"""One self-contained HTML page: plots inline, sortable tables, links to the episode files."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from urllib.parse import quote

from matplotlib.figure import Figure

from olive_iw.reports import paper_tables, run_tables
from olive_iw.reports.groups import System, games_of
from olive_iw.reports.layout import Table
from olive_iw.reports.numbers import counted, game_title, plain
from olive_iw.reports.plot_style import INK, as_svg
from olive_iw.reports.plots import not_drawn
from olive_iw.reports.published import PublishedScores
from olive_iw.reports.results import EpisodeRow
from olive_iw.runs.config import versions
from olive_iw.stats import SIGNIFICANCE

CAPTIONS = {
    "scores": "Mean score of evaluation episodes with a 95% interval; hollow: published.",
    "aggregates": "Human-normalised aggregates with 95% bootstrap intervals over runs.",
    "wins": "Games won by the row against the column; the colour is wins minus losses.",
    "profiles": "Part of runs above each human-normalised score; 95% bootstrap bands.",
    "learning": "Score of each training episode, mean over runs ± standard error; a small number "
    "tells how many episodes are behind a point where not all runs have come that far.",
    "anytime": "Score with different budgets of calls per action, mean ± standard error.",
}
TITLES = {
    "profiles": "Performance profiles",
    "learning": "Learning curves",
    "anytime": "Score against calls per action",
}
"""Of the plots that stand beside no table."""


def report_tables(
    groups: Sequence[System],
    beside: Sequence[PublishedScores] = (),
    significance: float = SIGNIFICANCE,
) -> dict[str, Table]:
    """All tables of a report by name; those without data are left out."""
    tables = {
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
    return {name: table for name, table in tables.items() if table is not None}


def write_html(
    path: Path | str,
    groups: Sequence[System],
    tables: Mapping[str, Table],
    figures: Mapping[str, Figure],
    warnings: Sequence[str] = (),
    commands: Sequence[str] = (),
) -> Path:
    """Write the page of `report_tables` and `make_plots`; its links to episodes are relative.

    `commands` make the page again and prove its scores; they stand in its foot.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    sections = _sections(groups, tables, figures, path.parent)
    navigation = " ".join(
        f'<a href="#{anchor}">{escape(title)}</a>' for anchor, (title, _) in sections.items()
    )
    body = "".join(
        f'<section id="{anchor}">\n<h2>{escape(title)}</h2>\n{content}</section>\n'
        for anchor, (title, content) in sections.items()
    )
    parts = {name: _file(f"page.{name}") for name in ("css", "js")}
    head = f"<h1>{_title(groups)}</h1>\n{_summary(groups)}{_warnings(warnings)}"
    parts["body"] = f"{head}<nav>{navigation}</nav>\n{body}{_foot(commands)}"
    path.write_text(Template(_file("page.html")).substitute(parts), encoding="utf-8")
    return path


def _file(name: str) -> str:
    return files("olive_iw.reports").joinpath(name).read_text(encoding="utf-8")


def _sections(
    groups: Sequence[System], tables: Mapping[str, Table], figures: Mapping[str, Figure], base: Path
) -> dict[str, tuple[str, str]]:
    """Anchor -> heading and content: tables with their plots, other plots, episodes."""
    left_out = not_drawn(groups)
    sections = {}
    for name in dict.fromkeys([*tables, *figures, *left_out]):
        content = _figure(name, as_svg(figures[name])) if name in figures else ""
        if name in left_out and name not in figures:
            content = f'<p class="note">No plot: {escape(left_out[name])}.</p>\n'
        table = tables.get(name)
        title = TITLES[name] if table is None else table.title
        sections[name] = title, content + ("" if table is None else table.as_html())
    sections["episodes"] = "Episodes", _episodes(groups, base)
    return sections


def _title(groups: Sequence[System]) -> str:
    games = games_of(groups)
    where = game_title(games[0]) if len(games) == 1 else f"{len(games)} games"
    what = groups[0].label if len(groups) == 1 else f"{len(groups)} systems"
    return escape(f"{what} on {where}")


def _summary(groups: Sequence[System]) -> str:
    lines = []
    for system in groups:
        runs, episodes = counted(len(system.runs), "run"), counted(len(system.episodes), "episode")
        text = f" ({system.profile} profile): {runs}, {episodes}; {system.budget}"
        lines.append(f"<strong>{escape(system.label)}</strong>{escape(text)}")
    return _list(lines)


def _list(lines: Iterable[str]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{line}</li>" for line in lines) + "\n</ul>\n"


def _warnings(warnings: Sequence[str]) -> str:
    if not warnings:
        return ""
    lines = _list(escape(line) for line in warnings)
    return f'<div class="warnings"><strong>Warnings</strong>\n{lines}</div>\n'


def _foot(commands: Sequence[str]) -> str:
    now = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    made = ", ".join(f"{name} {version}" for name, version in versions().items())
    lines = "".join(f"<pre>{escape(command)}</pre>\n" for command in commands)
    words = escape(f"Made {now} with {made}. To make it again, and to prove its scores:")
    return f"<footer>\n<p>{words}</p>\n{lines}</footer>\n"


def _figure(name: str, svg: str) -> str:
    return (
        f'<figure><div class="scroll" tabindex="0" role="region" aria-label="Plot: {name}">\n'
        f"{inline_svg(svg, name)}</div><figcaption>{escape(CAPTIONS[name])}</figcaption></figure>\n"
    )


def inline_svg(svg: str, name: str) -> str:
    """Make an SVG fit for HTML: ids of its own, the page's text colour, natural width."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    width = re.search(r'<svg[^>]*? width="([\d.]+)pt"', svg)
    pixels = round(float(width[1]) * 4 / 3) if width else 640
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', rf'\1 style="width: {pixels}px"', svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'href="#', f'href="#{name}-', svg)
    svg = svg.replace("url(#", f"url(#{name}-")
    return svg.replace(INK, "currentColor").replace("<svg ", '<svg role="img" ', 1)


def _episodes(groups: Sequence[System], base: Path) -> str:
    parts = []
    for system in groups:
        head = escape(f"{system.label}: {counted(len(system.episodes), 'episode')}")
        lines = _list(_episode(row, base) for row in system.episodes)
        parts.append(f"<details><summary>{head}</summary>\n{lines}</details>\n")
    return "".join(parts)


def _episode(row: EpisodeRow, base: Path) -> str:
    text = escape(f"{game_title(row.game)}, seed {row.seed}, episode {row.episode}")
    return f'<a href="{_relative(row.path, base)}">{text}</a>: {plain(row.score)}'


def _relative(path: Path, base: Path) -> str:
    try:
        relative = os.path.relpath(path.resolve(), base.resolve())
    except ValueError:  # another drive
        return escape(path.resolve().as_uri(), quote=True)
    return quote(Path(relative).as_posix())
