"""Curves, each a matplotlib figure: scores and losses of systems over the calls they spent."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from olive_iw import stats
from olive_iw.algorithms import shown_name
from olive_iw.reports.layout import game_title
from olive_iw.reports.plot_style import broken, colour, marker, panels, short_number
from olive_iw.reports.results import Run, System, games_of


def learning_plot(groups: Sequence[System]) -> Figure | None:
    """Score of training episodes against training calls, a panel for every game."""
    curves = _over_training(groups, lambda run: run.training)
    up = "score of training episode (points)"
    return _curve_panels(curves, groups, "training calls", up)


def losses_plot(groups: Sequence[System]) -> Figure | None:
    """Loss of the network after each of its trainings, a panel for every game."""
    curves = _over_training(groups, lambda run: run.losses)
    up = "loss (nats a screen)"
    return _curve_panels(curves, groups, "training calls", up)


def _over_training(
    groups: Sequence[System], trace: Callable[[Run], stats.TrainingTrace]
) -> dict[str, dict[str, list[stats.CurvePoint]]]:
    """Game -> system -> a curve over the training of all its runs."""
    return {
        game: {
            one.label: stats.learning_curve([trace(run) for run in one.runs if run.game == game])
            for one in groups
        }
        for game in games_of(groups)
    }


def anytime_plot(groups: Sequence[System]) -> Figure | None:
    """Score against calls per action; needs runs of one algorithm with several budgets."""
    points: defaultdict[str, defaultdict[str, list[tuple[float, float]]]]
    points = defaultdict(lambda: defaultdict(list))
    others = {(system.budget.training_calls, system.budget.max_actions) for system in groups}
    for system in groups:
        budget = system.budget
        name = f"{shown_name(system.algorithm)} ({system.profile})"
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
    if len(groups) > 1:
        _add_legend(figure, axes)
    return figure


def _add_legend(figure: Figure, axes: Sequence[Axes]) -> None:
    """Name all curves above the panels, in room that is added for it."""
    pairs = (pair for axis in axes for pair in zip(*axis.get_legend_handles_labels(), strict=True))
    handles = {broken(name): line for line, name in pairs}
    lines = sum(name.count("\n") + 1 for name in handles)
    figure.set_figheight(figure.get_figheight() + 0.2 + 0.15 * lines)
    figure.legend(handles.values(), handles, loc="outside upper left", fontsize=8)


def _curve(axis: Axes, curve: Sequence[stats.CurvePoint], place: int, label: str) -> None:
    """Draw points, and beside each the number of episodes behind it, where that is a new one."""
    calls, mean = [point.calls for point in curve], [point.mean for point in curve]
    error = np.nan_to_num([point.standard_error for point in curve])
    shade = colour(place)
    axis.plot(calls, mean, color=shade, linewidth=0.8, alpha=0.4)
    axis.errorbar(calls, mean, error, fmt=marker(place), color=shade, label=label)
    before = 0
    for point in curve:
        if point.count != before:
            axis.annotate(
                f"{point.count:,}",
                (point.calls, point.mean),
                xytext=(4, 3),
                textcoords="offset points",
                fontsize=7,
                color=shade,
            )
        before = point.count
