"""Recorded runs of `results/`: planned anew, their first actions are the same today."""

from pathlib import Path

import pytest

from olive_iw.runs.folder import RunFolder
from olive_iw.viewer.run_library import recorded_source

RESULTS = Path(__file__).parents[2] / "results/five-minute"
ACTIONS = 20


@pytest.mark.parametrize(
    "run",
    [
        "breakout/patch-iw-laptop/seed-0",
        "ms_pacman/patch-iw-laptop/seed-1",
        "seaquest/rollout-iw-laptop/seed-0",
        "breakout/olive-plus-laptop/seed-0",
    ],
)
def test_the_first_actions_are_those_that_were_recorded(run):
    source = recorded_source(RunFolder(RESULTS / run), "evaluation-0000")
    assert source.record is not None
    planner = source.planning.planner
    assert planner is not None, source.planning.why_not
    planner.start(source.simulator, source.planning.seed)
    planned, rewards = [], []
    for _ in range(ACTIONS):
        planned.append(planner.decide(source.calls_of_decision(planner.ledger.calls)).action)
        rewards.append(planner.advance(planned[-1]).reward)
    assert planned == list(source.record.actions[:ACTIONS])
    assert rewards == list(source.record.rewards[:ACTIONS])
