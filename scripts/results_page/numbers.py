"""All numbers behind the pages as CSV files, with nothing rounded that a reader might want."""

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from olive_iw import stats
from olive_iw.reports.published import Scored
from olive_iw.reports.run_tables import call_figures
from results_page.gather import DEVELOPED, Evidence
from results_page.measures import capped, normalised_means, tally_of
from results_page.tables import compared

Row = Sequence[str | int | float | None]


def csv_files(evidence: Evidence) -> dict[str, str]:
    """Name of every file of numbers -> its text; the same evidence gives the same text."""
    files: dict[str, tuple[str, Callable[[Evidence], Iterable[Row]]]] = {
        "scores.csv": ("system,cap,game,episodes,mean,standard error,maximum,normalised", _scores),
        "pairs.csv": (
            "system,against,games,higher,lower,equal,other games higher,other games lower,"
            "other games equal,sign test p,normalised,normalised of the other,difference,low,high",
            _pairs,
        ),
        "calls.csv": (
            "system,game,calls,rollouts,depth,skipped,unused,twins,pruned,tied,exhausted,capped",
            _calls,
        ),
        "versions.csv": ("system,calls per action,games,episodes,commits,packages", _versions),
    }
    return {name: _text(heading, rows(evidence)) for name, (heading, rows) in files.items()}


def _text(heading: str, rows: Iterable[Row]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heading.split(","))
    writer.writerows([_shown(value) for value in row] for row in rows)
    return out.getvalue()


def _shown(value: str | float | None) -> str | int:
    """Print a number with six digits: more would be noise of the machine; unknown ones empty."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value


def _all(evidence: Evidence) -> list[Scored]:
    return [*evidence.shown, *evidence.paper, *evidence.same_cap]


def _scores(evidence: Evidence) -> Iterable[Row]:
    others = [one for one in evidence.surveyed if one not in evidence.shown]
    for system in [*_all(evidence), *others]:
        normalised = normalised_means(system)
        for game, one in sorted(system.summaries.items()):
            counts = (game, one.count or None, one.mean, one.standard_error, one.maximum)
            yield (system.label, system.budget.max_actions, *counts, normalised.get(game))


def _pairs(evidence: Evidence) -> Iterable[Row]:
    pairs: list[tuple[Scored, Scored]] = [(b, a) for a, b in combinations(evidence.shown, 2)]
    published = [*evidence.paper, *evidence.same_cap]
    pairs += [(one, other) for one in evidence.shown for other in published]
    for one, other in pairs:
        tally, tested = tally_of(one, other), tally_of(one, other, DEVELOPED)
        if not tally.games:
            continue
        counts = [*(tally.wins, tally.losses, tally.ties), tested.wins, tested.losses, tested.ties]
        chance = stats.sign_test_p(tested)
        row: list[str | int | float | None] = [one.label, other.label, tally.games, *counts, chance]
        if found := compared(one, other):
            gap = found.difference
            row += [found.first, found.second, gap.point, gap.low, gap.high]
        yield row


def _calls(evidence: Evidence) -> Iterable[Row]:
    for system in evidence.shown:
        cut = capped(system)
        for game, figures in call_figures(system).items():
            yield (system.label, game, *figures.values(), "yes" if cut[game] else "no")


def _versions(evidence: Evidence) -> Iterable[Row]:
    for version in evidence.versions:
        system = version.system
        packages = "; ".join(f"{n} {' and '.join(found)}" for n, found in version.packages.items())
        counts = (system.budget.calls_per_action, len(system.run_means), len(system.episodes))
        yield (system.label, *counts, " ".join(version.made_with), packages)
