"""An agent that learns nothing: its features are given."""

from pathlib import Path
from typing import final

from olive_iw.agents.base import Observer, evaluation_episode, save_agent
from olive_iw.agents.episode import Episode
from olive_iw.agents.spec import Spec
from olive_iw.planners import Planner
from olive_iw.simulators.base import Simulator


@final
class FixedAgent:
    """Plans with features that do not change."""

    def __init__(self, spec: Spec, planner: Planner) -> None:
        self.spec = spec
        self.planner = planner
        self._next_episode = 0

    def train(self, simulator: Simulator, calls: int, observer: Observer | None = None) -> None:
        """Do nothing: there is nothing to learn."""

    def play(
        self,
        simulator: Simulator,
        max_actions: int = 18_000,
        episode: int | None = None,
        observer: Observer | None = None,
    ) -> Episode:
        """Play an evaluation episode."""
        number = self._next_episode if episode is None else episode
        self._next_episode = number + 1
        return evaluation_episode(self.planner, self.spec, simulator, max_actions, number, observer)

    def save(self, folder: Path | str) -> None:
        """Write everything that `load_agent` needs."""
        save_agent(self, Path(folder))

    def save_learned(self, folder: Path) -> None:
        """Write nothing: nothing was learned."""

    def load_learned(self, folder: Path) -> None:
        """Read nothing."""
