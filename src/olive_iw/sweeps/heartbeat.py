"""Where a run is just now: a small file in its folder, renewed every few seconds.

Events are written at the end of episodes, which can be an hour apart; a sweep's table and `status`
want to show more than that.
"""

import json
import os
import time
from pathlib import Path
from typing import Any

from olive_iw.agents import Episode, TrainingEpisode
from olive_iw.features.binary_vae import TrainingStep
from olive_iw.planners import Decision, Planner
from olive_iw.processes import peak_memory
from olive_iw.runs.run import RunObserver

PULSE = "pulse.json"
SECONDS_BETWEEN = 2.0


class Heartbeat(RunObserver):
    """Notes the phase, the calls and seconds of this process, and its peak memory."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / PULSE
        self._began = self._written = time.monotonic()
        self._calls = 0
        self._calls_of_episode = 0
        self._phase, self._episode = "training", 0

    def on_phase(self, phase: str, number: int) -> None:
        """Note the phase."""
        self._phase, self._episode = phase, number
        self._write()

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        """Count the calls."""
        calls = planner.ledger.calls
        # A planner counts from 0 again when an episode starts.
        begun_anew = calls < self._calls_of_episode
        self._calls += calls if begun_anew else calls - self._calls_of_episode
        self._calls_of_episode = calls
        self._write_if_due()

    def on_network_step(self, step: TrainingStep) -> None:
        """Show that the process lives."""
        self._write_if_due()

    def on_training_episode(self, done: TrainingEpisode) -> None:
        """Note the episode that comes next."""
        self._episode = done.number + 1

    def on_evaluation_episode(self, number: int, episode: Episode) -> None:
        """Leave the run's last figures, its peak memory among them."""
        self._write()

    def _write_if_due(self) -> None:
        if time.monotonic() - self._written >= SECONDS_BETWEEN:
            self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        fields = {
            "phase": self._phase,
            "episode": self._episode,
            "calls": self._calls,
            "seconds": self._written - self._began,
            "peak_memory": peak_memory(),
        }
        # Renamed, so that no reader sees half of it; not forced to the disk: it may be lost.
        aside = self._path.with_name(f".{PULSE}.{os.getpid()}")
        aside.write_text(json.dumps(fields), encoding="utf-8")
        aside.replace(self._path)


def read_heartbeat(folder: Path) -> dict[str, Any] | None:
    """Return the latest pulse of a run, or None if there is none to be read."""
    try:
        fields: dict[str, Any] = json.loads((folder / PULSE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return fields if fields.keys() >= {"phase", "episode", "calls", "seconds"} else None
