"""Plots of results, each a matplotlib figure; those without data are left out."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from olive_iw import stats
from olive_iw.randomness import generator
from olive_iw.reports.layout import game_title
from olive_iw.reports.paper_tables import BOOTSTRAP_SEED, aggregates_of, tallies_of
from olive_iw.reports.plot_style import COLOURS, as_png, as_svg, colour, marker, panels, styled
from olive_iw.reports.published import PublishedScores, Scored, normalised, random_scores
from olive_iw.reports.results import System, games_of
from olive_iw.stats import SIGNIFICANCE


def make_plots(
    groups: Sequence[System],
    beside: Sequence[PublishedScores] = (),
    significance: float = SIGNIFICANCE,
) -> dict[str, Figure]:
    """All plots that say something of the results, by the name of their file."""
    with styled():
        made = {
            "scores": scores_plot(groups, beside),
            "aggregates": aggregates_plot(groups),
            "profiles": profiles_plot(groups),
            "wins": wins_plot(groups, significance),
            "learning": learning_plot(groups),
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
    """Write figures of `make_plots` as PNG and SVG; returns the files."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, figure in figures.items():
        for suffix, content in ((".png", as_png(figure)), (".svg", as_svg(figure).encode())):
            paths.append(folder / f"{name}{suffix}")
            paths[-1].write_bytes(content)
    return paths


def scores_plot(groups: Sequence[System], beside: Sequence[PublishedScores] = ()) -> Figure:
    """Mean score with a 95% interval, a panel for every game; published ones hollow."""
    systems: list[Scored] = [*groups, *beside]
    games = games_of(groups)
    summaries = [system.summaries for system in systems]
    scores = [system.scores for system in groups]
    algorithms = [system.algorithm for system in groups]
    colours = list(range(len(systems)))
    for place, one in enumerate(beside, len(groups)):
        if one.name in algorithms:
            colours[place] = algorithms.index(one.name)
    figure, axes = panels(len(games), 3, (3.4, 0.75 + 0.27 * len(systems)), share_y=True)
    for axis, game in zip(axes, games, strict=True):
        lowest = min(float(ours[game].min()) for ours in scores if game in ours)
        # No interval reaches below 0 in a game in which no score ever did.
        floor = 0.0 if min(lowest, random_scores().get(game, 0.0)) >= 0.0 else -math.inf
        for place, found in enumerate(summaries):
            if game in found:
                around = stats.student_interval(found[game])
                shown = stats.Interval(around.point, max(around.low, floor), around.high)
                _dot(axis, place, shown, colours[place], hollow=place >= len(groups))
        _name_rows(axis, [one.label for one in systems], f"{game_title(game)}: score (points)")
        axis.locator_params(axis="x", nbins=4)
        axis.xaxis.set_major_formatter(short_number)
    return figure


