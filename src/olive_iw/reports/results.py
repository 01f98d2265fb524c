"""Reading run folders: one row per evaluation episode, and a warning for whatever is unreadable.

Nothing here stops at a damaged file: the rest is still read, and `Results.warnings` says in one
line each what was wrong and where.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from olive_iw.errors import DamagedFileError, InputError
from olive_iw.reading import read_json, read_toml
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.runs.records import EpisodeRecord, Phase, read_episode
from olive_iw.stats import TrainingTrace

COUNTED = (
    *("calls", "seconds", "rollouts", "rollout_depth", "exhausted"),
    *("unused_calls", "twins", "pruned_new", "tied_decisions", "overflows"),
)
"""What is counted in an episode's file; older files have only the first line's."""


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
    algorithm: str
    profile: str
    seed: int
    episode: int
    score: float
    budget: Budget
    seconds_per_action: float | None
    path: Path | None
    """The episode's file, or None if only its score is left in `result.json`."""
    counts: Mapping[str, float] = field(default_factory=dict)
    """Its numbers of `COUNTED`, and of `actions`, as far as they were recorded."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One run folder."""

    path: Path
    game: str
    algorithm: str
    profile: str
    seed: int
    budget: Budget
    episodes: Sequence[EpisodeRow]
    training: TrainingTrace
    finished: bool

    @property
    def name(self) -> tuple[str, str, str, int, Budget]:
        """What no two runs should share."""
        return self.game, self.algorithm, self.profile, self.seed, self.budget


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
    seen: dict[Any, Path] = {}
    for folder in _run_folders(roots):
        run = _read_run(folder, results.warnings)
        if run is None:
            continue
        if run.name in seen:
            results.warnings.append(f"{folder}: the same run as {seen[run.name]}; left out")
            continue
        seen[run.name] = folder
        results.runs.append(run)
    if not results.episodes:
        where = ", ".join(str(root) for root in roots) or "no folder"
        damaged = f" ({'; '.join(results.warnings)})" if results.warnings else ""
        raise InputError(f"no evaluation episode found in {where}{damaged}; play one with: run")
    return results


def _run_folders(roots: Iterable[Path]) -> Iterator[Path]:
    """Folders of runs, each once, in a fixed order."""
    found = {run.path.resolve() for root in roots for run in find_runs(root)}
    base = Path.cwd().resolve()
    for path in sorted(found):
        yield path.relative_to(base) if path.is_relative_to(base) else path


def _read_run(folder: Path, warnings: list[str]) -> Run | None:
    result = _tolerant(folder / "result.json", warnings)
    evaluation = _read_episodes(folder, "evaluation", warnings)
    training = _read_episodes(folder, "training", warnings)
    if result is None and not evaluation:
        return None
    identity = result or _identity(next(iter(evaluation.values())))
    try:
        budget = _budget(result or _config(folder, warnings), learns=bool(training or result))
        rows = _rows(folder, identity, budget, evaluation, result=result, warnings=warnings)
        return Run(
            path=folder,
            game=str(identity["game"]),
            algorithm=str(identity["algorithm"]),
            profile=str(identity["profile"]),
            seed=int(identity["seed"]),
            budget=budget,
            episodes=rows,
            training=_trace(training),
            finished=result is not None,
        )
    except KeyError as error:
        warnings.append(f"{folder}: {error} is nowhere recorded; the run is left out")
    except (TypeError, ValueError, OverflowError) as error:
        warnings.append(f"{folder}: not a run that can be read ({error}); left out")
    return None


def _tolerant(path: Path, warnings: list[str]) -> dict[str, Any] | None:
    if not path.exists():
        warnings.append(f"{path.parent}: no {path.name}: the run is not finished")
        return None
    try:
        return read_json(path)
    except DamagedFileError as error:
        warnings.append(str(error))
        return None


def _read_episodes(folder: Path, phase: Phase, warnings: list[str]) -> dict[int, EpisodeRecord]:
    episodes: dict[int, EpisodeRecord] = {}
    for path in _episode_files(folder, phase, warnings):
        try:
            record = read_episode(path)
            episodes[record.episode] = record
        except DamagedFileError as error:
            warnings.append(str(error))
    return episodes


def _episode_files(folder: Path, phase: Phase, warnings: list[str]) -> Iterable[Path]:
    try:
        return RunFolder(folder).episode_files(phase).values()
    except DamagedFileError as error:
        warnings.append(str(error))
        return ()


def _identity(record: EpisodeRecord) -> dict[str, Any]:
    return {
        "game": record.game,
        "algorithm": record.algorithm,
        "profile": record.profile,
        "seed": record.seed,
    }


def _config(folder: Path, warnings: list[str]) -> dict[str, Any]:
    """Read the settings of an unfinished run, the agent's options among them."""
    path = folder / "config.toml"
    try:
        tables = read_toml(path)
    except DamagedFileError as error:
        warnings.append(str(error))
        return {}
    options = tables.get("options")
    return {**(options if isinstance(options, dict) else {}), **tables}


def _budget(source: dict[str, Any], learns: bool) -> Budget:
    limit = source.get("max_actions")
    return Budget(
        # An algorithm that does not learn has training calls in its configuration all the same.
        int(source["training_calls"]) if learns else 0,
        int(source["calls_per_action"]),
        None if limit is None else int(limit),
    )


def _rows(
    folder: Path,
    identity: dict[str, Any],
    budget: Budget,
    evaluation: dict[int, EpisodeRecord],
    *,
    result: dict[str, Any] | None,
    warnings: list[str],
) -> list[EpisodeRow]:
    """Make the rows of one run: from episode files, and from `result.json` where a file is lost."""
    scores = dict(enumerate(result["scores"])) if result else {}
    rows = []
    for episode in sorted(scores.keys() | evaluation.keys()):
        record = evaluation.get(episode)
        score = float(record.score if record else scores[episode])
        if not np.isfinite(score):
            warnings.append(f"{folder}: episode {episode} has no finite score; left out")
            continue
        if record is None:
            warnings.append(f"{folder}: no file of episode {episode}; its score cannot be replayed")
        elif episode in scores and scores[episode] != record.score:
            warnings.append(
                f"{record.path}: score {record.score:g}, but {scores[episode]:g} in result.json; "
                "the episode file is believed"
            )
        rows.append(
            EpisodeRow(
                game=str(identity["game"]),
                algorithm=str(identity["algorithm"]),
                profile=str(identity["profile"]),
                seed=int(identity["seed"]),
                episode=episode,
                score=score,
                budget=budget,
                seconds_per_action=_seconds(record, result),
                path=record.path if record else None,
                counts=_counts(record) if record else {},
            )
        )
    return rows


def _counts(record: EpisodeRecord) -> dict[str, float]:
    found = {name: getattr(record, name, None) for name in COUNTED}
    known = {name: float(value) for name, value in found.items() if value is not None}
    return {"actions": float(len(record.actions)), **known}


def _seconds(record: EpisodeRecord | None, result: dict[str, Any] | None) -> float | None:
    if record is not None and record.actions and record.seconds > 0:
        return record.seconds / len(record.actions)
    recorded = (result or {}).get("seconds_per_action")
    return None if recorded is None else float(recorded)


def _trace(training: dict[int, EpisodeRecord]) -> TrainingTrace:
    ordered = [training[episode] for episode in sorted(training)]
    return TrainingTrace.of(
        [record.calls for record in ordered], [record.score for record in ordered]
    )
