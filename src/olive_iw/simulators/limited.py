"""A simulator that may hang or crash, in a process that may do so."""

from typing import Any, final

from olive_iw.errors import InputError, SimulatorError
from olive_iw.simulators.base import Simulator, Step
from olive_iw.simulators.messages import CallRequest, freeze, thaw
from olive_iw.simulators.workers import CALL_SECONDS, RESET, Workers


@final
class LimitedSimulator:
    """Another simulator, whose resets and steps are made by a process of its own, each in time.

    One that takes more than `call_seconds`, or that ends its process, is a `SimulatorError`; after
    `restore` or `reset` the next one is possible. The simulator must be picklable. A call takes
    some tenths of a millisecond longer, and saving and restoring as long as to pickle a state.
    """

    def __init__(self, simulator: Simulator, call_seconds: float = CALL_SECONDS) -> None:
        if not call_seconds > 0:
            raise InputError(f"call_seconds = {call_seconds} is not possible; more than 0 is")
        self.call_seconds = call_seconds
        """Seconds that a call may take, here and in search workers (which read this)."""
        self._simulator = simulator
        self._state: bytes | None = None
        self._continues = False
        self._process = Workers(self, 1, tries=1)

    def __repr__(self) -> str:
        return f"<LimitedSimulator of {self._simulator}>"

    def reset(self) -> Step:
        """Start a new episode, always in the same state."""
        return self._call(b"", RESET)

    def step(self, action: int) -> Step:
        """Do one call."""
        return self._call(self._current, action)

    def save(self) -> Any:
        """Return the current state."""
        return thaw(self._current)

    def restore(self, state: Any) -> None:
        """Go back to a saved state."""
        self._state, self._continues = freeze(state), False

    def close(self) -> None:
        """End the process."""
        self._process.close()

    @property
    def _current(self) -> bytes:
        if self._state is None:
            raise SimulatorError("the episode is over, or none has begun: only reset or restore")
        return self._state

    def _call(self, state: bytes, action: int) -> Step:
        self._process.ask(0, CallRequest(state, action, self._continues))
        self._continues = False
        answer = self._process.answer(0)
        self._state, self._continues = answer.state, True
        return answer.step

    def __getattr__(self, name: str) -> Any:
        if name == "reseed":  # of the simulator here, not of the one in the process
            raise AttributeError(f"{type(self).__name__} has no {name}")
        return getattr(self._simulator, name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the simulator itself: whoever gets the copy has a process for it already."""
        return _itself, (self._simulator,)


def _itself(simulator: Simulator) -> Simulator:
    return simulator