def short_number(value: float, _position: float = 0.0) -> str:
    """Print the number of an axis: 7500 as 7.5k, 1200000 as 1.2M."""
    for size, letter in ((1_000_000, "M"), (1000, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}".replace("-", "−")
    return f"{value:g}".replace("-", "−")


def _dot(axis: Axes, place: int, found: stats.Interval, shade: int, hollow: bool = False) -> None:
    ends = np.array([[found.low], [found.high]])
    around = None if math.isnan(found.high) else np.abs(ends - found.point)
    shape, fill = ("o", "none") if hollow else (marker(place), colour(shade))
    (dot, *_) = axis.errorbar(
        found.point, place, xerr=around, fmt=shape, color=colour(shade), capsize=3
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
    labels = [system.label for system in groups]
    figure, axes = panels(len(stats.METRICS), 2, (4.6, 0.8 + 0.3 * len(known)), share_y=True)
    for axis, name in zip(axes, stats.METRICS, strict=True):
        for place, found in enumerate(known):
            if found:
                _dot(axis, place, found[name], place)
        better = " (lower is better)" if name == "optimality gap" else ""
        _name_rows(axis, labels, f"{name}{better}, human = 1")
    return figure


def profiles_plot(groups: Sequence[System]) -> Figure | None:
    """Part of runs above each human-normalised score, with 95% bands."""
    known = [(place, system.label, normalised(system)) for place, system in enumerate(groups)]
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
    axis.set_xlabel("human-normalised score τ (0 random, 1 human)")
    axis.set_ylabel("part of runs with score > τ")
    axis.legend()
    return figure


def wins_plot(groups: Sequence[System], significance: float = SIGNIFICANCE) -> Figure | None:
    """Wins minus losses of the row against the column, with the wins written in."""
    if len(groups) < 2:
        return None
    matrix = tallies_of(groups, significance)
    names = [system.label for system in groups]
    size = 1.9 + 0.75 * len(names)
    figure, (axis,) = panels(1, 1, (size + 1.2, size))
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
    axis.set_xticks(np.arange(len(names)) + 0.5, names, rotation=30, ha="right")
    axis.set_yticks(np.arange(len(names)) + 0.5, names)
    axis.grid(visible=False)
    axis.set(aspect="equal", xlabel="loses (games)", ylabel="wins (games)")
    figure.colorbar(cells, ax=axis, label="wins − losses (games)", shrink=0.85)
    return figure


def learning_plot(groups: Sequence[System]) -> Figure | None:
    """Score of training episodes against training calls, a panel for every game.

    Each point says how many episodes are behind it, where that is not the number of all runs.
    """
    curves = {}
    for game in games_of(groups):
        runs = {one.label: [run.training for run in one.runs if run.game == game] for one in groups}
        curves[game] = {label: stats.learning_curve(traces) for label, traces in runs.items()}
    return _curve_panels(curves, groups, "training calls", "score of training episode (points)")


def anytime_plot(groups: Sequence[System]) -> Figure | None:
    """Score against calls per action; needs runs of one algorithm with several budgets."""
    points: defaultdict[str, defaultdict[str, list[tuple[float, float]]]]
    points = defaultdict(lambda: defaultdict(list))
    others = {(system.budget.training_calls, system.budget.max_actions) for system in groups}
    for system in groups:
        budget = system.budget
        name = f"{system.algorithm} ({system.profile})"
        name += f", {system.variant}" if system.variant else ""
        if len(others) > 1:  # along a curve only the calls per action differ
            name += f", {budget.training_calls:,} training calls"
            name += f", at most {budget.max_actions} actions"
        for row in system.episodes:
            points[row.game][name].append((budget.calls_per_action or 0, row.score))
    curves = {
        game: {name: stats.anytime_curve(found) for name, found in points[game].items()}
        for game in sorted(points)
    }
    return _curve_panels(curves, groups, "calls per action", "score (points)", log=True)


def _curve_panels(
    curves: Mapping[str, Mapping[str, Sequence[stats.CurvePoint]]],
    groups: Sequence[System],
    across: str,
    up: str,
    *,
    log: bool = False,
) -> Figure | None:
    """Draw curves by game and system, a panel for every game that has one of several points."""
    several = {
        game: {name: curve for name, curve in here.items() if len(curve) > 1}
        for game, here in curves.items()
    }
    several = {game: here for game, here in several.items() if here}
    if not several:
        return None
    labels = list(dict.fromkeys(name for here in several.values() for name in here))
    order = [system.label for system in groups]
    figure, axes = panels(len(several), 3, (3.4, 2.6))
    for axis, (game, here) in zip(axes, several.items(), strict=True):
        for name, curve in here.items():
            _curve(axis, curve, (order if name in order else labels).index(name), name)
        axis.set_xlabel(f"{game_title(game)}: {across}")
        axis.locator_params(axis="y", nbins=5)
        axis.yaxis.set_major_formatter(short_number)
        if log:
            axis.set_xscale("log")
        else:
            axis.locator_params(axis="x", nbins=5)
        axis.xaxis.set_major_formatter(short_number)
    figure.supylabel(up, fontsize=10)
    axes[0].legend(fontsize=8)
    return figure


def _curve(axis: Axes, curve: Sequence[stats.CurvePoint], place: int, label: str) -> None:
    calls, mean = [point.calls for point in curve], [point.mean for point in curve]
    error = np.nan_to_num([point.standard_error for point in curve])
    shade, shape = colour(place), f"{marker(place)}-"
    axis.errorbar(calls, mean, error, fmt=shape, color=shade, linewidth=0.8, label=label)
    most = max(point.count for point in curve)
    for point in curve:
        if point.count < most:
            number = f" {point.count}"
            axis.text(point.calls, point.mean, number, va="bottom", fontsize=7, color=shade)
