import json

import pytest

from olive_iw.runs.config import to_toml
from olive_iw.runs.events import EvaluationEpisodeDone, append
from olive_iw.sweeps.estimate import (
    TYPICAL_MEMORY,
    Estimator,
    duration,
    estimate,
    size,
    wall_seconds,
)
from olive_iw.sweeps.file import parse_sweep

SWEEP = """
games = ["grid:corridor", "grid:key-door"]
algorithms = ["patch-iw"]
seeds = [0, 1]
episodes = 2
max_actions = 10
calls_per_action = 10
"""


def jobs_of(text, out):
    return [run.job(out) for run in parse_sweep(text)]


def finish(job, seconds, calls=100, memory=None):
    """Write what a run leaves that took so many seconds in each of its episodes."""
    job.folder.mkdir(parents=True)
    (job.folder / "config.toml").write_text(to_toml(job.config.to_dict()))
    for number in range(job.config.episodes):
        event = EvaluationEpisodeDone(number, 1.0, 10, calls, seconds, "game over")
        append(job.folder / "events.jsonl", event)
    if memory is not None:
        pulse = {"phase": "evaluation", "episode": 1, "calls": 1, "seconds": 1.0}
        (job.folder / "pulse.json").write_text(json.dumps(pulse | {"peak_memory": memory}))
    (job.folder / "result.json").write_text("{}")


def test_the_most_similar_runs_are_asked_first(tmp_path):
    corridor, _, door, _ = jobs_of(SWEEP, tmp_path)
    finish(corridor, seconds=50.0, memory=10**9)
    estimator = Estimator(tmp_path)
    again = jobs_of(SWEEP, tmp_path)[1]
    same, other = estimator.cost(again.config), estimator.cost(door.config)
    assert (same.seconds, same.basis) == (100.0, "same run")
    assert (other.seconds, other.basis) == (100.0, "other games")
    assert same.memory == 10**9
    assert same.disk > 500
    finish(door, seconds=10.0)
    estimator.learn(door.folder)
    assert estimator.cost(door.config).seconds == 20.0
    assert estimator.cost(again.config).seconds == 100.0


def test_other_lengths_are_scaled_by_their_calls(tmp_path):
    finish(jobs_of(SWEEP, tmp_path)[0], seconds=50.0, calls=100)
    longer = jobs_of(SWEEP.replace("episodes = 2", "episodes = 20"), tmp_path)[0]
    cost = Estimator(tmp_path).cost(longer.config)
    # 100 seconds for 200 calls; 20 episodes of 10 actions of 10 calls are 2000.
    assert (cost.seconds, cost.calls, cost.basis) == (1000.0, 2000.0, "other lengths")


def test_without_measurements_a_calibration_is_made_and_said(tmp_path):
    jobs = jobs_of(SWEEP, tmp_path)
    found = estimate(jobs, 2, Estimator(tmp_path))
    assert found.bases == {"calibration": 4}
    assert found.seconds > 0
    assert found.memory == 2 * TYPICAL_MEMORY
    assert "4 by calibration" in str(found)


def test_calibration_counts_learning(tmp_path):
    text = SWEEP.replace("patch-iw", "olive") + "training_calls = 50\nsteps = 1\n"
    estimator = Estimator(tmp_path)
    short = estimator.cost(jobs_of(text, tmp_path)[0].config)
    longer = estimator.cost(jobs_of(text.replace("steps = 1", "steps = 9"), tmp_path)[0].config)
    fixed = estimator.cost(jobs_of(SWEEP, tmp_path)[0].config)
    assert fixed.seconds < short.seconds < longer.seconds
    assert short.disk > fixed.disk
    assert short.calls == fixed.calls + 50


def test_a_game_that_cannot_be_played_costs_nothing(tmp_path):
    text = SWEEP.replace('"grid:corridor", "grid:key-door"', '"gym:Nothing-v0"')
    assert Estimator(tmp_path).cost(jobs_of(text, tmp_path)[0].config).seconds == 0.0


def test_unfinished_runs_are_not_measured(tmp_path):
    job = jobs_of(SWEEP, tmp_path)[0]
    finish(job, seconds=50.0)
    (job.folder / "result.json").unlink()
    assert Estimator(tmp_path).cost(job.config).basis == "calibration"


def test_wall_time():
    assert wall_seconds([10.0, 10.0, 10.0, 10.0], 2) == 20.0
    assert wall_seconds([30.0, 1.0], 2) == 30.0
    assert wall_seconds([], 2) == 0.0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(5, "5 s"), (59.6, "60 s"), (600, "10 min"), (7500, "2 h 05 min"), (400_000, "4 days 15 h")],
)
def test_durations(seconds, words):
    assert duration(seconds) == words


def test_sizes():
    assert [size(12), size(123_456), size(7.7e9), size(5e15)] == [
        "12 bytes",
        "123 kB",
        "7.7 GB",
        "5e+03 TB",
    ]
