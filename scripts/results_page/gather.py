"""What the page is made from: our systems as `results/` holds them, and what others published."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from olive_iw.algorithms import shown_name
from olive_iw.errors import DamagedFileError, InputError
from olive_iw.reading import fill, read_bytes, read_toml
from olive_iw.reports.published import (
    PAPER_SYSTEMS,
    PublishedScores,
    published,
)
from olive_iw.reports.results import Run, System, read_results, systems
from olive_iw.runs.events import TrainingEpisodeDone
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.runs.records import Origin, check_commit
from olive_iw.runs.verification import check_run
from results_page.copies import Protocol, file_hashes, protocol_of

SAME_CAP = (
    *("rollout-iw-aaai18-ra-half-second", "rollout-iw-aaai18-half-second"),
    *("n-cpl-untrained", "n-cpl-trained"),
)
"""Published systems whose episodes have 1,200 actions at most, with about 100 calls an action."""
LEADS = ("olive-plus", "olive", "patch-iw", "rollout-iw")
"""Of which of our algorithms the pictures are, the first that has played enough games."""

DEVELOPED = (
    *("breakout", "space_invaders", "freeway", "ms_pacman", "qbert", "amidar"),
    *("seaquest", "gravitar", "bank_heist", "jamesbond", "krull", "robotank"),
)
"""Games that the rules of `olive-plus`, and how `olive` reads its bits, were chosen on."""
SURVEYED = ("breakout", "freeway", "ms_pacman")
"""Games that every algorithm plays: `sweeps/survey-scores.toml`."""
LONGER = "paper"
"""Protocol with the paper's own cap, whose folder of results stands beside the other."""
LOOK_UP = "features=bprost-authors"
"""Variant of `rollout-iw` that reads its pixels as the authors' code does."""
SAME_PLAY = "same-play.toml"
"""File of a protocol's folder that says which commits play alike, and how that is known."""


@dataclass(frozen=True, slots=True)
class SamePlay:
    """Why runs of a commit may stand beside those of an earlier one."""

    plays_as: str
    """The earlier commit."""
    why: str
    """What lies between the two, and what was played with both."""

    def __post_init__(self) -> None:
        check_commit(self.plays_as)


@dataclass(frozen=True, slots=True)
class Spent:
    """What the training of a run came to."""

    calls: int
    episodes: int


@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """Runs of one system that were made with one commit, or with several that play alike."""

    system: System
    commit: str
    """Where several play alike, the one that the others are said to play as."""
    made_with: Sequence[str]
    """All commits of the runs."""
    spent: Mapping[str, Spent]
    """Game -> what the training of its first run came to; empty where nothing is learned."""
    packages: Mapping[str, Sequence[str]]
    """Versions of Python and the packages, more than one where its runs differ."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """All runs of one protocol, apart by system and commit, and the scores beside them."""

    protocol: Protocol
    alike: Mapping[str, SamePlay]
    """Commits that play as an earlier one does."""
    versions: Sequence[Version]
    """Every commit of every system, with any number of calls per action."""
    shown: Sequence[System]
    """Systems of the tables, with the protocol's calls per action: of each the version with most
    games."""
    surveyed: Sequence[System]
    """Likewise, all that have played a game of `SURVEYED`; those that have played no other are not
    among the `shown`."""
    long: Sequence[System]
    """Our systems under the paper's own cap: of each the version with most games."""
    digest: str
    """Of everything that was read."""

    @property
    def paper(self) -> list[PublishedScores]:
        """Scores the paper prints, in its order; its episodes are longer than ours."""
        return [published(name) for name in PAPER_SYSTEMS]

    @property
    def same_cap(self) -> list[PublishedScores]:
        """Others' scores with a cap like that of the five-minute protocol."""
        return [published(name) for name in SAME_CAP]

    @property
    def games(self) -> list[str]:
        """Games that any system of the tables has played."""
        return sorted({row.game for system in self.shown for row in system.episodes})

    @property
    def lead(self) -> System | None:
        """Our system that the pictures are of: it has at least half as many games as any."""
        most = max((len(system.run_means) for system in self.shown), default=0)
        found = [one for one in map(self.named, LEADS) if one and 2 * len(one.run_means) >= most]
        return found[0] if found else next(iter(self.shown), None)

    def named(self, algorithm: str, variant: str = "") -> System | None:
        """Return the system of an algorithm with its own settings or others, if it was run."""
        found = (one for one in self.shown if (one.algorithm, one.variant) == (algorithm, variant))
        return next(found, None)


