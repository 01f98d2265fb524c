"""Plots of results, each a matplotlib figure; those without data are left out."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from scipy.stats import t as student

from olive_iw.randomness import generator
from olive_iw.reports.groups import System, games_of
from olive_iw.reports.numbers import game_title
from olive_iw.reports.paper_tables import BOOTSTRAP_SEED, normalised, tallies_of
from olive_iw.reports.plot_style import (
    COLOURS,
    as_png,
    as_svg,
    colour,
    marker,
    panels,
    styled,
)
from olive_iw.reports.published import PublishedScores
from olive_iw.stats import (
    METRICS,
    CurvePoint,
    Strata,
    Summary,
    anytime_curve,
    bootstrap_interval,
    learning_curve,
    performance_profile,
    summarise,
)

SAMPLES = 2000


def make_plots(
    groups: Sequence[System], beside: Sequence[PublishedScores] = ()
) -> dict[str, Figure]:
    """All plots that the results have data for, by the name of their file."""
    makers: Mapping[str, Callable[[], Figure | None]] = {
        "scores": lambda: scores_plot(groups, beside),
        "aggregates": lambda: aggregates_plot(groups),
        "profiles": lambda: profiles_plot(groups),
        "wins": lambda: wins_plot(groups),
        "learning": lambda: learning_plot(groups),
        "anytime": lambda: anytime_plot(groups),
    }
    with styled():
        made = {name: maker() for name, maker in makers.items()}
    return {name: figure for name, figure in made.items() if figure is not None}


def save_plots(folder: Path | str, figures: Mapping[str, Figure]) -> list[Path]:
    """Write figures of `make_plots` as PNG and SVG; returns the files."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, figure in figures.items():
        for suffix, content in ((".png", as_png(figure)), (".svg", as_svg(figure).encode())):
            path = folder / f"{name}{suffix}"
            path.write_bytes(content)
            paths.append(path)
    return paths


def _half_width(summary: Summary) -> float:
    """Half of a 95% interval of the mean; not a number if nothing is known of the spread."""
    if summary.count < 2:
        return 1.96 * summary.standard_error  # a published error without its number of episodes
    return float(student.ppf(0.975, summary.count - 1)) * summary.standard_error


def scores_plot(groups: Sequence[System], beside: Sequence[PublishedScores] = ()) -> Figure:
    """Mean score with a 95% interval, a panel for every game; published ones hollow."""
    scores = [system.scores for system in groups]
    labels = [system.label for system in groups] + [system.title for system in beside]
    games = games_of(groups)
    colours = [*range(len(groups)), *(_counterpart(groups, i, one) for i, one in enumerate(beside))]
    figure, axes = panels(len(games), 3, (3.4, 0.75 + 0.27 * len(labels)), share_y=True)
    for axis, game in zip(axes, games, strict=True):
        summaries = [summarise(ours[game]) if game in ours else None for ours in scores]
        summaries += [_published_summary(system, game) for system in beside]
        for place, summary in enumerate(summaries):
            if summary is not None:
                _dot(axis, place, summary, colours[place], hollow=place >= len(groups))
        axis.set_yticks(range(len(labels)), labels)
        axis.set_ylim(len(labels) - 0.5, -0.5)
        axis.set_xlabel(f"{game_title(game)}: score (points)")
        axis.margins(x=0.12)
        axis.locator_params(axis="x", nbins=4)
        axis.xaxis.set_major_formatter(short_number)
    return figure


