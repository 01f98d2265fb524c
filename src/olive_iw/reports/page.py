"""One self-contained HTML page: plots inline, sortable tables, links to the episode files."""

import html
import os
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

from matplotlib.figure import Figure

from olive_iw.reports.groups import System, games_of
from olive_iw.reports.layout import Table
from olive_iw.reports.numbers import game_title, plain
from olive_iw.reports.paper_tables import (
    ablation_table,
    aggregates_table,
    bandit_table,
    improvement_table,
    maxima_table,
    scores_table,
    seconds_table,
)
from olive_iw.reports.plot_style import INK, as_svg
from olive_iw.reports.published import PublishedScores
from olive_iw.reports.results import EpisodeRow

CAPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "scores": "Mean score of evaluation episodes with a 95% interval; hollow: published.",
        "aggregates": "Human-normalised aggregates; 95% stratified bootstrap intervals over runs.",
        "profiles": "Part of runs above each human-normalised score; 95% bootstrap bands.",
        "wins": "Games won by the row against the column (Mann-Whitney U, p < 0.05); the colour "
        "is wins minus losses.",
        "learning": "Score of the latest training episode, mean over runs ± standard error.",
        "anytime": "Score with different budgets of calls per action, mean ± standard error.",
    }
)


def report_tables(
    groups: Sequence[System], beside: Sequence[PublishedScores] = ()
) -> dict[str, Table]:
    """All tables of a report by name; those without data are left out."""
    several = len(groups) > 1
    tables = {
        "scores": scores_table(groups, beside),
        "wins": ablation_table(groups) if several else None,
        "bandits": bandit_table(groups),
        "aggregates": aggregates_table(groups),
        "improvement": improvement_table(groups),
        "maxima": maxima_table(groups),
        "seconds": seconds_table(groups),
    }
    return {name: table for name, table in tables.items() if table is not None}


def write_html(
    path: Path | str,
    groups: Sequence[System],
    tables: Mapping[str, Table],
    figures: Mapping[str, Figure],
    warnings: Sequence[str] = (),
) -> Path:
    """Write the page of `report_tables` and `make_plots`; its links to episodes are relative."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    plots = {name: as_svg(figure) for name, figure in figures.items()}
    content = _document(_body(groups, tables, plots, warnings, path.parent))
    path.write_text(content, encoding="utf-8")
    return path


def _body(
    groups: Sequence[System],
    tables: Mapping[str, Table],
    plots: dict[str, str],
    warnings: Sequence[str],
    base: Path,
) -> str:
    sections = []
    for anchor, table in tables.items():
        figure = _figure(anchor, plots.pop(anchor)) if anchor in plots else ""
        sections.append(_section(anchor, table.title, figure + table.as_html()))
    for name, svg in plots.items():
        title = {"profiles": "Performance profiles", "learning": "Learning curves"}.get(
            name, "Score against calls per action"
        )
        sections.append(_section(name, title, _figure(name, svg)))
    sections.append(_section("episodes", "Episodes", _episodes(groups, base)))
    links = re.findall(r'<section id="(\S+)">\n<h2>(.*?)</h2>', "".join(sections))
    navigation = " ".join(f'<a href="#{anchor}">{title}</a>' for anchor, title in links)
    head = f"<h1>{_title(groups)}</h1>\n{_summary(groups)}{_warnings(warnings)}"
    return f"{head}<nav>{navigation}</nav>\n{''.join(sections)}"


def _title(groups: Sequence[System]) -> str:
    games = games_of(groups)
    where = game_title(games[0]) if len(games) == 1 else f"{len(games)} games"
    what = groups[0].label if len(groups) == 1 else f"{len(groups)} systems"
    return html.escape(f"{what} on {where}")


def _summary(groups: Sequence[System]) -> str:
    lines = [
        f"<li><strong>{html.escape(system.label)}</strong> ({html.escape(system.profile)} "
        f"profile): {len(system.runs)} runs, {len(system.episodes)} episodes; "
        f"{html.escape(str(system.budget))}</li>"
        for system in groups
    ]
    return "<ul>\n" + "\n".join(lines) + "\n</ul>\n"


def _warnings(warnings: Sequence[str]) -> str:
    if not warnings:
        return ""
    lines = "\n".join(f"<li>{html.escape(line)}</li>" for line in warnings)
    return f'<div class="warnings"><strong>Warnings</strong>\n<ul>\n{lines}\n</ul></div>\n'


def _section(anchor: str, title: str, content: str) -> str:
    # The table repeats its title for other uses; here the section's heading says it.
    content = content.replace(f"<h3>{html.escape(title)}</h3>\n", "", 1)
    return f'<section id="{anchor}">\n<h2>{html.escape(title)}</h2>\n{content}</section>\n'


def _figure(name: str, svg: str) -> str:
    caption = html.escape(CAPTIONS[name])
    return (
        f'<figure><div class="scroll" tabindex="0" role="region" aria-label="Plot: {name}">\n'
        f"{inline_svg(svg, name)}</div><figcaption>{caption}</figcaption></figure>\n"
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
        lines = "\n".join(_episode(row, base) for row in system.episodes)
        parts.append(
            f"<details><summary>{html.escape(system.label)}: {len(system.episodes)} episodes"
            f"</summary>\n<ul>\n{lines}\n</ul></details>\n"
        )
    return "".join(parts)


def _episode(row: EpisodeRow, base: Path) -> str:
    text = html.escape(f"{game_title(row.game)}, seed {row.seed}, episode {row.episode}")
    if row.path is not None:
        text = f'<a href="{_relative(row.path, base)}">{text}</a>'
    return f"<li>{text}: {plain(row.score)}</li>"


def _relative(path: Path, base: Path) -> str:
    try:
        relative = os.path.relpath(path.resolve(), base.resolve())
    except ValueError:  # another drive
        return html.escape(path.resolve().as_uri(), quote=True)
    return quote(Path(relative).as_posix())


def _document(body: str) -> str:
    folder = files("olive_iw.reports")
    style = folder.joinpath("page.css").read_text(encoding="utf-8")
    script = folder.joinpath("page.js").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # An empty icon: otherwise a browser asks the server for one.
        '<link rel="icon" href="data:,">\n'
        f"<title>olive-iw report</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}"
        f"<script>\n{script}</script>\n</body>\n</html>\n"
    )
