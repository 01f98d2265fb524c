"""Results grouped for reports: systems (rows of the tables), and whether their budgets agree."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from olive_iw.algorithms import ALGORITHMS
from olive_iw.errors import InputError
from olive_iw.reports.results import Budget, EpisodeRow, Results, Run


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """All runs that share algorithm, profile, variant and budget: a row or column of a table."""

    label: str
    algorithm: str
    profile: str
    variant: str
    budget: Budget
    runs: Sequence[Run]

    @property
    def kind(self) -> tuple[str, str, str]:
        """What it is, whatever its budget."""
        return self.algorithm, self.profile, self.variant

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
        return _by_game((row.game, row.score) for row in self.episodes)

    @property
    def run_means(self) -> dict[str, NDArray[np.float64]]:
        """Game -> mean score of every run, float64, shape (runs,).

        Episodes of one run share what it learned, so intervals resample runs, not episodes.
        """
        return _by_game(
            (run.game, float(np.mean([row.score for row in run.episodes])))
            for run in self.runs
            if run.episodes
        )

    @property
    def seconds_per_action(self) -> dict[str, float]:
        """Game -> mean over episodes of the seconds per action, where there was an action."""
        counts = [(row.game, row.counts) for row in self.episodes if row.counts["actions"]]
        pace = _by_game((game, known["seconds"] / known["actions"]) for game, known in counts)
        return {game: float(values.mean()) for game, values in pace.items()}


def _by_game(pairs: Iterable[tuple[str, float]]) -> dict[str, NDArray[np.float64]]:
    games: defaultdict[str, list[float]] = defaultdict(list)
    for game, value in pairs:
        games[game].append(value)
    return {game: np.asarray(games[game], dtype=np.float64) for game in sorted(games)}


def _place(algorithm: str) -> tuple[int, str]:
    """Order algorithms as the paper's tables do; names that are not ours follow by alphabet."""
    names = list(ALGORITHMS)
    return (names.index(algorithm) if algorithm in names else len(names), algorithm)


def systems(results: Results) -> list[System]:
    """Group runs by algorithm, profile, variant and budget.

    Labels say the variant, and of the rest only what tells systems apart.
    """
    groups: defaultdict[tuple[str, str, str, Budget], list[Run]] = defaultdict(list)
    for run in results.runs:
        groups[run.algorithm, run.profile, run.variant, run.budget].append(run)
    keys = sorted(groups, key=lambda key: (_place(key[0]), key[1:3], _sortable(key[3])))
    profiles = {key[1] for key in keys}
    made = []
    for key in keys:
        algorithm, profile, variant, budget = key
        label = algorithm if len(profiles) == 1 else f"{algorithm} ({profile})"
        label += f", {variant}" if variant else ""
        label += _difference(budget, [other[3] for other in keys if other[:3] == key[:3]])
        made.append(System(label, *key, groups[key]))
    return made


def _sortable(budget: Budget) -> tuple[int, int, int]:
    return (budget.training_calls, budget.calls_per_action, budget.max_actions or 0)


def _difference(budget: Budget, rivals: Sequence[Budget]) -> str:
    """Say what of its budget tells a system from others of the same algorithm and profile."""
    parts = []
    if len({rival.training_calls for rival in rivals}) > 1:
        parts.append(f"{budget.training_calls:,} training calls")
    if len({rival.calls_per_action for rival in rivals}) > 1:
        parts.append(f"{budget.calls_per_action:,} calls/action")
    if len({rival.max_actions for rival in rivals}) > 1:
        parts.append(f"at most {budget.max_actions} actions")
    return f" [{', '.join(parts)}]" if parts else ""


def check_budgets(groups: Sequence[System]) -> None:
    """Refuse to set systems of different budgets side by side, saying which differ.

    Systems without training (0 training calls) may stand beside trained ones, as in the paper.
    """
    measures: Mapping[str, set[int | None]] = {
        "training calls": {s.budget.training_calls for s in groups if s.budget.training_calls},
        "calls per action": {system.budget.calls_per_action for system in groups},
        "actions an episode": {system.budget.max_actions for system in groups},
    }
    differing = [name for name, values in measures.items() if len(values) > 1]
    if not differing:
        return
    kinds = dict.fromkeys(f"{system.algorithm}: {system.budget}" for system in groups)
    raise InputError(
        f"these runs have different budgets ({', '.join(differing)}): {'; '.join(kinds)}. "
        "Give folders of one budget, or say --mix-budgets to show them apart"
    )


def games_of(groups: Sequence[System]) -> list[str]:
    """All games that any system played, in alphabetical order."""
    return sorted({row.game for system in groups for row in system.episodes})
