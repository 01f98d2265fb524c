"""Plots of results, each a matplotlib figure; those without data are left out."""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from olive_iw import stats
from olive_iw.files import naming
from olive_iw.randomness import generator
from olive_iw.reports.curve_plots import anytime_plot, learning_plot, losses_plot
from olive_iw.reports.layout import game_title
from olive_iw.reports.paper_tables import BOOTSTRAP_SEED, aggregates_of, tallies_of
from olive_iw.reports.plot_style import (
    COLOURS,
    GRID,
    KINDS,
    as_file,
    broken,
    colour,
    marker,
    panels,
    row_height,
    short_number,
    styled,
)
from olive_iw.reports.published import PublishedScores, Scored, normalised, random_scores
from olive_iw.reports.results import System, games_of
from olive_iw.stats import SIGNIFICANCE


def make_plots(
    groups: Sequence[System],
    beside: Sequence[PublishedScores] = (),
    significance: float = SIGNIFICANCE,
    *,
    phone: bool = False,
) -> dict[str, Figure]:
    """All plots that say something of the results, by the name of their file.

    Those for a `phone` have their panels below each other.
    """
    with styled():
        wins = wins_plot(groups, significance)  # the same on a phone, where it scrolls
    with styled(phone):
        made = {
            "scores": scores_plot(groups, beside),
            "aggregates": aggregates_plot(groups),
            "profiles": profiles_plot(groups),
            "wins": wins,
            "learning": learning_plot(groups),
            "losses": losses_plot(groups),
            "anytime": anytime_plot(groups),
        }
    left_out = not_drawn(groups, beside)
    return {name: plot for name, plot in made.items() if plot is not None and name not in left_out}


def not_drawn(groups: Sequence[System], beside: Sequence[PublishedScores] = ()) -> dict[str, str]:
    """Say which plots would mean nothing, with one run or one episode behind them, and why."""
    runs = [scores.size for system in groups for scores in normalised(system).values()]
    scores = [system.scores for system in groups]
    several = [{game for game in games if games[game].size > 1} for games in scores]
    reasons = {}
    if not any(several) and len(groups) + len(beside) == 1:
        reasons["scores"] = "there is one episode of each game, and nothing to compare it with"
    if runs and max(runs) == 1:
        reasons["aggregates"] = "there is one run of each game, so nothing is known of their spread"
    if sum(runs) == 1:
        reasons["profiles"] = "there is a single run"
    if len(groups) > 1 and not any(one & other for one, other in combinations(several, 2)):
        reasons["wins"] = "with one episode on a side no game can be won with significance"
    return reasons


