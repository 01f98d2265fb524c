"""Published scores, with where they come from and the budgets behind them.

The figures are in `published/*.csv`; `published/provenance.toml` names every system, its columns
and its budgets, and says what is not known.
"""

import csv
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from olive_iw.errors import unknown_name
from olive_iw.stats import Summary

SIMULATOR_NOTE = (
    "Planners use the simulator while they act (they save, restore and look ahead); "
    "Atari-100k and other learned agents do not, so their scores answer a different question."
)

PAPER_COLUMNS: Mapping[str, str] = MappingProxyType(
    {"rollout-iw": "rollout-iw", "vae-iw": "vae-iw", "olive": "olive"}
)
"""Algorithm -> published system, for those whose scores the paper prints game by game."""


@dataclass(frozen=True, slots=True)
class PublishedScores:
    """Published scores of one system."""

    name: str
    title: str
    source: str
    training_budget: str
    """In words."""
    planning_budget: str
    """In words."""
    uses_simulator: bool
    """Whether it looks ahead in the game's own simulator while it acts."""
    mean: Mapping[str, float]
    """Mean score by game; games without a published score are absent."""
    standard_error: Mapping[str, float]
    """Standard error by game; empty where none is published."""
    maximum: Mapping[str, float]
    """Highest score by game; empty where none is published."""
    seconds_per_100_calls: Mapping[str, float]
    """By game; empty where none is published."""
    training_calls: int | None
    """In calls of `frame_skip` frames; None if the source does not give it in that unit."""
    planning_calls: int | None
    """Calls per action; None if the source limits planning by something else."""
    frame_skip: int | None
    max_actions: int | None
    """Most actions of an episode, if known."""
    episodes: int | None
    """Evaluation episodes behind each mean, if known."""
    not_known: str

    @property
    def summaries(self) -> dict[str, Summary]:
        """What is published of each game: nan, and 0 episodes, where something is not known."""
        errors, maxima, count = self.standard_error, self.maximum, self.episodes or 0
        return {
            game: Summary(mean, errors.get(game, math.nan), maxima.get(game, math.nan), count)
            for game, mean in self.mean.items()
        }

    @property
    def budgets(self) -> str:
        """Both budgets in one line."""
        skip = f", frame skip {self.frame_skip}" if self.frame_skip else ""
        limit = f", {self.max_actions:,} actions an episode" if self.max_actions else ""
        return f"training: {self.training_budget}; planning: {self.planning_budget}{skip}{limit}"


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
    folder = files("olive_iw.reports").joinpath("published")
    return folder.joinpath(name).read_text(encoding="utf-8")


@cache
def _provenance() -> Mapping[str, Any]:
    return MappingProxyType(tomllib.loads(_text("provenance.toml")))


@cache
def _rows(file: str) -> tuple[Mapping[str, str], ...]:
    return tuple(MappingProxyType(row) for row in csv.DictReader(_text(file).splitlines()))


def _column(file: str, column: str | None, key: str = "game") -> Mapping[str, float]:
    if column is None:
        return MappingProxyType({})
    return MappingProxyType({row[key]: float(row[column]) for row in _rows(file) if row[column]})


def published_names() -> tuple[str, ...]:
    """Names that `published` knows."""
    return tuple(_provenance()["systems"])


@cache
def published(system: str) -> PublishedScores:
    """Return the published scores of one system, for example "olive", "pi-iw", "n-cpl"."""
    systems = _provenance()["systems"]
    if system not in systems:
        raise unknown_name("published system", system, systems)
    entry = systems[system]
    origin = _provenance()["files"][entry["file"]]
    columns = ("mean", "standard_error", "maximum", "seconds_per_100_calls")
    numbers = ("training_calls", "planning_calls", "frame_skip", "max_actions", "episodes")
    words = ("title", "training_budget", "planning_budget", "uses_simulator")
    fields: dict[str, Any] = {name: entry[name] for name in words}
    fields |= {name: entry.get(name) for name in numbers}
    fields |= {name: _column(entry["file"], entry.get(name)) for name in columns}
    return PublishedScores(system, source=origin["source"], not_known=origin["not_known"], **fields)


def random_scores() -> Mapping[str, float]:
    """Score of random play by game."""
    return _column("random_human.csv", "random")


def human_scores() -> Mapping[str, float]:
    """Score of human testers by game, for normalisation."""
    return _column("random_human.csv", "human")


def published_wins(file: str) -> Mapping[tuple[str, str], int]:
    """Wins of the row over the column in `paper_ablation_wins.csv` or `paper_bandit_wins.csv`."""
    return MappingProxyType(
        {
            (row["row"], column): int(row[column])
            for row in _rows(file)
            for column in row
            if column != "row" and row[column]
        }
    )
