"""Where the figures of a run can be watched besides: in programs made to show them."""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from time import time
from typing import Any, Protocol, final

from olive_iw.errors import needing
from olive_iw.registry import Registry
from olive_iw.runs.config import RunConfig
from olive_iw.runs.start import TENSORBOARD

PLACES = {"training": "calls", "evaluation": "episode"}
"""What the figures of a phase stand over: training calls spent, or the number of the episode."""


class Logger(Protocol):
    """Takes the figures of one run; it is made (`init`) with the run's configuration and folder."""

    def log(self, phase: str, figures: Mapping[str, float], place: int) -> None:
        """Show figures of an episode of a phase, at a place of `PLACES`."""

    def finish(self) -> None:
        """Write what is not written yet: the run has ended, or was stopped."""


@final
class TensorBoard:
    """TensorBoard: events in the run's folder."""

    def __init__(self, config: RunConfig, folder: Path) -> None:
        self._events = _needed("tensorboard", "tensorboard.compat.proto.event_pb2")
        summaries = _needed("tensorboard", "tensorboard.compat.proto.summary_pb2")
        writers = _needed("tensorboard", "tensorboard.summary.writer.event_file_writer")
        self._summary = summaries.Summary
        self._writer = writers.EventFileWriter(str(folder / TENSORBOARD))

    def log(self, phase: str, figures: Mapping[str, float], place: int) -> None:
        """Add a point to the curve of every figure."""
        for name, value in figures.items():
            point = self._summary.Value(tag=f"{phase}/{name}", simple_value=value)
            summary = self._summary(value=[point])
            event = self._events.Event(wall_time=time(), step=place, summary=summary)
            self._writer.add_event(event)
        self._writer.flush()

    def finish(self) -> None:
        """Close the file."""
        self._writer.close()


@final
class Tracker:
    """A tracker of experiments with the three functions of W&B: init, log, finish."""

    def __init__(self, config: RunConfig, folder: Path, module: str) -> None:
        self._tracker = _needed(module, module)
        fields = config.to_dict()
        # A run that is stopped and goes on stays one run there too.
        name = f"{config.game} {config.spec.label} seed {config.spec.seed} {fields['hash']}"
        # Its files are where it puts them itself: it makes links, and a run's folder has none.
        more = {"id": fields["hash"]} if module == "wandb" else {}
        self._tracker.init(project="olive-iw", name=name, config=fields, resume="allow", **more)

    def log(self, phase: str, figures: Mapping[str, float], place: int) -> None:
        """Log figures together with their place: both phases count from 0."""
        named = {f"{phase}/{name}": value for name, value in figures.items()}
        self._tracker.log(named | {f"{phase}/{PLACES[phase]}": place})

    def finish(self) -> None:
        """End the run there."""
        self._tracker.finish()


def _trackio(config: RunConfig, folder: Path) -> Logger:
    """Track runs with trackio: a tracker of experiments that needs no account."""
    return Tracker(config, folder, "trackio")


def _wandb(config: RunConfig, folder: Path) -> Logger:
    """Track runs with W&B (Weights & Biases): offline, or with an account of yours."""
    return Tracker(config, folder, "wandb")


LOGGERS: Registry[Callable[[RunConfig, Path], Logger]] = Registry(
    "logger",
    "olive_iw.loggers",
    {
        "tensorboard": TensorBoard,
        "trackio": _trackio,
        "wandb": _wandb,
    },
)


def _needed(package: str, module: str) -> Any:
    with needing(package, f"--loggers {package}"):
        return import_module(module)
