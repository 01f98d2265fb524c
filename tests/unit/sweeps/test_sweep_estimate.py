import json

import pytest

from olive_iw.runs.config import to_toml
from olive_iw.runs.events import EvaluationEpisodeDone, append_event
from olive_iw.runs.progress import duration
from olive_iw.sweeps.estimate import TYPICAL_ACTIONS, Estimator
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
    return parse_sweep(text, out)


def finish(job, seconds, calls=100, memory=None):
    """Write what a run leaves that took so many seconds in each of its episodes."""
    job.folder.mkdir(parents=True)
    (job.folder / "config.toml").write_text(to_toml(job.config.to_dict()))
    for number in range(job.config.episodes):
        event = EvaluationEpisodeDone(number, 1.0, 10, calls, seconds, "game over")
        append_event(job.folder / "events.jsonl", event)
    if memory is not None:
        pulse = {"phase": "evaluation", "episode": 1, "calls": 1, "seconds": 1.0}
        (job.folder / "pulse.json").write_text(json.dumps(pulse | {"peak_memory": memory}))
    (job.folder / "result.json").write_text("{}")


def test_the_most_similar_runs_are_asked_first(tmp_path):
    corridor, _, door, _ = jobs_of(SWEEP, tmp_path)
    finish(corridor, seconds=50.0, memory=10**9)
    estimator = Estimator(tmp_path)
    again = jobs_of(SWEEP, tmp_path)[1]
    basis, same = estimator.cost(again.config)
    assert (same.seconds, basis) == (100.0, "the same run")
    basis, other = estimator.cost(door.config)
    assert (other.seconds, basis) == (100.0, "other games")
    assert same.memory == 10**9
    assert same.disk > 500
    finish(door, seconds=10.0)
    estimator.learn(door.run)
    assert estimator.cost(door.config)[1].seconds == 20.0
    assert estimator.cost(again.config)[1].seconds == 100.0


def test_other_lengths_and_settings_are_scaled_by_the_calls_they_allow(tmp_path):
    finish(jobs_of(SWEEP, tmp_path)[0], seconds=50.0)
    estimator = Estimator(tmp_path)

    def seconds(old, new):
        basis, cost = estimator.cost(jobs_of(SWEEP.replace(old, new), tmp_path)[0].config)
        assert basis == "other settings"
        return cost.seconds

    # 100 seconds for 2 episodes of 10 actions of 10 calls.
    assert seconds("episodes = 2", "episodes = 20") == pytest.approx(1000.0)
    assert seconds("calls_per_action = 10", "calls_per_action = 5") == pytest.approx(50.0)
    most = 100.0 * TYPICAL_ACTIONS / 10
    assert seconds("max_actions = 10", "max_actions = 18_000") == pytest.approx(most)


def test_training_calls_count_where_the_algorithm_learns(tmp_path):
    text = SWEEP.replace("patch-iw", "olive") + "training_calls = 200\n"
    finish(jobs_of(text, tmp_path)[0], seconds=50.0)
    longer = jobs_of(text.replace("= 200", "= 600"), tmp_path)[0]
    # 200 training calls and 200 of evaluation took 100 seconds.
    assert Estimator(tmp_path).cost(longer.config)[1].seconds == pytest.approx(200.0)


def test_without_a_finished_run_there_is_no_estimate_and_it_says_so(tmp_path):
    jobs = jobs_of(SWEEP, tmp_path)
    found = Estimator(tmp_path).estimate(jobs, 2)
    assert (found.seconds, found.bases, found.unknown) == (0.0, {}, 4)
    assert str(found) == (
        "4 runs to do (4 cannot be estimated: no run of their algorithm is finished here)"
    )
    assert str(Estimator(tmp_path).estimate([], 2)) == "0 runs to do"


def test_what_is_known_is_told_with_its_source_and_what_is_not_with_its_number(tmp_path):
    text = SWEEP.replace('"patch-iw"', '"patch-iw", "uct"')
    jobs = jobs_of(text, tmp_path)
    finish(jobs[0], seconds=50.0, memory=10**9)
    found = Estimator(tmp_path).estimate(jobs[1:], 2)
    assert found.bases == {"the same run": 1, "other games": 2}
    assert found.unknown == 4
    assert found.seconds == 150.0
    assert found.memory == 2 * 10**9
    assert "7 runs to do: about 2 min, " in str(found)
    assert "2.0 GB of memory (1 from the same run, 2 from other games, 4 cannot be" in str(found)


def test_unfinished_and_unreadable_runs_are_not_measured(tmp_path):
    job, other = jobs_of(SWEEP, tmp_path)[:2]
    finish(job, seconds=50.0)
    finish(other, seconds=50.0)
    (job.folder / "result.json").unlink()
    (other.folder / "config.toml").write_text("format = ")
    assert Estimator(tmp_path).cost(job.config) is None


def test_wall_time_is_shared_by_workers_but_no_less_than_the_longest(tmp_path):
    jobs = jobs_of(SWEEP, tmp_path)
    finish(jobs[0], seconds=50.0)
    estimator = Estimator(tmp_path)
    assert estimator.estimate(jobs, 2).seconds == 200.0
    assert estimator.estimate(jobs[:2], 9).seconds == 100.0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(5, "5 s"), (59.6, "60 s"), (600, "10 min"), (7500, "2 h 05 min"), (400_000, "4 days 15 h")],
)
def test_durations(seconds, words):
    assert duration(seconds) == words
