"""Tables about runs themselves: what one came to, its time, its calls, and its proof."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from olive_iw.algorithms import shown_name
from olive_iw.reports.layout import game_title, per_game_table, score_cell
from olive_iw.reports.published import PAPER_SYSTEMS, PublishedScores, caps_note, published
from olive_iw.reports.results import (
    Budget,
    System,
    by_game,
    games_of,
    read_results,
    without_budget,
)
from olive_iw.runs.records import Result
from olive_iw.runs.verification import Outcome, Verification
from olive_iw.stats import summarise
from olive_iw.tables import EMPTY, MISSING, Cell, Table, counted, number_cell


def run_table(result: Result) -> Table:
    """Scores of one run beside the paper's for that game, with everybody's budgets."""
    variant = without_budget(result.variant or "")
    name = shown_name(result.algorithm)
    own = ", ".join((f"{name}-{result.profile}", *filter(None, (variant, "here"))))
    budget = Budget(result.training_calls, result.calls_per_action, result.max_actions)
    known = {own: (summarise(result.scores), budget)}
    for one in map(published, PAPER_SYSTEMS):
        if result.game in one.mean:
            known[one.label] = one.summaries[result.game], one.budget
    rows = []
    for label, (summary, allowed) in known.items():
        calls = (allowed.training_calls, allowed.calls_per_action)
        numbers = (summary.maximum, summary.count or None, *calls)
        rows.append([Cell(label), score_cell(summary), *map(number_cell, numbers)])
    rows[0] = [replace(cell, bold=True) for cell in rows[0]]
    notes = caps_note({label: allowed.max_actions for label, (_, allowed) in known.items()})
    notes.append("Training and per action: budgets in simulator calls.")
    if result.seconds_per_action is not None:
        notes[-1] += f" Here {result.seconds_per_action:.2f} seconds per action."
    columns = ("system", "mean ± stderr", "max", "games", "training", "per action")
    return Table(f"{game_title(result.game)}: mean score", columns, rows, notes)


def _added_up(system: System) -> Mapping[str, Mapping[str, float]]:
    """Game -> counts added up over its episodes; only counts that all of these have recorded."""
    games: defaultdict[str, list[Mapping[str, float]]] = defaultdict(list)
    for row in system.episodes:
        games[row.game].append(row.counts)
    return {
        game: {
            name: sum(counts[name] for counts in episodes)
            for name in set.intersection(*(set(counts) for counts in episodes))
        }
        for game, episodes in games.items()
    }


def _ratio(counts: Mapping[str, float], above: str, *below: str) -> float | None:
    """Quotient of counts; None where one was not recorded, or the sum of `below` is 0."""
    if any(name not in counts for name in (above, *below)):
        return None
    total = sum(counts[name] for name in below)
    return counts[above] / total if total else None


def runtime_table(groups: Sequence[System], beside: Sequence[PublishedScores] = ()) -> Table:
    """Seconds per action and per 100 calls of every game, and what is published of the latter."""
    columns: dict[str, Mapping[str, float]] = {}
    for system in groups:
        per_action = by_game(
            (row.game, row.counts["seconds"] / row.counts["actions"])
            for row in system.episodes
            if row.counts["actions"]
        )
        per_call = {
            game: _ratio(counts, "seconds", "calls") for game, counts in _added_up(system).items()
        }
        columns[f"{system.label}: s/action"] = {
            game: float(paces.mean()) for game, paces in per_action.items()
        }
        columns[f"{system.label}: s/100 calls"] = {
            game: 100 * value for game, value in per_call.items() if value is not None
        }
    for one in beside:
        if one.seconds_per_100_calls:
            columns[f"{one.label}: s/100 calls"] = one.seconds_per_100_calls
    note = (
        "A decision that runs out of novel states makes fewer calls than it may, so seconds per "
        "action and per 100 calls differ; the paper's runtime column is the latter."
    )
    title = "Runtime: seconds per action, and per 100 calls"
    return per_game_table(title, games_of(groups), columns, [note])


_QUOTIENTS = {
    "calls": ("calls", "actions"),
    "rollouts": ("rollouts", "actions"),
    "depth": ("rollout_depth", "rollouts"),
    "skipped": ("skipped_twins", "actions"),
}
"""Column -> count, and what it is divided by."""
_SHARES = {
    "unused": ("unused_calls", "calls", "unused_calls"),
    "twins": ("twins", "calls"),
    "pruned": ("pruned_new", "calls"),
    "tied": ("tied_decisions", "actions"),
    "exhausted": ("exhausted", "actions"),
}
"""Column -> count, and the counts that it is a share of."""
_CALLS_NOTE = (
    "Calls and rollouts: per decision; depth: where rollouts end, on average; skipped: actions a "
    "decision left out as likely twins. Of the calls given: unused. Of the calls made: twins came "
    "to the state of a sibling, pruned showed nothing new. Of the decisions: tied had several best "
    f"actions, exhausted had nothing left to search. {MISSING}: none, or not recorded."
)


def call_figures(system: System) -> dict[str, dict[str, float | None]]:
    """Where the calls of each game went: the columns of `calls_table` by name."""
    return {game: _figures(counts) for game, counts in _added_up(system).items()}


def _figures(counts: Mapping[str, float]) -> dict[str, float | None]:
    return {name: _ratio(counts, *names) for name, names in (_QUOTIENTS | _SHARES).items()}


def calls_table(groups: Sequence[System]) -> Table:
    """Where the calls went: a row for every game and system."""
    added = {system.label: _added_up(system) for system in groups}
    return _calls_table(
        {
            game_title(game) + (f", {label}" if len(groups) > 1 else ""): added[label][game]
            for game in games_of(groups)
            for label in added
            if game in added[label]
        }
    )


def run_calls_table(folder: Path) -> Table:
    """Where the calls of one run went: a row for every evaluation episode."""
    (run,) = read_results([folder]).runs
    return _calls_table({str(row.episode): row.counts for row in run.episodes})


def _calls_table(counted_of: Mapping[str, Mapping[str, float]]) -> Table:
    """Lay out what was counted of every row, by the row's name."""
    rows, notes = [], [_CALLS_NOTE]
    for name, counts in counted_of.items():
        rows.append([Cell(name), *call_cells(_figures(counts))])
        if counts.get("table_overflows"):
            full = counted(int(counts["table_overflows"]), "decision")
            notes.append(f"{name}: in {full} a novelty table was full; more counted as not new.")
    return Table("Where the calls went", ("game", *_QUOTIENTS, *_SHARES), rows, notes)


