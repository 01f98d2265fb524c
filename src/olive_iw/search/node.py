"""What a node keeps of the simulator."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from olive_iw.features.base import Atoms
from olive_iw.simulators.base import Step
from olive_iw.simulators.messages import freeze


class FrozenState(NamedTuple):
    """A state that another process saved."""

    content: bytes


@dataclass(frozen=True, slots=True)
class NodeData:
    """What a node keeps of the simulator: never simulated again, never computed again."""

    step: Step
    state: Any
    """Saved state (see `Tree.saved_state`); None at a terminal node, which nothing can follow."""
    atoms: Atoms
    readings: dict[int, Atoms] = field(default_factory=dict, init=False)
    """The atoms as rules read them, by grain: computed once, though walks pass a node often."""

    @property
    def frozen(self) -> bytes:
        """Bytes of the saved state, whoever saved it."""
        return self.state.content if isinstance(self.state, FrozenState) else freeze(self.state)

    def same_state(self, other: "NodeData") -> bool:
        """Whether both are in one state, as far as that is seen without simulating.

        Screen and RAM are equal, or, in simulators without RAM, screen and saved state.
        """
        one, two = self.step, other.step
        if one.ram is None or two.ram is None:
            return np.array_equal(one.screen, two.screen) and self.frozen == other.frozen
        # RAM first: it is short, and nearly always tells states apart.
        return one.ram.tobytes() == two.ram.tobytes() and np.array_equal(one.screen, two.screen)
