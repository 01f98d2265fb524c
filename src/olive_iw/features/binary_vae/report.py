"""What a training tells: its steps, what came of it, that it diverged. Without torch."""

from dataclasses import dataclass

from olive_iw.errors import InputError


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """One step, as told to a progress callback."""

    step: int
    """Steps done, from 1 on."""
    steps: int
    """Steps there will be, unless training stops early."""
    loss: float
    """Mean training loss of the batch, times the items of an image."""
    temperature: float


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """State of training after some step."""

    step: int
    loss: float
    """Mean of the steps' losses since the entry before."""
    held_out_loss: float | None
    """Mean loss per held-out image in evaluation mode; None where none is held out."""
    temperature: float


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """What a training did."""

    history: tuple[HistoryEntry, ...]
    """The last entry is of the last step."""
    steps: int
    images: int
    """Images trained on, without the held-out ones."""
    seconds: float
    images_per_second: float
    """Images per second: a pass over all items is a pass over all images."""

    @property
    def loss(self) -> float:
        """Training loss at the end: per image where `balance` is 1, else as weighted by it."""
        return self.history[-1].loss

    @property
    def held_out_loss(self) -> float | None:
        """Held-out loss at the end, or None."""
        return self.history[-1].held_out_loss


class TrainingDivergedError(InputError):
    """A training's loss is no longer a number, or so large that nothing is learned."""

    def __init__(self, loss: float, step: int, learning_rate: float) -> None:
        super().__init__(
            f"the training diverged: the loss is {loss:.3g} at step {step}; "
            f"a smaller learning_rate than {learning_rate:g} may help"
        )
