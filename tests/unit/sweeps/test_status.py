import io
import json

import pytest
from rich.console import Console

from olive_iw.errors import InputError
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.lock import BusyError, is_locked, locked
from olive_iw.runs.records import Failure, Pulse, Result
from olive_iw.sweeps.engines import Job
from olive_iw.sweeps.file import parse_sweep
from olive_iw.sweeps.status import SWEEP_FILES, status, status_table

SWEEP = 'games = ["pong", "breakout", "qbert", "alien", "tennis", "boxing"]\nalgorithms = "uct"'


@pytest.fixture
def jobs(tmp_path):
    """Jobs by game; pong is done, breakout stopped, qbert failed, tennis failed before it began."""
    jobs = {job.config.game: job for job in parse_sweep(SWEEP, tmp_path)}
    for game in ("pong", "breakout", "qbert", "boxing"):
        with RunFolder(jobs[game].folder).open(jobs[game].config):
            pass
    RunFolder(jobs["pong"].folder).write(Result("pong", "uct", "laptop", 0, [1.0], 0, 100))
    pulse = {"phase": "evaluation", "episode": 3, "calls": 1234, "seconds": 5.0}
    (jobs["breakout"].folder / "pulse.json").write_text(json.dumps(pulse))
    jobs["qbert"].run.log_path.write_text("printed")
    failure = Failure("error", "ValueError: no cubes", "trace", 3, "worker.log")
    RunFolder(jobs["qbert"].folder).write(failure)
    RunFolder(jobs["tennis"].folder).write(Failure("input", "no such ROM"))
    (tmp_path / SWEEP_FILES).mkdir()
    (tmp_path / SWEEP_FILES / "mine.toml").write_text(SWEEP)
    return jobs


def states(found):
    return {run.name.split("/")[0]: (run.state, run.detail) for run in found.runs}


def test_every_state_is_told(tmp_path, jobs):
    with locked(jobs["boxing"].folder / "lock"):
        found = status(tmp_path)
    assert states(found) == {
        "pong": ("done", ""),
        "boxing": ("running", ""),
        "qbert": ("failed", f"ValueError: no cubes; log: {jobs['qbert'].run.log_path}"),
        "tennis": ("failed", "no such ROM"),
        "breakout": ("stopped", "evaluation 3, 1,234 calls"),
        "alien": ("missing", ""),
    }
    assert found.counts == {"done": 1, "running": 1, "failed": 2, "stopped": 1, "missing": 1}
    as_dict = json.loads(json.dumps(found.to_dict()))
    assert as_dict["counts"] == found.counts
    assert as_dict["runs"]["alien/uct-laptop/seed-0"]["state"] == "missing"


def test_a_run_that_a_sweep_file_wants_more_episodes_of_is_not_done(tmp_path, jobs):
    kept = tmp_path / SWEEP_FILES / "mine.toml"
    kept.write_text(SWEEP + "\nepisodes = 12")
    assert states(status(tmp_path))["pong"] == ("stopped", "10 of 12 episodes")
    kept.write_text(SWEEP + "\nepisodes = 3")
    assert states(status(tmp_path))["pong"] == ("done", "")


def test_the_lock_of_a_process_that_is_gone_does_not_count(tmp_path, jobs):
    assert states(status(tmp_path))["boxing"] == ("stopped", "")


def test_a_given_file_counts_instead_of_the_copied_ones(tmp_path, jobs):
    other = tmp_path / "other.toml"
    other.write_text('games = "venture"\nalgorithms = "uct"')
    found = states(status(tmp_path, other))
    assert found["venture"] == ("missing", "")
    assert "alien" not in found


def test_the_table_lists_what_is_not_done(tmp_path, jobs):
    console = Console(file=io.StringIO(), width=200)
    console.print(status_table(status(tmp_path)))
    text = console.file.getvalue()
    assert "6 runs: 1 done, 0 running, 2 failed, 2 stopped, 1 missing" in text
    assert "ValueError: no cubes" in text
    assert "pong" not in text


def test_a_failure_is_kept_and_forgotten(jobs):
    run = RunFolder(jobs["qbert"].folder)
    failure = run.read(Failure)
    assert (failure.kind, failure.attempts, failure.traceback) == ("error", 3, "trace")
    assert failure.log == "worker.log"
    run.forget_failure()
    run.forget_failure()
    assert run.read(Failure) is None


def test_a_torn_pulse_or_failure_is_none(tmp_path):
    (tmp_path / "pulse.json").write_text('{"phase": "eval')
    (tmp_path / "failed.json").write_text("[]")
    assert RunFolder(tmp_path).read(Pulse) is None
    assert RunFolder(tmp_path).read(Failure) is None


def test_a_sweep_file_in_the_folder_that_cannot_be_read_hides_nothing(tmp_path, jobs):
    (tmp_path / SWEEP_FILES / "odd.toml").write_text('games = "pong"\nalgorithms = "nobody"')
    (tmp_path / SWEEP_FILES / "torn.toml").write_bytes(b"games = \xff")
    found = status(tmp_path)
    assert len(found.runs) == 6
    assert [line.partition(":")[0].rpartition("/")[2] for line in found.problems] == [
        "odd.toml",
        "torn.toml",
    ]
    with pytest.raises(InputError, match=r"odd\.toml: unknown algorithm 'nobody'"):
        status(tmp_path, tmp_path / SWEEP_FILES / "odd.toml")


def test_no_folder(tmp_path):
    with pytest.raises(InputError, match="is not a folder"):
        status(tmp_path / "none")


def test_a_lock_that_is_held_says_by_whom(tmp_path):
    path = tmp_path / "lock"
    assert not is_locked(path)
    with locked(path):
        assert is_locked(path)
        with pytest.raises(BusyError, match="being worked on by process"), locked(path):
            pass
    assert not is_locked(path)


def test_job_names(jobs):
    job = jobs["pong"]
    assert job.name == "pong uct-laptop seed 0"
    assert Job(job.config, job.out, "episodes=2").folder.parts[-4:] == (
        "episodes=2",
        "pong",
        "uct-laptop",
        "seed-0",
    )