def read_evidence(folder: Path) -> Evidence:
    """Read all runs below a folder that is named after its protocol, and of `paper` beside it.

    A run that contradicts itself, is not finished, or is not what was copied is an `InputError`:
    what is published is whole. A folder without runs is evidence of nothing.
    """
    protocol, digest = protocol_of(folder), hashlib.sha256()
    alike, versions = _read(folder, protocol, digest)
    largest = _largest(versions, protocol)
    surveyed = [system for system in largest if system.run_means.keys() & {*SURVEYED}]
    shown = [system for system in largest if _is_shown(system)]
    longer, long = folder.resolve().with_name(LONGER), list[System]()
    if protocol.name != LONGER and longer.is_dir():
        long = _largest(_read(longer, protocol_of(longer), digest)[1], protocol)
    return Evidence(protocol, alike, versions, shown, surveyed, long, digest.hexdigest())


def _read(
    folder: Path, protocol: Protocol, digest: "hashlib._Hash"
) -> tuple[dict[str, SamePlay], list[Version]]:
    """Read which commits play alike, and the versions of every system, each checked."""
    commits, alike = {}, _read_same_play(folder / SAME_PLAY)
    for run in find_runs(folder):
        for problem in check_run(run).problems.values():
            raise InputError(problem.message)
        if not run.finished:
            raise InputError(f"{run}: the run is not finished; only finished ones are evidence")
        protocol.check(run.identity(), run.path)
        commits[run.path.resolve()] = origin_of(run).commit
        files = [run.config_path, run.result_path, *run.episode_files().values()]
        for path in files:
            digest.update(f"{run.name}/{path.name}\n".encode() + read_bytes(path))
    digest.update(repr(sorted(alike.items())).encode())
    versions = []
    for system in systems(read_results([folder])) if commits else []:
        by_play: defaultdict[str, list[Run]] = defaultdict(list)
        for one in system.runs:
            commit = commits[one.path.resolve()]
            by_play[alike[commit].plays_as if commit in alike else commit].append(one)
        for first, runs in sorted(by_play.items(), key=lambda found: -len(found[1])):
            part = replace(system, runs=runs, label=_label(system))
            made_with = sorted({commits[one.path.resolve()] for one in runs})
            versions.append(Version(part, first, made_with, _spent(runs), _packages(runs)))
    return alike, versions


def _largest(versions: Sequence[Version], protocol: Protocol) -> list[System]:
    """Of each system the version with most games, with the protocol's calls per action."""
    found: dict[object, System] = {}
    for system in (version.system for version in versions):
        if system.budget.calls_per_action == protocol.calls_per_action:
            found.setdefault(system.kind, system)
    return list(found.values())


def _read_same_play(path: Path) -> dict[str, SamePlay]:
    """Commit -> what it plays as; none if there is no such file."""
    if not path.exists():
        return {}
    found = {}
    for commit, fields in read_toml(path).items():
        if not isinstance(fields, dict) or fields.keys() != {"plays_as", "why"}:
            raise InputError(f"{path}: [{commit}] needs plays_as (a commit) and why, nothing else")
        check_commit(commit)
        found[commit] = fill(SamePlay, fields, path)
    for commit, same in found.items():
        if same.plays_as in found:
            raise InputError(f"{path}: [{commit}] must name the first of those that play alike")
    return found


def _is_shown(system: System) -> bool:
    """Whether a system has a column of its own where all games are: it is no part of a survey."""
    leads = system.algorithm in LEADS and not system.variant
    return leads or bool(system.run_means.keys() - {*SURVEYED})


def _label(system: System) -> str:
    """Name a system without its budget, which the tables are all of."""
    name = shown_name(system.algorithm)
    name = name if system.profile == "laptop" else f"{name} ({system.profile})"
    return f"{name}, {system.variant}" if system.variant else name


def _spent(runs: Sequence[Run]) -> dict[str, Spent]:
    """Say what trainings came to, by the events that tell of each episode of them."""
    found: dict[str, Spent] = {}
    for run in runs:
        if done := RunFolder(run.path).events(TrainingEpisodeDone):
            found.setdefault(run.game, Spent(done[-1].calls_spent, done[-1].number + 1))
    return found


def origin_of(run: RunFolder) -> Origin:
    """Where a copy comes from; an error if it is none, or has other files than were copied."""
    origin = run.read(Origin)
    if origin is None:
        raise DamagedFileError(run.path, "has no origin.json: scripts/copy_results.py makes it")
    found, copied = file_hashes(run), origin.sha256
    for name in sorted(found.keys() | copied.keys()):
        same = name in found and name in copied
        if not name.startswith("episodes/"):  # those are written anew
            same = found.get(name) == copied.get(name)
        if not same:
            raise DamagedFileError(run.path / name, "is not what was copied")
    return origin


def _packages(runs: Sequence[Run]) -> dict[str, list[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for run in runs:
        for name, version in RunFolder(run.path).read_result().versions.items():
            found[name].add(version)
    return {name: sorted(versions) for name, versions in sorted(found.items())}
