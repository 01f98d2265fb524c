"""Reading run folders: one row per evaluation episode, and a warning for whatever is left out.

Nothing here stops at a damaged file: the rest is still read, and `Results.warnings` says in one
line each what was wrong and where. What contradicts its run does not count.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Literal, TypeAlias

from olive_iw.errors import InputError
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.runs.records import EpisodeRecord
from olive_iw.runs.verification import CheckedRun, check_run, is_verified
from olive_iw.stats import TrainingTrace

COUNTED = (
    *("calls", "seconds", "rollouts", "rollout_depth", "exhausted"),
    *("unused_calls", "twins", "pruned_new", "tied_decisions", "table_overflows"),
)
"""What is counted in an episode's file; older files have only the first line's."""
Proof: TypeAlias = Literal["verified", "not verified", "contradicts"]


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run was allowed to spend."""

    training_calls: int
    calls_per_action: int
    max_actions: int | None

    def __str__(self) -> str:
        limit = f", {self.max_actions:,} actions an episode" if self.max_actions else ""
        return (
            f"{self.training_calls:,} training calls, "
            f"{self.calls_per_action:,} calls per action{limit}"
        )


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """One evaluation episode."""

    game: str
    seed: int
    episode: int
    score: float
    path: Path
    counts: Mapping[str, float]
    """Its numbers of `COUNTED`, and of `actions`, as far as they were recorded."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One run folder."""

    path: Path
    game: str
    algorithm: str
    profile: str
    variant: str
    """What differs from the algorithm's defaults, but for the budget: `width=2,discount=0.5`."""
    seed: int
    budget: Budget
    episodes: Sequence[EpisodeRow]
    training: TrainingTrace
    finished: bool
    proof: Proof
    """`verified`: `verify` has confirmed it, here, as it is now; `contradicts`: some of its files
    cannot be of this run, and do not count."""

    @property
    def name(self) -> tuple[str, str, str, str, int, Budget]:
        """What no two runs should share."""
        return self.game, self.algorithm, self.profile, self.variant, self.seed, self.budget


@dataclass(slots=True, eq=False)
class Results:
    """Everything that could be read."""

    runs: list[Run] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def episodes(self) -> list[EpisodeRow]:
        """Evaluation episodes of all runs."""
        return [row for run in self.runs for row in run.episodes]


def read_results(folders: Iterable[Path | str]) -> Results:
    """Read every run below the folders; raises `InputError` if there is nothing to read."""
    roots = [Path(folder) for folder in folders]
    for root in roots:
        if not root.is_dir():
            raise InputError(f"{root} is not a folder; give a folder of runs, such as runs")
    results = Results()
    seen: dict[object, tuple[Run, bytes]] = {}
    for folder in _run_folders(roots):
        checked = check_run(folder)
        run = _run(checked, results.warnings)
        if run is None:
            continue
        moves = [(one.episode, one.actions, one.rewards) for one in _evaluation(checked)]
        played = hashlib.sha256(repr(moves).encode()).digest()  # the moves of many runs are much
        if run.name in seen:
            first, before = seen[run.name]
            what = "left out" if played == before else "but played otherwise; both count"
            results.warnings.append(f"{folder}: the same run as {first.path}; {what}")
            if played == before:
                continue
        seen.setdefault(run.name, (run, played))
        results.runs.append(run)
    if not results.episodes:
        where = ", ".join(str(root) for root in roots) or "no folder"
        damaged = f" ({'; '.join(results.warnings)})" if results.warnings else ""
        raise InputError(f"no evaluation episode found in {where}{damaged}; play one with: run")
    return results


def _run_folders(roots: Iterable[Path]) -> Iterator[RunFolder]:
    """Folders of runs, each once, in a fixed order."""
    found = {run.path.resolve() for root in roots for run in find_runs(root)}
    base = Path.cwd().resolve()
    for path in sorted(found):
        yield RunFolder(path.relative_to(base) if path.is_relative_to(base) else path)


def _run(checked: CheckedRun, warnings: list[str]) -> Run | None:
    folder, identity = checked.folder, checked.identity
    if not folder.finished:
        warnings.append(f"{folder}: no {folder.result_path.name}: the run is not finished")
    problems = [*checked.damaged.values(), *checked.contradictions.values()]
    warnings += [f"{problem}; left out" for problem in problems] + checked.warnings
    if identity is None:
        return None
    budget = Budget(identity.training_calls, identity.calls_per_action, identity.max_actions)
    return Run(
        path=folder.path,
        game=identity.game,
        algorithm=identity.algorithm,
        profile=identity.profile,
        variant=without_budget(identity.variant),
        seed=identity.seed,
        budget=budget,
        episodes=[_row(one) for one in _evaluation(checked)],
        training=_training(checked),
        finished=checked.result is not None,
        proof=_proof(checked),
    )


def _proof(checked: CheckedRun) -> Proof:
    if checked.contradictions:
        return "contradicts"
    return "verified" if not checked.damaged and is_verified(checked.folder) else "not verified"


def _training(checked: CheckedRun) -> TrainingTrace:
    """Add up the games of each training episode; its score is their mean."""
    games: defaultdict[int, list[EpisodeRecord]] = defaultdict(list)
    for record in checked.fitting:
        if record.phase == "training":
            games[record.episode].append(record)
    return TrainingTrace.of(
        [sum(game.calls for game in games[number]) for number in sorted(games)],
        [fmean(game.score for game in games[number]) for number in sorted(games)],
    )


def _evaluation(checked: CheckedRun) -> list[EpisodeRecord]:
    """Return evaluation episodes that count: those that fit the run and its result."""
    played = [record for record in checked.fitting if record.phase == "evaluation"]
    if checked.result is None:
        return played
    scores = dict(enumerate(checked.result.scores))
    return [record for record in played if scores.get(record.episode) == record.score]


def without_budget(variant: str) -> str:
    """Leave out what the budget says already."""
    return ",".join(part for part in variant.split(",") if not part.startswith("calls_per_action="))


def _row(record: EpisodeRecord) -> EpisodeRow:
    found = {name: getattr(record, name) for name in COUNTED}
    counts = {name: float(value) for name, value in found.items() if value is not None}
    counts["actions"] = float(len(record.actions))
    return EpisodeRow(record.game, record.seed, record.episode, record.score, record.path, counts)