def short_number(value: float, _position: float = 0.0) -> str:
    """Print the number of an axis: 7500 as 7.5k, 1200000 as 1.2M."""
    for size, letter in ((1_000_000, "M"), (1000, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}".replace("-", "−")
    return f"{value:g}".replace("-", "−")


def _counterpart(groups: Sequence[System], index: int, scores: PublishedScores) -> int:
    """Find the system of ours whose colour a published one shares, else a colour of its own."""
    same = [place for place, system in enumerate(groups) if system.algorithm == scores.name]
    return same[0] if same else len(groups) + index


def _published_summary(system: PublishedScores, game: str) -> Summary | None:
    if game not in system.mean:
        return None
    error = system.standard_error.get(game, math.nan)
    return Summary(system.mean[game], error, math.nan, system.episodes or 0)


def _dot(axis: Axes, place: int, summary: Summary, shade: int, hollow: bool) -> None:
    half = _half_width(summary)
    axis.errorbar(
        summary.mean,
        place,
        xerr=None if math.isnan(half) else half,
        fmt="o" if hollow else marker(place),
        color=colour(shade),
        markerfacecolor="none" if hollow else colour(shade),
        capsize=3,
    )


def aggregates_plot(groups: Sequence[System]) -> Figure | None:
    """Human-normalised aggregates with 95% bootstrap intervals."""
    known = [(system.label, normalised(system)) for system in groups]
    known = [(label, scores) for label, scores in known if scores]
    if not known:
        return None
    figure, axes = panels(len(METRICS), 2, (4.6, 0.8 + 0.3 * len(known)), share_y=True)
    for metric_index, (axis, name) in enumerate(zip(axes, METRICS, strict=True)):
        for place, (_, scores) in enumerate(known):
            random = generator(BOOTSTRAP_SEED, metric_index)
            found = bootstrap_interval(scores, METRICS[name], random, SAMPLES)
            below, above = found.point - found.low, found.high - found.point
            axis.errorbar(
                found.point,
                place,
                xerr=[[below], [above]],
                fmt=marker(place),
                color=colour(place),
                capsize=3,
            )
        axis.set_yticks(range(len(known)), [label for label, _ in known])
        axis.set_ylim(len(known) - 0.5, -0.5)
        better = " (lower is better)" if name == "optimality gap" else ""
        axis.set_xlabel(f"{name}{better}, human = 1")
        axis.margins(x=0.12)
    return figure


def profiles_plot(groups: Sequence[System]) -> Figure | None:
    """Part of runs above each human-normalised score, with 95% bands."""
    known = [(system.label, normalised(system)) for system in groups]
    known = [(label, scores) for label, scores in known if scores]
    if not known:
        return None
    highest = max(float(values.max()) for _, scores in known for values in scores.values())
    thresholds = np.concatenate([[0.0], np.geomspace(0.01, max(10.0, highest * 1.2), 80)])
    figure, (axis,) = panels(1, 1, (6.4, 3.6))
    for place, (label, scores) in enumerate(known):
        strata = Strata.of(scores)
        drawn = performance_profile(
            strata.resample(generator(BOOTSTRAP_SEED, place), 500), thresholds
        )
        low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
        line = performance_profile(strata, thresholds)[0]
        style = "-" if place < len(COLOURS) else "--"
        axis.step(thresholds, line, style, where="post", color=colour(place), label=label)
        axis.fill_between(thresholds, low, high, step="post", color=colour(place), alpha=0.18)
    axis.set_xscale("symlog", linthresh=0.1)
    axis.set_xlim(0.0, thresholds[-1])
    axis.set_ylim(0.0, 1.02)
    axis.set_xlabel("human-normalised score τ (0 random, 1 human)")
    axis.set_ylabel("part of runs with score > τ")
    axis.legend()
    return figure


def wins_plot(groups: Sequence[System]) -> Figure | None:
    """Wins minus losses of the row against the column, with the wins written in."""
    if len(groups) < 2:
        return None
    matrix = tallies_of(groups)
    names = [system.label for system in groups]
    size = 1.9 + 0.75 * len(names)
    figure, (axis,) = panels(1, 1, (size + 1.2, size))
    balance = np.zeros((len(names), len(names)))
    for row, one in enumerate(names):
        for column, other in enumerate(names):
            tally = matrix.get((one, other))
            if tally is None:
                axis.text(column, row, "–", ha="center", va="center", color="black")
                continue
            balance[row, column] = tally.wins - tally.losses
            axis.text(column, row, str(tally.wins), ha="center", va="center", color="black")
    limit = max(1.0, float(np.abs(balance).max()))
    colours = LinearSegmentedColormap.from_list("balance", ["#E58F52", "#f4f4f4", "#5AA3D3"])
    places = np.arange(len(names))
    cells = axis.pcolormesh(
        places, places, balance, cmap=colours, vmin=-limit, vmax=limit, edgecolors="white"
    )
    axis.invert_yaxis()
    axis.set_aspect("equal")
    axis.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axis.set_yticks(range(len(names)), names)
    axis.grid(visible=False)
    axis.set_xlabel("loses (games)")
    axis.set_ylabel("wins (games)")
    figure.colorbar(cells, ax=axis, label="wins − losses (games)", shrink=0.85)
    return figure


def learning_plot(groups: Sequence[System]) -> Figure | None:
    """Score of the latest training episode against training calls, a panel for every game."""
    curves: dict[str, dict[str, list[CurvePoint]]] = defaultdict(dict)
    for game in games_of(groups):
        for system in groups:
            traces = [run.training for run in system.runs if run.game == game]
            curve = learning_curve(traces)
            if len(curve) > 1:
                curves[game][system.label] = curve
    return _curve_panels(curves, groups, "training calls", "score of training episode (points)")


def anytime_plot(groups: Sequence[System]) -> Figure | None:
    """Score against calls per action; needs runs of one algorithm with several budgets."""
    rows: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for system in groups:
        for row in system.episodes:
            name = f"{row.algorithm} ({row.profile})"
            rows[row.game][name].append((row.budget.calls_per_action, row.score))
    curves: dict[str, dict[str, list[CurvePoint]]] = {}
    for game, systems_here in sorted(rows.items()):
        made = {name: anytime_curve(points) for name, points in systems_here.items()}
        several = {name: curve for name, curve in made.items() if len(curve) > 1}
        if several:
            curves[game] = several
    return _curve_panels(curves, groups, "calls per action", "score (points)", log=True)


def _curve_panels(
    curves: Mapping[str, Mapping[str, Sequence[CurvePoint]]],
    groups: Sequence[System],
    across: str,
    up: str,
    *,
    log: bool = False,
) -> Figure | None:
    if not curves:
        return None
    labels = list(dict.fromkeys(name for here in curves.values() for name in here))
    order = [system.label for system in groups]
    places = {name: order.index(name) if name in order else i for i, name in enumerate(labels)}
    figure, axes = panels(len(curves), 3, (3.4, 2.6))
    for axis, (game, here) in zip(axes, curves.items(), strict=True):
        for name, curve in here.items():
            _curve(axis, curve, places[name], name, dots=log)
        if log:
            axis.set_xscale("log")
        axis.set_xlabel(f"{game_title(game)}: {across}")
        axis.locator_params(axis="y", nbins=5)
        axis.yaxis.set_major_formatter(short_number)
        if not log:
            axis.xaxis.set_major_formatter(short_number)
            axis.locator_params(axis="x", nbins=5)
    figure.supylabel(up, fontsize=10)
    axes[0].legend(fontsize=8)
    return figure


def _curve(axis: Axes, curve: Sequence[CurvePoint], place: int, label: str, dots: bool) -> None:
    calls = [point.calls for point in curve]
    mean = np.array([point.mean for point in curve])
    error = np.nan_to_num([point.standard_error for point in curve])
    shape = marker(place) if dots else None
    axis.plot(calls, mean, color=colour(place), marker=shape, label=label)
    axis.fill_between(calls, mean - error, mean + error, color=colour(place), alpha=0.2)
