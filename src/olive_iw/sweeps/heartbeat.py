"""Where a run is just now: a small file in its folder, renewed every few seconds.

Events are written at the end of episodes, which can be an hour apart; a sweep's table and `status`
want to show more than that.
"""

import time

from olive_iw.agents import Episode, Observer
from olive_iw.features.binary_vae import TrainingStep
from olive_iw.planners import Decision, Planner
from olive_iw.processes import peak_memory
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.records import Pulse

SECONDS_BETWEEN = 2.0


class Heartbeat(Observer):
    """Notes the phase, the calls and seconds of this process, and its peak memory."""

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self._began = self._written = time.monotonic()
        self._calls = 0
        self._phase, self._episode = "training", 0

    def on_episode_start(self, phase: str, number: int) -> None:
        """Note the phase."""
        self._phase, self._episode = phase, number
        self._write()

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        """Count the calls."""
        self._calls += decision.calls
        self._write_if_due()

    def on_network_step(self, step: TrainingStep) -> None:
        """Show that the process lives."""
        self._write_if_due()

    def on_evaluation_episode(self, number: int, episode: Episode) -> None:
        """Leave the run's last figures, its peak memory among them."""
        self._write()

    def _write_if_due(self) -> None:
        if time.monotonic() - self._written >= SECONDS_BETWEEN:
            self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        seconds = self._written - self._began
        pulse = Pulse(self._phase, self._episode, self._calls, seconds, peak_memory())
        self._run.write(pulse)
