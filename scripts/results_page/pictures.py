"""The pictures of the page: SVG that can be read on a light and on a dark page."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from olive_iw import stats
from olive_iw.reports.layout import game_title
from olive_iw.reports.plot_style import (
    COLOURS,
    INK,
    as_svg,
    colour,
    marker,
    panels,
    short_number,
    styled,
)
from olive_iw.reports.published import published
from olive_iw.reports.results import System
from olive_iw.stats import CurvePoint
from results_page.gather import Evidence
from results_page.measures import MOST, capped, log_ratios

SIX = ("breakout", "freeway", "ms_pacman", "qbert", "seaquest", "space_invaders")
"""Games of the curves, where they were played; others take the place of those that were not."""
ABOVE, BELOW = COLOURS[0], COLOURS[3]
_CUT = 0.45
"""How strong the colour of a bar is whose episode was cut off at the cap."""
_LIGHT, _DARK, _DARK_INK = "#ffffff", "#0d1117", "#e6edf3"
Curves = Mapping[str, Mapping[str, Sequence[CurvePoint]]]
"""Game -> system -> curve."""


def make_pictures(evidence: Evidence) -> dict[str, str]:
    """All pictures that there are data for: name of the file without its ending -> SVG.

    Each says the digest of the evidence it was drawn from.
    """
    lead = evidence.lead
    with styled():
        made = {
            "results-lead": ratios_figure([lead] if lead else []),
            "results-ratios": ratios_figure(evidence.shown if len(evidence.shown) > 1 else []),
            "results-calls": curves_figure(
                calls_curves(evidence), "calls per action", "score", True
            ),
            "results-learning": curves_figure(
                learning_curves(evidence), "training calls", "score of training episode"
            ),
        }
    return {
        name: for_any_page(as_svg(figure), evidence.digest)
        for name, figure in made.items()
        if figure is not None
    }


def for_any_page(svg: str, digest: str) -> str:
    """Give an SVG a ground of its own: light, or dark with light ink where readers prefer that."""
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    inked = (f'[style*="{k}: {INK}"]{{{k}:{_DARK_INK} !important}}' for k in ("fill", "stroke"))
    dark = " ".join((f".ground{{fill:{_DARK}}}", *inked))
    style = (
        f"<style>.ground{{fill:{_LIGHT}}} @media (prefers-color-scheme: dark){{{dark}}}</style>"
        '<rect class="ground" width="100%" height="100%"/>'
    )
    return re.sub(r"(<svg\b[^>]*>)", rf"<!-- evidence {digest} -->\n\1{style}", svg, count=1)


def ratios_figure(systems: Sequence[System]) -> Figure | None:
    """Draw a bar a game: our score above random play over that of the paper's Olive, sorted."""
    olive = published("olive")
    drawn = [(system, log_ratios(system, olive)) for system in systems]
    drawn = [(system, ratios) for system, ratios in drawn if ratios]
    if not drawn:
        return None
    most = max(len(ratios) for _, ratios in drawn)
    figure, axes = panels(len(drawn), 1, (max(7.5, 1.4 + 0.165 * most), 3.5))
    for axis, (system, ratios) in zip(axes, drawn, strict=True):
        _bars(axis, system, ratios, most)
    cap = systems[0].budget.max_actions
    key = [
        Patch(color=ABOVE, label="above"),
        Patch(color=BELOW, label="below"),
        Patch(
            color="#7f7f7f", alpha=_CUT, label=f"pale: our episode was cut off at {cap:,} actions"
        ),
    ]
    axes[0].legend(handles=key, loc="upper right", fontsize=8)
    return figure


