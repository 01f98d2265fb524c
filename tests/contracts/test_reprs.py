"""What a person meets at the prompt says in a line what it is."""

import re

import numpy as np
import pytest

import olive_iw as olive
from olive_iw.search.decision import Decision
from olive_iw.simulators import LimitedSimulator

WORLD = olive.make_simulator("grid:corridor")


def a_decision() -> Decision:
    values = np.array([0.25, np.nan])
    return Decision(0, values, np.array([3, 0]), calls=7, stopped="budget")


@pytest.mark.parametrize(
    ("it", "shown"),
    [
        (WORLD, "<GridWorld corridor>"),
        (LimitedSimulator(WORLD), "<LimitedSimulator of <GridWorld corridor>>"),
        (olive.make_simulator("breakout"), "<AtariSimulator of breakout, 4 actions>"),
        (
            olive.make_simulator("gym:FrozenLake-v1"),
            "<GymnasiumSimulator of <FrozenLakeEnv<FrozenLake-v1>>, 4 actions>",
        ),
        (olive.RolloutIW("patches"), "<RolloutIW, width 1 on Patches, 0 nodes>"),
        (olive.UCT(), "<UCT, no pruning, 0 nodes>"),
        (a_decision(), "<Decision for action 0 of [0.25, nan], 7 calls>"),
        (
            olive.make_agent("patch-iw", width=2),
            "<Agent patch-iw-laptop,width=2, seed 0>",
        ),
        (
            olive.make_agent("olive", seed=3),
            "<Agent olive-laptop, seed 3, trained for 0 calls>",
        ),
        (
            olive.Policy(olive.make_agent("patch-iw", seed=2)),
            "<Policy of patch-iw-laptop, seed 2>",
        ),
        (
            olive.make_agent("patch-iw", calls_per_action=2).play(WORLD, max_actions=3),
            "<Episode with score 0, 3 actions, 6 calls, 0.1 s, action limit>",
        ),
    ],
)
def test_what_it_is_is_said_in_a_line(it: object, shown: str) -> None:
    assert re.sub(r"[0-9.]+ s,", "0.1 s,", repr(it)) == shown