def save_plots(folder: Path | str, figures: Mapping[str, Figure]) -> list[Path]:
    """Write figures of `make_plots` as PNG, SVG and PDF; returns the files."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, figure in figures.items():
        for kind in KINDS:
            paths.append(folder / f"{name}.{kind}")
            with naming(paths[-1]):
                paths[-1].write_bytes(as_file(figure, kind))
    return paths


def scores_plot(groups: Sequence[System], beside: Sequence[PublishedScores] = ()) -> Figure:
    """Mean score with a 95% interval, a panel for every game; published ones hollow, on grey."""
    systems: list[Scored] = [*groups, *beside]
    games = games_of(groups)
    summaries = [system.summaries for system in systems]
    scores = [system.scores for system in groups]
    algorithms = [system.algorithm for system in groups]
    colours = list(range(len(systems)))
    for place, one in enumerate(beside, len(groups)):
        if one.name in algorithms:
            colours[place] = algorithms.index(one.name)
    labels = [broken(one.label) for one in systems]
    size = (3.4, 0.75 + row_height(labels) * len(systems))
    figure, axes = panels(len(games), 3, size, share_y=True)
    for axis, game in zip(axes, games, strict=True):
        lowest = min(float(ours[game].min()) for ours in scores if game in ours)
        # No interval reaches below 0 in a game in which no score ever did.
        floor = 0.0 if min(lowest, random_scores().get(game, 0.0)) >= 0.0 else -math.inf
        for place, found in enumerate(summaries):
            if game in found:
                around = stats.student_interval(found[game])
                shown = stats.Interval(around.point, max(around.low, floor), around.high)
                _dot(axis, place, shown, colours[place], hollow=place >= len(groups))
        _name_rows(axis, labels, f"{game_title(game)}: score (points)")
        if beside:
            axis.axhspan(len(groups) - 0.5, len(systems) - 0.5, color=GRID, alpha=0.18, linewidth=0)
        axis.locator_params(axis="x", nbins=4)
        axis.xaxis.set_major_formatter(short_number)
        if axis.get_xlim()[0] < floor:  # nor does the axis, but for half a dot
            axis.set_xlim(left=floor - 0.04 * (axis.get_xlim()[1] - floor))
    return figure


def _dot(axis: Axes, place: int, found: stats.Interval, shade: int, hollow: bool = False) -> None:
    ends = np.array([[found.low], [found.high]])
    around = None if math.isnan(found.high) else np.abs(ends - found.point)
    shape, fill, thick = ("D", "none", 0.9) if hollow else (marker(place), colour(shade), 1.8)
    (dot, *_) = axis.errorbar(
        found.point, place, xerr=around, fmt=shape, color=colour(shade), capsize=3, elinewidth=thick
    )
    dot.set_markerfacecolor(fill)


def _name_rows(axis: Axes, labels: Sequence[str], across: str) -> None:
    axis.set_yticks(range(len(labels)), labels)
    axis.set(ylim=(len(labels) - 0.5, -0.5), xlabel=across)
    axis.margins(x=0.12)


def aggregates_plot(groups: Sequence[System]) -> Figure | None:
    """Human-normalised aggregates with 95% bootstrap intervals."""
    known = [aggregates_of(system) for system in groups]
    if not any(known):
        return None
    labels = [broken(system.label) for system in groups]
    size = (4.6, 0.95 + row_height(labels) * len(known))
    figure, axes = panels(len(stats.METRICS), 2, size, share_y=True)
    for axis, name in zip(axes, stats.METRICS, strict=True):
        for place, found in enumerate(known):
            if found:
                _dot(axis, place, found[name], place)
        better = "lower is better, " if name == "optimality gap" else ""
        _name_rows(axis, labels, f"{name}\n({better}human = 1)")
        axis.locator_params(axis="x", nbins=4)
    return figure


def profiles_plot(groups: Sequence[System]) -> Figure | None:
    """Part of runs above each human-normalised score, with 95% bands."""
    known = [
        (place, broken(system.label), normalised(system)) for place, system in enumerate(groups)
    ]
    known = [one for one in known if one[2]]
    highest = max((float(own.max()) for *_, scores in known for own in scores.values()), default=0)
    if highest <= 0:  # nothing to see above random play
        return None
    thresholds = np.concatenate([[0.0], np.geomspace(0.01, max(10.0, highest * 1.2), 80)])
    figure, (axis,) = panels(1, 1, (6.4, 3.6))
    for place, label, scores in known:
        strata = stats.Strata.of(scores)
        drawn = strata.resample(generator(BOOTSTRAP_SEED, place), 500)
        low, high = np.percentile(stats.performance_profile(drawn, thresholds), [2.5, 97.5], axis=0)
        line = stats.performance_profile(strata, thresholds)[0]
        style = "-" if place < len(COLOURS) else "--"
        axis.step(thresholds, line, style, where="post", color=colour(place), label=label)
        axis.fill_between(thresholds, low, high, step="post", color=colour(place), alpha=0.18)
    axis.set_xscale("symlog", linthresh=0.1)
    axis.xaxis.set_major_formatter(short_number)
    axis.set(xlim=(0.0, thresholds[-1]), ylim=(0.0, 1.02))
    axis.set_xlabel("human-normalised score τ\n(0 random, 1 human)")
    axis.set_ylabel("part of runs with score > τ")
    axis.legend(fontsize=8)
    return figure


def wins_plot(groups: Sequence[System], significance: float = SIGNIFICANCE) -> Figure | None:
    """Wins minus losses of the row against the column, with the wins written in."""
    if len(groups) < 2:
        return None
    matrix = tallies_of(groups, significance)
    names = [system.label for system in groups]
    shown = [broken(name) for name in names]
    figure, (axis,) = panels(1, 1, _wins_size(shown))
    balance = np.zeros((len(names), len(names)))
    for row, one in enumerate(names):
        for column, other in enumerate(names):
            tally = matrix.get((one, other))
            wins = "–" if tally is None else str(tally.wins)
            axis.text(column + 0.5, row + 0.5, wins, ha="center", va="center", color="black")
            balance[row, column] = 0 if tally is None else tally.wins - tally.losses
    limit = max(1.0, float(np.abs(balance).max()))
    colours = LinearSegmentedColormap.from_list("balance", ["#E58F52", "#f4f4f4", "#5AA3D3"])
    # Cells that are drawn, not an image: the page can enlarge them.
    cells = axis.pcolormesh(balance, cmap=colours, vmin=-limit, vmax=limit, edgecolors="white")
    axis.invert_yaxis()
    axis.set_xticks(np.arange(len(names)) + 0.5, shown, rotation=30, ha="right")
    axis.set_yticks(np.arange(len(names)) + 0.5, shown)
    axis.grid(visible=False)
    axis.set(aspect="equal", xlabel="loses (games)", ylabel="wins (games)")
    whole = MaxNLocator(integer=True)  # there is no half of a game
    figure.colorbar(cells, ax=axis, label="wins − losses (games)", shrink=0.85, ticks=whole)
    return figure


def _wins_size(labels: Sequence[str]) -> tuple[float, float]:
    """Inches of the picture of wins: room for square cells, and for labels on two sides.

    The layout keeps cells square and cuts what is then left no room, so the room must be there.
    """
    lines = [line for label in labels for line in label.split("\n")]
    longest, most = 0.085 * max(map(len, lines)), max(label.count("\n") + 1 for label in labels)
    cells = 0.75 * len(labels)
    return cells + longest + 2.0, cells + 0.5 * longest + 0.17 * most + 0.7
