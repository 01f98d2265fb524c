"""The strongest proof of a score: a run is trained and played anew, and comes out bit for bit."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from olive_iw.agents.learner import WEIGHTS
from olive_iw.errors import InputError, SimulatorError, one_line
from olive_iw.features.vae.files import read_weights, trained_by_torch
from olive_iw.runs.config import RunConfig
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.runs.records import EpisodeRecord, read_episode
from olive_iw.runs.run import run
from olive_iw.runs.verification import (
    CheckedRun,
    Outcome,
    Verification,
    check_run,
    other_versions,
)


def replan(path: Path) -> list[Verification]:
    """Plan every finished run below a folder anew; never raises for a bad file."""
    folders = [folder for folder in find_runs(path) if folder.finished]
    if not folders:
        raise InputError(f"no finished run found in {path}; give the folder of a run")
    return [one for folder in folders for one in replan_run(folder)]


def replan_run(folder: RunFolder) -> Iterator[Verification]:
    """Train and play a run anew, and compare all its episodes and its weights.

    Its files are held against each other too, so that its result is that of its episodes.
    """
    kept = check_run(folder)
    yield from (one for path, one in kept.problems.items() if path != folder.config_path)
    try:
        config = folder.config()
        _check_exact(folder, config)
        with TemporaryDirectory(prefix="olive-iw-replan-") as out:
            run(config, Path(out), device="cpu")
            yield from _compared(kept, RunFolder(config.folder(Path(out))), config)
    except (InputError, SimulatorError) as error:
        text = one_line(f"{folder.config_path}: not planned anew: {error}")
        yield Verification(folder.config_path, Outcome.UNREADABLE, text)


def _check_exact(folder: RunFolder, config: RunConfig) -> None:
    """Refuse runs that need not come out the same."""
    if config.spec.needs_torch:
        raise InputError("its network is torch's, whose results depend on the kind of processor")
    if config.spec.decisions.seconds_per_action is not None:
        raise InputError("its decisions ended when their time was up; replay it without --replan")
    weights = _kept_weights(folder)
    if weights is not None:
        by_torch = config.spec.parts.learns_features and trained_by_torch(weights)
    else:  # the runs of 0.2.0 do not name numba among their versions
        named = folder.settings().get("versions")
        known = isinstance(named, dict) and "numba" in named
        by_torch = config.spec.parts.learns_features and not known
    if by_torch:
        raise InputError("version 0.2.0 trained its network with torch; replay it without --replan")


def _kept_weights(folder: RunFolder) -> Path | None:
    """File of a run's weights; None if it has none, as copies have not."""
    if not folder.checkpoint_path.exists():
        return None
    path = folder.checkpoint() / WEIGHTS
    return path if path.exists() else None


def _compared(kept: CheckedRun, again: RunFolder, config: RunConfig) -> Iterator[Verification]:
    """Compare what is recorded with what came out anew."""
    folder, found = kept.folder, again.episode_files()
    for was in kept.fitting:
        if was.name in found:
            yield _same_episode(was, read_episode(found[was.name], with_values=False))
        else:
            text = f"{was.path}: no such episode was played anew"
            yield Verification(was.path, Outcome.DIFFERS, text)
    if more := sorted(found.keys() - folder.episode_files().keys()):
        text = f"{folder}: anew there are other episodes too: {', '.join(more)}"
        yield Verification(folder.path, Outcome.DIFFERS, one_line(text))
    weights = _kept_weights(folder)
    if config.spec.parts.learns_features and weights is not None:
        one, other = (read_weights(it)[1] for it in (weights, again.checkpoint_path / WEIGHTS))
        alike = (one[name].tobytes() == other[name].tobytes() for name in one)
        same = one.keys() == other.keys() and all(alike)
        outcome = Outcome.CONFIRMED if same else Outcome.DIFFERS
        text = "weights, trained anew" if same else "the weights come out differently"
        yield Verification(weights, outcome, f"{weights}: {text}")


def _same_episode(was: EpisodeRecord, now: EpisodeRecord) -> Verification:
    """Confirm an episode, or say at which action it comes out differently."""
    pairs = zip(was.actions, was.rewards, now.actions, now.rewards, strict=False)
    together = min(len(was.actions), len(now.actions))
    first = next((n for n, (a, r, b, s) in enumerate(pairs) if (a, r) != (b, s)), together)
    what, versions = "", tuple(other_versions(was))
    if first < max(len(was.actions), len(now.actions)):
        what = f"differs at action {first} of {len(was.actions)} when planned anew"
    elif (was.calls, was.score) != (now.calls, now.score):
        what = f"{now.calls} calls and score {now.score:g} anew, {was.calls} and {was.score:g} kept"
    if what:
        text = f"{was.path}: {what}"
        return Verification(was.path, Outcome.DIFFERS, text, first, now.score, warnings=versions)
    text = f"{was.path}: {len(was.actions)} actions, {was.calls} calls, score {was.score:g}, anew"
    return Verification(was.path, Outcome.CONFIRMED, text, score=was.score, warnings=versions)
