"""Published scores, with where they come from and the budgets behind them.

The figures are in `published/*.csv`; `published/provenance.toml` names every system, its columns
and its budgets, and says what is not known.
"""

import csv
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from olive_iw.errors import unknown_name
from olive_iw.reports.results import Budget, System
from olive_iw.stats import Summary, human_normalised

SIMULATOR_NOTE = (
    "Planners use the simulator while they act (they save, restore and look ahead); "
    "Atari-100k and other learned agents do not, so their scores answer a different question."
)
PAPER_SYSTEMS = ("rollout-iw", "vae-iw", "olive")
"""Algorithms whose scores the paper prints game by game."""


@dataclass(frozen=True, slots=True)
class PublishedScores:
    """Published scores of one system; mappings are by game, and empty where none are published."""

    name: str
    label: str
    source: str
    training_budget: str
    """In words, as the next."""
    planning_budget: str
    uses_simulator: bool
    """Whether it looks ahead in the game's own simulator while it acts."""
    mean: Mapping[str, float]
    standard_error: Mapping[str, float]
    maximum: Mapping[str, float]
    seconds_per_100_calls: Mapping[str, float]
    budget: Budget
    """In calls of `frame_skip` frames; None where the source gives none in that unit."""
    frame_skip: int | None = None
    episodes: int | None = None
    """Evaluation episodes behind each mean, if known."""
    episodes_by_game: Mapping[str, float] = field(default_factory=dict)
    """The same, where it differs between games."""

    @property
    def summaries(self) -> dict[str, Summary]:
        """What is published of each game: nan, and 0 episodes, where something is not known."""
        errors, maxima, counts = self.standard_error, self.maximum, self.episodes_by_game
        return {
            game: Summary(
                mean,
                errors.get(game, math.nan),
                maxima.get(game, math.nan),
                int(counts.get(game, self.episodes or 0)),
            )
            for game, mean in self.mean.items()
        }

    @property
    def budgets(self) -> str:
        """Both budgets in one line."""
        skip = f", frame skip {self.frame_skip}" if self.frame_skip else ""
        cap = self.budget.max_actions
        limit = f", {cap:,} actions an episode" if cap else ""
        return f"training: {self.training_budget}; planning: {self.planning_budget}{skip}{limit}"


Scored: TypeAlias = System | PublishedScores
"""What stands beside each other in tables and plots."""


def caps_note(caps: Mapping[str, int | None]) -> list[str]:
    """Name every cap on the actions of an episode, where they are not all the same.

    `caps` is by title; None is a cap that is not known. A short episode cannot score what a long
    one can, so scores under different caps never stand side by side without this note.
    """
    titles: dict[int | None, list[str]] = {}
    for title, cap in caps.items():
        titles.setdefault(cap, []).append(title)
    if len(titles) < 2:
        return []
    named = [
        f"{'not known' if cap is None else f'{cap:,} actions'} in {', '.join(who)}"
        for cap, who in titles.items()
    ]
    return [f"Caps of an episode differ, so these scores do not compare: {'; '.join(named)}."]


def _text(name: str) -> str:
    return (files("olive_iw.reports") / "published" / name).read_text(encoding="utf-8")


@cache
def _provenance() -> dict[str, Any]:
    return tomllib.loads(_text("provenance.toml"))


@cache
def _rows(file: str) -> list[dict[str, str]]:
    return list(csv.DictReader(_text(file).splitlines()))


def _column(file: str, column: str) -> Mapping[str, float]:
    """Read a column by game; games without an entry are absent."""
    numbers = {row["game"]: row.get(column) for row in _rows(file)}
    return MappingProxyType({game: float(found) for game, found in numbers.items() if found})


def published_names() -> tuple[str, ...]:
    """Names that `published` knows."""
    return tuple(_provenance()["systems"])


@cache
def published(system: str) -> PublishedScores:
    """Return the published scores of one system, for example "olive", "pi-iw", "n-cpl"."""
    systems = _provenance()["systems"]
    if system not in systems:
        raise unknown_name("published system", system, systems)
    entry = dict(systems[system])
    file = entry.pop("file")
    origin = _provenance()["files"][file]
    limits = ("training_calls", "planning_calls", "max_actions")
    columns = ("mean", "standard_error", "maximum", "seconds_per_100_calls", "episodes_by_game")
    for name in columns:
        entry[name] = _column(file, entry.get(name, ""))
    return PublishedScores(
        name=system,
        source=origin["source"],
        budget=Budget(*(entry.pop(name, None) for name in limits)),
        **entry,
    )


def random_scores() -> Mapping[str, float]:
    """Score of random play by game."""
    return _column("random_human.csv", "random")


def human_scores() -> Mapping[str, float]:
    """Score of human testers by game, for normalisation."""
    return _column("random_human.csv", "human")


def normalised(system: System) -> dict[str, NDArray[np.float64]]:
    """Human-normalised mean score of every run, by game; games without reference are left out."""
    return human_normalised(system.run_means, random_scores(), human_scores())


def published_wins(file: str) -> dict[tuple[str, str], int]:
    """Wins of the row over the column in `paper_ablation_wins.csv` or `paper_bandit_wins.csv`."""
    return {
        (row["row"], column): int(count)
        for row in _rows(file)
        for column, count in row.items()
        if column != "row" and count
    }
