"""Results: the evaluation episodes of run folders, and the systems that tables compare.

Nothing here stops at a damaged file: the rest is still read, and `Results.warnings` says in one
line each what was wrong and where. What contradicts its run does not count.
"""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from statistics import fmean
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from olive_iw.algorithms import ALGORITHMS, shown_name
from olive_iw.errors import DamagedFileError, InputError
from olive_iw.runs.events import TrainingEpisodeDone
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.runs.records import EpisodeRecord
from olive_iw.runs.verification import CheckedRun, Outcome, check_run
from olive_iw.runs.verified import is_verified
from olive_iw.simulators.atari import FRAME_SKIP
from olive_iw.stats import Summary, TrainingTrace, summarise

COUNTED = (
    *("calls", "seconds", "rollouts", "rollout_depth", "exhausted"),
    *("unused_calls", "twins", "skipped_twins", "pruned_new", "tied_decisions", "table_overflows"),
)
"""What is counted in an episode's file; older files have only the first line's."""
CALLS_SPENT = "calls spent"
"""How an episode ended that the training's last call cut short."""
Proof: TypeAlias = Literal["verified", "not verified", "contradicts"]


class Budget(NamedTuple):
    """What a run was allowed to spend; None where it is not known of published scores."""

    training_calls: int | None
    calls_per_action: int | None
    max_actions: int | None

    def __str__(self) -> str:
        limit = f", {self.max_actions:,} actions an episode" if self.max_actions else ""
        return (
            f"{self.training_calls:,} training calls, "
            f"{self.calls_per_action:,} calls per action{limit}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeRow:
    """One evaluation episode, without its moves, which take much memory for many runs."""

    game: str
    seed: int
    episode: int
    score: float
    path: Path
    counts: Mapping[str, float]
    """Its numbers of `COUNTED`, and of `actions`, as far as they were recorded."""
    earned: NDArray[np.float64]
    """float64, shape (2, rewards): after how many actions it got each reward that was not 0, and
    the score with it."""

    @property
    def actions(self) -> int:
        """How many actions it had."""
        return int(self.counts["actions"])

    def score_after(self, actions: int) -> float:
        """Score that it had after a number of actions, or at its end if that came before."""
        found = int(np.searchsorted(self.earned[0], actions, side="right"))
        return float(self.earned[1, found - 1]) if found else 0.0


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
    """Scores of its training episodes."""
    losses: TrainingTrace
    """Losses of its network after each training, as its events tell them."""
    proof: Proof
    """`verified`: `verify` has confirmed it, here, as it is now; `contradicts`: some of its files
    cannot be of this run, and do not count."""
    frame_skip: int | None = None
    """Frames of a call, in Atari games."""


@dataclass(slots=True, eq=False)
class Results:
    """Everything that could be read."""

    source: str
    """Folders that were read."""
    runs: list[Run] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    left_out: int = 0
    """Files that cannot be read, or that cannot be of their run; the warnings name them."""

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
    results, base = Results(", ".join(str(root) for root in roots)), Path.cwd().resolve()
    seen: dict[object, tuple[Run, bytes]] = {}
    for path in sorted({run.path.resolve() for root in roots for run in find_runs(root)}):
        folder = RunFolder(path.relative_to(base) if path.is_relative_to(base) else path)
        checked = check_run(folder)
        results.left_out += len(checked.problems)
        played = _evaluation(checked)
        run = _run(checked, played, results.warnings)
        if run is None:
            continue
        # A copied folder is one run and counts once; what played otherwise under the same name is
        # another one, whatever it scored.
        moves = repr([(one.episode, one.actions, one.rewards) for one in played])
        digest = hashlib.sha256(moves.encode()).digest()
        name = (run.game, run.algorithm, run.profile, run.variant, run.seed, run.budget)
        first, before = seen.setdefault(name, (run, digest))
        if first is not run:
            what = "left out" if digest == before else "but played otherwise; both count"
            results.warnings.append(f"{folder}: the same run as {first.path}; {what}")
        if first is run or digest != before:
            results.runs.append(run)
    if not results.episodes:
        where = results.source or "no folder"
        damaged = f" ({'; '.join(results.warnings)})" if results.warnings else ""
        raise InputError(f"no evaluation episode found in {where}{damaged}; play one with: run")
    return results


def _evaluation(checked: CheckedRun) -> list[EpisodeRecord]:
    """Return the evaluation episodes that count: they fit the run and its result."""
    played = [record for record in checked.fitting if record.phase == "evaluation"]
    if checked.result is None:
        return played
    scores = dict(enumerate(checked.result.scores))
    return [record for record in played if scores.get(record.episode) == record.score]


def _run(checked: CheckedRun, played: Sequence[EpisodeRecord], warnings: list[str]) -> Run | None:
    folder, identity = checked.folder, checked.identity
    if not folder.finished:
        warnings.append(f"{folder}: no {folder.result_path.name}: the run is not finished")
    problems = checked.problems.values()
    warnings += [f"{problem.message}; left out" for problem in problems] + checked.warnings
    if identity is None:
        return None
    proof: Proof = "verified" if not problems and is_verified(folder) else "not verified"
    if Outcome.CONTRADICTS in [problem.outcome for problem in problems]:
        proof = "contradicts"
    return Run(
        path=folder.path,
        game=identity.game,
        algorithm=identity.algorithm,
        profile=identity.profile,
        variant=without_budget(identity.variant),
        seed=identity.seed,
        budget=Budget(identity.training_calls, identity.calls_per_action, identity.max_actions),
        episodes=[_row(record) for record in played],
        training=_training(checked),
        losses=_losses(folder),
        proof=proof,
        frame_skip=None if ":" in identity.game else identity.frame_skip,
    )


def without_budget(variant: str) -> str:
    """Leave out what the budget says already."""
    return ",".join(part for part in variant.split(",") if not part.startswith("calls_per_action="))


def _row(record: EpisodeRecord) -> EpisodeRow:
    found = {name: getattr(record, name) for name in COUNTED}
    counts = {name: float(value) for name, value in found.items() if value is not None}
    counts["actions"] = float(len(record.actions))
    rewards = np.asarray(record.rewards, dtype=np.float64)
    (when,) = np.nonzero(rewards)
    earned = np.stack([when + 1.0, np.cumsum(rewards[when])])
    number, score = record.episode, record.score
    return EpisodeRow(record.game, record.seed, number, score, record.path, counts, earned)


def _training(checked: CheckedRun) -> TrainingTrace:
    """Add up the games of each training episode; its score is their mean.

    A game that the end of the training cut short is left out: it scored what a beginning scores.
    """
    games: defaultdict[int, list[EpisodeRecord]] = defaultdict(list)
    for record in checked.fitting:
        if record.phase == "training" and record.ended != CALLS_SPENT:
            games[record.episode].append(record)
    return TrainingTrace.of(
        [sum(game.calls for game in games[number]) for number in sorted(games)],
        [fmean(game.score for game in games[number]) for number in sorted(games)],
    )


def _losses(folder: RunFolder) -> TrainingTrace:
    """Read the loss after each training of a run's network, and the calls spent by then."""
    found: list[tuple[float, float]] = []
    with suppress(DamagedFileError):
        for event in folder.events(TrainingEpisodeDone):
            if event.loss is not None and math.isfinite(event.loss):
                found.append((event.calls_spent, event.loss))
    return TrainingTrace(*np.array(found, dtype=np.float64).reshape(-1, 2).T)


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """All runs that share algorithm, profile, variant and budget: a row or column of a table."""

    label: str
    algorithm: str
    profile: str
    variant: str
    budget: Budget
    runs: Sequence[Run]
    source: str
    """Folders that its runs are in."""
    uses_simulator = True

    @property
    def kind(self) -> tuple[str, str, str]:
        """What it is, whatever its budget."""
        return self.algorithm, self.profile, self.variant

    @property
    def budgets(self) -> str:
        """All that it may spend, in one line."""
        others = {run.frame_skip for run in self.runs} - {None, FRAME_SKIP}
        frames = f", calls of {', '.join(map(str, sorted(filter(None, others))))} frames"
        return f"{self.budget}{frames * bool(others)}, {self.profile} profile"

    @property
    def episodes(self) -> list[EpisodeRow]:
        """Evaluation episodes of all its runs."""
        return [row for run in self.runs for row in run.episodes]

    @property
    def proof(self) -> str:
        """Say whether its runs were verified as they are now, or how many of them."""
        counts = Counter(run.proof for run in self.runs)
        if len(counts) == 1:
            return next(iter(counts))
        return ", ".join(f"{count} {proof}" for proof, count in sorted(counts.items()))

    @property
    def scores(self) -> dict[str, NDArray[np.float64]]:
        """Game -> score of every evaluation episode, float64, shape (episodes,)."""
        return by_game((row.game, row.score) for row in self.episodes)

    @property
    def summaries(self) -> dict[str, Summary]:
        """What is said of the scores of each game."""
        return {game: summarise(scores) for game, scores in self.scores.items()}

    @property
    def run_means(self) -> dict[str, NDArray[np.float64]]:
        """Game -> mean score of every run, float64, shape (runs,).

        Episodes of one run share what it learned, so intervals resample runs, not episodes.
        """
        scores = [(run.game, [row.score for row in run.episodes]) for run in self.runs]
        return by_game((game, float(np.mean(found))) for game, found in scores if found)


def by_game(pairs: Iterable[tuple[str, float]]) -> dict[str, NDArray[np.float64]]:
    """Gather the values of every game, in alphabetical order."""
    games: defaultdict[str, list[float]] = defaultdict(list)
    for game, value in pairs:
        games[game].append(value)
    return {game: np.asarray(games[game], dtype=np.float64) for game in sorted(games)}


def games_of(groups: Sequence[System]) -> list[str]:
    """All games that any system played, in alphabetical order."""
    return sorted({row.game for system in groups for row in system.episodes})


def systems(results: Results) -> list[System]:
    """Group runs by algorithm, profile, variant and budget.

    Labels say the variant, and of the rest only what tells systems apart.
    """
    groups: defaultdict[tuple[str, str, str, Budget], list[Run]] = defaultdict(list)
    for run in results.runs:
        groups[run.algorithm, run.profile, run.variant, run.budget].append(run)
    profiles = {profile for _, profile, *_ in groups}
    made = []
    for key in sorted(groups, key=_order):
        algorithm, profile, variant, budget = key
        shown = shown_name(algorithm)
        label = shown if len(profiles) == 1 else f"{shown} ({profile})"
        label += f", {variant}" if variant else ""
        label += _difference(budget, [other[3] for other in groups if other[:3] == key[:3]])
        made.append(System(label, *key, groups[key], results.source))
    return made


def _order(key: tuple[str, str, str, Budget]) -> tuple[int, str, str, str, list[int]]:
    """Order systems as the paper's tables do; algorithms that are not ours follow by alphabet."""
    algorithm, profile, variant, budget = key
    place = list(ALGORITHMS).index(algorithm) if algorithm in ALGORITHMS else len(ALGORITHMS)
    return place, algorithm, profile, variant, [limit or 0 for limit in budget]


def _difference(budget: Budget, rivals: Sequence[Budget]) -> str:
    """Say what of its budget tells a system from others of the same algorithm and profile."""
    texts = (
        f"{budget.training_calls:,} training calls",
        f"{budget.calls_per_action:,} calls/action",
        f"at most {budget.max_actions} actions",
    )
    differ = [len(set(values)) > 1 for values in zip(*rivals, strict=True)]
    return f" [{', '.join(compress(texts, differ))}]" if any(differ) else ""
