"""What an episode keeps in memory for each of its actions, beside the bounded cache of atoms."""

import gc
import tracemalloc

import pytest

from olive_iw import make_agent
from olive_iw.agents import Episode, Observer
from olive_iw.planners import Decision, Planner
from olive_iw.simulators.grid import WORLDS, GridWorld, World

BYTES = 600
"""For each action: its number, reward, and the values of all; the planner keeps nothing."""


class Memory(Observer):
    def __init__(self) -> None:
        self.held: dict[int, int] = {}

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        if len(episode.actions) in (200, 600):
            gc.collect()
            self.held[len(episode.actions)] = tracemalloc.get_traced_memory()[0]


def test_an_episode_grows_by_little_for_each_action(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ("########", "#A...#G#", "########")
    monkeypatch.setitem(WORLDS, "endless", World("a goal behind a wall", rows, width=1))
    memory, agent = Memory(), make_agent("patch-iw", calls_per_action=3)
    tracemalloc.start()
    try:
        agent.play(GridWorld("endless"), max_actions=601, observer=memory)
    finally:
        tracemalloc.stop()
    assert memory.held.keys() == {200, 600}
    assert (memory.held[600] - memory.held[200]) / 400 < BYTES
