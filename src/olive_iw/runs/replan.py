"""The strongest proof of a score: a run is trained and played anew, and comes out bit for bit."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from olive_iw.agents.learner import WEIGHTS
from olive_iw.errors import InputError, one_line
from olive_iw.features.vae.files import read_weights, trained_by_torch
from olive_iw.runs.config import RunConfig
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.runs.records import EpisodeRecord, read_episode
from olive_iw.runs.run import run
from olive_iw.runs.verification import Outcome, Verification


def replan(path: Path) -> list[Verification]:
    """Plan every finished run below a folder anew; never raises for a bad file."""
    folders = [folder for folder in find_runs(path) if folder.finished and folder.begun]
    if not folders:
        raise InputError(f"no finished run found in {path}; give the folder of a run")
    return [one for folder in folders for one in replan_run(folder)]


def replan_run(folder: RunFolder) -> Iterator[Verification]:
    """Train and play a run anew, and compare all its episodes, its scores and its weights."""
    try:
        config = folder.config()
        _check_exact(folder, config)
        with TemporaryDirectory(prefix="olive-iw-replan-") as out:
            run(config, Path(out), device="cpu")
            yield from _compared(folder, RunFolder(config.folder(Path(out))), config)
    except InputError as error:
        text = one_line(f"{folder.config_path}: not planned anew: {error}")
        yield Verification(folder.config_path, Outcome.UNREADABLE, text)


def _check_exact(folder: RunFolder, config: RunConfig) -> None:
    """Refuse runs that need not come out the same."""
    if config.spec.needs_torch:
        raise InputError("its network is torch's, whose results depend on the kind of processor")
    kept = folder.checkpoint_path / WEIGHTS
    if kept.is_file():
        by_torch = config.spec.parts.learns_features and trained_by_torch(kept)
    else:  # the runs of 0.2.0 do not name numba among their versions
        versions = folder.settings().get("versions", {})
        by_torch = config.spec.parts.learns_features and "numba" not in versions
    if by_torch:
        raise InputError("version 0.2.0 trained its network with torch; replay it without --replan")


def _compared(folder: RunFolder, again: RunFolder, config: RunConfig) -> Iterator[Verification]:
    """Compare what is recorded with what came out anew."""
    found = again.episode_files()
    for name, path in folder.episode_files().items():
        was = read_episode(path, with_values=False)
        if name not in found:
            yield Verification(path, Outcome.DIFFERS, f"{path}: no such episode was played anew")
            continue
        yield _same_episode(was, read_episode(found[name], with_values=False))
    if more := sorted(found.keys() - folder.episode_files().keys()):
        text = f"{folder}: anew there are other episodes too: {', '.join(more)}"
        yield Verification(folder.path, Outcome.DIFFERS, one_line(text))
    kept = folder.checkpoint_path / WEIGHTS
    if config.spec.parts.learns_features and kept.is_file():
        one, other = (read_weights(it)[1] for it in (kept, again.checkpoint_path / WEIGHTS))
        same = all(one[name].tobytes() == other[name].tobytes() for name in one)
        outcome = Outcome.CONFIRMED if same else Outcome.DIFFERS
        text = "weights, trained anew" if same else "the weights come out differently"
        yield Verification(kept, outcome, f"{kept}: {text}")


def _same_episode(was: EpisodeRecord, now: EpisodeRecord) -> Verification:
    """Confirm an episode, or say at which action it comes out differently."""
    pairs = zip(was.actions, was.rewards, now.actions, now.rewards, strict=False)
    together = min(len(was.actions), len(now.actions))
    first = next((n for n, (a, r, b, s) in enumerate(pairs) if (a, r) != (b, s)), together)
    what = ""
    if first < max(len(was.actions), len(now.actions)):
        what = f"differs at action {first} of {len(was.actions)} when planned anew"
    elif (was.calls, was.score) != (now.calls, now.score):
        what = f"{now.calls} calls and score {now.score:g} anew, {was.calls} and {was.score:g} kept"
    if what:
        return Verification(was.path, Outcome.DIFFERS, f"{was.path}: {what}", first, now.score)
    text = f"{was.path}: {len(was.actions)} actions, {was.calls} calls, score {was.score:g}, anew"
    return Verification(was.path, Outcome.CONFIRMED, text, score=was.score)