def call_cells(figures: Mapping[str, float | None]) -> list[Cell]:
    """Print figures of `call_figures`: shares as percents."""
    return [
        Cell(f"{value:.0%}", value) if name in _SHARES and value is not None else number_cell(value)
        for name, value in figures.items()
    ]


def runs_table(groups: Sequence[System]) -> Table:
    """Every run, with its mean score and whether that was proved."""
    rows = []
    for system in groups:
        for run in system.runs:
            scores = [row.score for row in run.episodes]
            mean = number_cell(sum(scores) / len(scores) if scores else None)
            name = f"{game_title(run.game)}, {system.label}, seed {run.seed}"
            rows.append([Cell(name), Cell(run.proof), Cell(str(len(scores)), len(scores)), mean])
    note = "Episodes that contradict their run do not count. To prove runs: olive-iw verify."
    columns = ("run", "proof", "episodes", "mean score")
    return Table("Runs", columns, rows, [note], left=frozenset({0, 1}))


def verification_table(found: Sequence[Verification], only_problems: bool = False) -> Table:
    """Lay verifications out as a table, with warnings and differences as notes.

    With `only_problems` there is no row for an episode that was confirmed.
    """
    rows = []
    for one in found:
        if only_problems and one.confirmed:
            continue
        score = EMPTY if one.score is None else Cell(f"{one.score:g}", one.score)
        rows.append([Cell(str(Path(*one.path.parts[-5:]))), Cell(one.outcome.value), score])
    notes = [one.message for one in found if not one.confirmed]
    notes += dict.fromkeys(f"warning: {line}" for one in found for line in one.warnings)
    counts = Counter(one.outcome for one in found)
    notes.append(", ".join(f"{counts[outcome]} {outcome.value}" for outcome in Outcome) + ".")
    columns = ("episode", "outcome", "score")
    return Table("Episodes replayed", columns, rows, notes, left=frozenset({0, 1}))
