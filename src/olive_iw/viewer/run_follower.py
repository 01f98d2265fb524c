"""Follows a run's folder while it is trained: its losses, its training set, its episodes."""

import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Self, final

import numpy as np

from olive_iw.agents.learning import SCREENS, WEIGHTS
from olive_iw.errors import InputError
from olive_iw.features.binary_vae import BinaryVae
from olive_iw.runs.events import EvaluationEpisodeDone, TrainingEpisodeDone
from olive_iw.viewer.hub import Hub
from olive_iw.viewer.page_messages import Library, Message, NewestScreens, Training
from olive_iw.viewer.pictures import data_address
from olive_iw.viewer.run_library import RunLibrary, WatchedRun

SECONDS_BETWEEN = 1.0
NEWEST = 12
"""Screens that are shown."""


@final
class RunFollower:
    """Looks at the open run again and again while a page is open, and tells what changed."""

    def __init__(self, hub: Hub, library: RunLibrary) -> None:
        self._hub = hub
        self._library = library
        self._run = next(iter(library.runs.values()))
        self._told: dict[str, object] = {}
        self._look_now = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._follow, name="olive-iw follower", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._closed = True
        self._look_now.set()
        self._thread.join(timeout=10)

    def follow(self, run: WatchedRun) -> None:
        """Follow another run from now on."""
        self._run = run
        self._look_now.set()

    def _follow(self) -> None:
        while not self._closed:
            if self._hub.watched:
                self.look()
            self._look_now.wait(SECONDS_BETWEEN)
            self._look_now.clear()

    def look(self) -> None:
        """Look once."""
        run = self._run
        events, screens = _stamp(run.folder.events_path), run.folder.checkpoint_path / SCREENS
        files = tuple(run.folder.episode_files())
        self._tell(run, "library", (files, events), self._library_message)
        self._tell(run, "training", (events, run.folder.state), self._training_message)
        self._tell(run, "screens", _stamp(screens), self._screens_message)

    def _tell(
        self, run: WatchedRun, kind: str, state: object, make: Callable[[WatchedRun], Message]
    ) -> None:
        if self._told.get(kind) == (run.name, state):
            return
        try:
            self._hub.publish(make(run))
        except (OSError, ValueError, KeyError):  # just being written: the next look will do
            return
        self._told[kind] = (run.name, state)

    def _library_message(self, run: WatchedRun) -> Library:
        return library_message(self._library, run)

    def _training_message(self, run: WatchedRun) -> Training:
        return Training(
            run.folder.state,
            run.learns,
            episodes=[asdict(event) for event in run.folder.events(TrainingEpisodeDone)],
            evaluations=[asdict(event) for event in run.folder.events(EvaluationEpisodeDone)],
        )

    def _screens_message(self, run: WatchedRun) -> NewestScreens:
        ordered = run.config.spec.parts.learning == "online"
        return newest_screens(run.folder.checkpoint_path, ordered)


def library_message(library: RunLibrary, run: WatchedRun) -> Library:
    """List what can be opened."""
    runs = [{"id": name, "title": name} for name in library.runs]
    folder = run.folder
    scores: dict[str, TrainingEpisodeDone | EvaluationEpisodeDone] = {
        f"training-{event.number:04d}": event for event in folder.events(TrainingEpisodeDone)
    }
    for event in folder.events(EvaluationEpisodeDone):
        scores[f"evaluation-{event.number:04d}"] = event
    episodes = []
    for name in folder.episode_files():
        phase, *numbers = name.split("-")
        title = f"{phase} {', game '.join(str(int(number)) for number in numbers)}"
        if name in scores:
            title += f": score {scores[name].score:g}, {scores[name].actions} actions"
        episodes.append({"id": name, "title": title})
    return Library(runs, episodes, library.warnings)


def newest_screens(checkpoint: Path, ordered: bool) -> NewestScreens:
    """Read the last screens of a training set and their ELBO by the newest weights."""
    if not (checkpoint / SCREENS).exists():
        return NewestScreens(0)
    screens = np.load(checkpoint / SCREENS, mmap_mode="r", allow_pickle=False)
    newest = np.array(screens[-NEWEST:][::-1])
    try:
        vae = BinaryVae.load(checkpoint / WEIGHTS)
        elbos = [round(float(elbo), 1) for elbo in vae.elbo(newest)] if len(newest) else []
    except InputError:
        elbos = []
    return NewestScreens(len(screens), [data_address(image) for image in newest], elbos, ordered)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)
