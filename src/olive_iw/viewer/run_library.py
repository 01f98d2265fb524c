"""Runs as the viewer shows them: found by an id that is looked up, followed while they train."""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Self, final

import numpy as np

from olive_iw.agents.learning import SCREENS, WEIGHTS
from olive_iw.errors import DamagedFileError, InputError
from olive_iw.features.binary_vae import BinaryVae
from olive_iw.features.image import IMAGE_SIZE
from olive_iw.runs.events import EvaluationEpisodeDone, TrainingEpisodeDone
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.viewer.hub import Hub
from olive_iw.viewer.page_messages import Library, Message, NewestScreens, Training
from olive_iw.viewer.pictures import data_address

LOOK_SECONDS = 1.0
NEWEST = 12
"""Screens that are shown."""


@final
class RunLibrary:
    """All runs below a folder, by id."""

    def __init__(self, root: Path) -> None:
        self.runs: dict[str, RunFolder] = {}
        self.warnings: list[str] = []
        """Runs that cannot be read, a line each."""
        for folder in find_runs(root):
            try:
                folder.config()
                folder.episode_files()
                self.runs[folder.name] = folder
            except InputError as error:
                self.warnings.append(str(error))
        if not self.runs and self.warnings:
            raise InputError(f"{root} holds no run that can be read: {self.warnings[0]}")
        if not self.runs:
            raise InputError(
                f"{root} holds no run; give a game, such as breakout, or a run's folder, such as "
                "runs/breakout/olive-laptop/seed-0"
            )

    def run(self, name: str) -> RunFolder:
        """Look a run up by its id."""
        if name not in self.runs:
            raise InputError(f"there is no run {name!r} here")
        return self.runs[name]


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

    def follow(self, run: RunFolder) -> None:
        """Follow another run from now on."""
        self._run = run
        self._look_now.set()

    def _follow(self) -> None:
        while not self._closed:
            if self._hub.watched:
                self.look()
            self._look_now.wait(LOOK_SECONDS)
            self._look_now.clear()

    def look(self) -> None:
        """Look once; what cannot be read, perhaps since it is just being written, is left out."""
        run = self._run
        events, screens = _stamp(run.events_path), _stamp(run.checkpoint_path / SCREENS)
        files = _stamp(run.episodes_path)
        self._tell(
            "library", (run.name, events, files), lambda: library_message(self._library, run)
        )
        self._tell("training", (run.name, events, run.state), lambda: training_message(run))
        self._tell("screens", (run.name, screens), lambda: newest_screens(run))

    def _tell(self, kind: str, state: object, make: Callable[[], Message]) -> None:
        if self._told.get(kind) != state:
            with suppress(OSError, ValueError):
                self._hub.publish(make())
                self._told[kind] = state


def training_message(run: RunFolder) -> Training:
    """Say how a run's training goes."""
    training = [asdict(event) for event in run.events(TrainingEpisodeDone)]
    evaluation = [asdict(event) for event in run.events(EvaluationEpisodeDone)]
    return Training(run.state, run.config().spec.learns, training, evaluation)


def library_message(library: RunLibrary, run: RunFolder) -> Library:
    """List what can be opened."""
    runs = [{"id": name, "title": name} for name in library.runs]
    scores: dict[str, TrainingEpisodeDone | EvaluationEpisodeDone] = {
        f"training-{event.number:04d}": event for event in run.events(TrainingEpisodeDone)
    }
    for event in run.events(EvaluationEpisodeDone):
        scores[f"evaluation-{event.number:04d}"] = event
    episodes = []
    for name in run.episode_files():
        phase, *numbers = name.split("-")
        title = f"{phase} {', game '.join(str(int(number)) for number in numbers)}"
        if name in scores:
            title += f": score {scores[name].score:g}, {scores[name].actions} actions"
        episodes.append({"id": name, "title": title})
    return Library(runs, run.name, episodes, library.warnings)


def newest_screens(run: RunFolder) -> NewestScreens:
    """Read the last screens of a training set and their ELBO by the newest weights."""
    if not (run.checkpoint_path / SCREENS).exists():
        return NewestScreens(0)
    checkpoint = run.checkpoint()
    path = checkpoint / SCREENS
    try:
        screens = np.load(path, mmap_mode="r", allow_pickle=False)
    except EOFError:
        raise DamagedFileError(path, "is torn") from None
    if screens.dtype != np.uint8 or screens.shape[1:] != (IMAGE_SIZE, IMAGE_SIZE):
        raise DamagedFileError(path, "holds something else than screens")
    newest = np.array(screens[-NEWEST:][::-1])
    elbos: list[float] = []
    with suppress(InputError):
        vae = BinaryVae.load(checkpoint / WEIGHTS)
        elbos = [round(float(elbo), 1) for elbo in vae.elbo(newest)] if len(newest) else []
    images = [data_address(image) for image in newest]
    return NewestScreens(len(screens), images, elbos, run.config().spec.parts.learning == "online")


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)