def _bars(axis: Axes, system: System, ratios: Mapping[str, float], places: int) -> None:
    games = sorted(ratios, key=lambda game: (-ratios[game], game))
    cut = capped(system)
    for place, game in enumerate(games):
        value = ratios[game]
        shade = ABOVE if value >= 0.0 else BELOW
        # A bar of no height is still to be seen.
        axis.bar(place, value or 0.03, 0.8, color=shade, alpha=_CUT if cut[game] else 1.0)
        if abs(value) == MOST:
            axis.text(
                place, value, "r", ha="center", va="bottom" if value > 0 else "top", fontsize=7
            )
    ahead, cap = sum(value > 0.0 for value in ratios.values()), system.budget.max_actions
    axis.set_title(
        f"{system.label} (at most {cap:,} actions) is above the paper's Olive (18,000) in {ahead} "
        f"of {len(games)} games",
        loc="left",
        fontsize=10,
    )
    axis.axhline(0.0, color=INK, linewidth=0.8)
    names = [game_title(game) for game in games]
    axis.set_xticks(range(len(games)), names, rotation=90, fontsize=7.5)
    axis.set_xlim(-0.7, max(places, 8) - 0.3)
    reach = max(1.0, *(abs(value) for value in ratios.values())) + 0.5
    axis.set_ylim(-reach, reach)
    steps = range(-int(reach), int(reach) + 1, 1 if reach < 4.0 else 2)
    axis.set_yticks(list(steps), [f"×{2**step}" if step >= 0 else f"÷{2**-step}" for step in steps])
    axis.set_ylabel("ratio of scores\nabove random play")
    axis.grid(visible=False, axis="x")


def calls_curves(evidence: Evidence) -> Curves:
    """Score by calls per action, of every system and commit that was run with several."""
    points: defaultdict[str, defaultdict[str, list[tuple[float, float]]]]
    points = defaultdict(lambda: defaultdict(list))
    commits: defaultdict[str, set[str]] = defaultdict(set)
    for version in evidence.versions:
        commits[version.system.label].add(version.commit)
    for version in evidence.versions:
        system = version.system
        several = len(commits[system.label]) > 1
        name = f"{system.label} ({version.commit[:7]})" if several else system.label
        for row in system.episodes:
            points[row.game][name].append((system.budget.calls_per_action or 0, row.score))
    return {
        game: {name: stats.anytime_curve(found) for name, found in points[game].items()}
        for game in points
    }


def learning_curves(evidence: Evidence) -> Curves:
    """Score of training episodes by the training calls spent, of systems that learn."""
    games = evidence.games
    return {
        game: {
            system.label: stats.learning_curve(
                [run.training for run in system.runs if run.game == game]
            )
            for system in evidence.shown
        }
        for game in games
    }


def curves_figure(curves: Curves, across: str, up: str, log: bool = False) -> Figure | None:
    """Draw curves of several points, a panel a game, of six games at most."""
    told = {
        game: {name: curve for name, curve in here.items() if len(curve) > 1}
        for game, here in curves.items()
    }
    # Games that most systems have played come first, and of those the six of our choice.
    games = [game for game in told if told[game]]
    games.sort(key=lambda game: (-len(told[game]), game not in SIX, game))
    games = sorted(games[: len(SIX)])
    if not games:
        return None
    names = list(dict.fromkeys(name for game in games for name in told[game]))
    figure, axes = panels(len(games), 3, (3.3, 2.5))
    for axis, game in zip(axes, games, strict=True):
        for name, curve in told[game].items():
            place = names.index(name)
            means = [point.mean for point in curve]
            (line,) = axis.plot([point.calls for point in curve], means, linewidth=1.2, label=name)
            line.set(color=colour(place), marker=marker(place), markersize=4)
        ticks = {point.calls for curve in told[game].values() for point in curve} if log else set()
        _dress(axis, game_title(game), across, sorted(ticks))
    handles = {
        label: handle
        for axis in axes
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        [handles[name] for name in names],
        names,
        loc="outside upper center",
        ncols=min(4, len(names)),
    )
    figure.supylabel(f"{up} (points)", fontsize=10)
    return figure


def _dress(axis: Axes, title: str, across: str, calls: Sequence[float]) -> None:
    """Name a panel and its axes; `calls` are the ticks of a logarithmic one."""
    number: Callable[..., str] = short_number
    axis.set_title(title, fontsize=10)
    axis.set_xlabel(across)
    if calls:
        axis.set_xscale("log")
        axis.set_xticks(calls)
        axis.minorticks_off()
    else:
        axis.locator_params(axis="x", nbins=5)
    axis.locator_params(axis="y", nbins=5)
    axis.xaxis.set_major_formatter(number)
    axis.yaxis.set_major_formatter(number)
