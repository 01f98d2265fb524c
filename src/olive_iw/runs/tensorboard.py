"""A run's events for TensorBoard."""

from pathlib import Path
from typing import Any

from olive_iw.errors import InputError
from olive_iw.runs.events import EvaluationEpisodeDone, Event, TrainingEpisodeDone


class Board:
    """Writes the figures of events as TensorBoard scalars."""

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise InputError(
                "--tensorboard needs the package tensorboard: pip install 'olive-iw[tensorboard]'"
            ) from None
        self._writer: Any = SummaryWriter(str(folder))

    def write(self, event: Event) -> None:
        """Add what an event says; training against calls, evaluation against episodes."""
        if isinstance(event, TrainingEpisodeDone):
            for name in ("score", "screens", "loss", "held_out_loss", "rollouts_per_action"):
                value = getattr(event, name)
                if value is not None:
                    self._writer.add_scalar(f"training/{name}", value, event.calls_spent)
        elif isinstance(event, EvaluationEpisodeDone):
            self._writer.add_scalar("evaluation/score", event.score, event.number)
        self._writer.flush()
