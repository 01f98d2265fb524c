"""The sweep's own logic, in this process: what is done, skipped, tried again, given up."""

import io
import json

import pytest
from rich.console import Console

from olive_iw.errors import InputError
from olive_iw.runs.config import to_toml
from olive_iw.runs.lock import locked
from olive_iw.sweeps.engines import make_engine
from olive_iw.sweeps.export import load_index
from olive_iw.sweeps.options import EngineOptions
from olive_iw.sweeps.status import status
from olive_iw.sweeps.sweep import do_run, sweep

SWEEP = """
games = ["grid:corridor", "grid:collect"]
algorithms = ["patch-iw"]
seeds = [0, 1]
calls_per_action = 5
episodes = 1
max_actions = 3
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SWEEP)
    return path


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=200)


class Recorder:
    """Work that notes what it was given, and may fail first."""

    def __init__(self, failures=None):
        self.names = []
        self.failures = dict(failures or {})

    def __call__(self, job):
        self.names.append(job.name)
        if self.failures.get(job.name, 0) > 0:
            self.failures[job.name] -= 1
            raise RuntimeError("out of luck")
        return do_run(job)


def go(file, console, work=do_run, **options):
    return sweep(file, file.parent / "runs", "inline", console=console, work=work, **options)


def test_all_runs_are_done_once_and_then_skipped(file, console):
    first, again = Recorder(), Recorder()
    report = go(file, console, first)
    assert (report.total, report.skipped, report.done, report.exit_code) == (4, 0, 4, 0)
    assert len(set(first.names)) == len(first.names) == 4
    index = load_index(file.parent / "runs")
    assert len(index["score"]) == 4
    assert index["finished"].all()
    report = go(file, console, again)
    assert (report.total, report.skipped, report.done, again.names) == (4, 4, 0, [])
    assert status(file.parent / "runs").counts["done"] == 4


def test_the_order_is_shuffled_by_its_seed(file, console, tmp_path):
    orders = []
    for number, seed in enumerate((0, 0, 1, 2, 3)):
        recorder = Recorder()
        sweep(
            file,
            tmp_path / str(number),
            "inline",
            order_seed=seed,
            console=console,
            work=lambda job, recorder=recorder: (
                recorder.names.append(job.name),
                job.folder.mkdir(parents=True),
                (job.folder / "config.toml").write_text(to_toml(job.config.to_dict())),
                (job.folder / "result.json").touch(),
            ),
        )
        orders.append(tuple(recorder.names))
    assert orders[0] == orders[1]
    assert len(set(orders)) > 2
    assert len({tuple(sorted(order)) for order in orders}) == 1


def test_a_dry_run_does_nothing_but_says_what_would_be_done(file, console):
    report = go(file, console, dry_run=True, options=EngineOptions(workers=2))
    assert not (file.parent / "runs").exists()
    assert report.estimate.runs == 4
    text = console.file.getvalue()
    assert "4 runs, 0 of them finished" in text
    assert "patch-iw-laptop" in text
    assert "4 runs to do (4 cannot be estimated" in text


def test_a_run_that_fails_is_tried_again(file, console):
    name = "grid:collect patch-iw-laptop,calls_per_action=5 seed 1"
    recorder = Recorder({name: 2})
    report = go(file, console, recorder)
    assert (report.done, report.failed) == (4, {})
    assert recorder.names.count(name) == 3
    assert "tried again (2 of 2)" in console.file.getvalue()
    assert status(file.parent / "runs").counts["failed"] == 0


def test_a_run_that_fails_too_often_is_given_up_and_the_same_command_tries_it_anew(file, console):
    name = "grid:collect patch-iw-laptop,calls_per_action=5 seed 1"
    recorder = Recorder({name: 99})
    report = go(file, console, recorder, retries=1)
    assert (report.done, report.exit_code) == (3, 1)
    ((failed, failure),) = report.failed.items()
    assert failed.name == name
    assert failure.reason == "RuntimeError: out of luck"
    assert f"given up: {name}: RuntimeError: out of luck" in console.file.getvalue()
    assert recorder.names.count(name) == 2
    fields = json.loads((failed.folder / "failed.json").read_text())
    assert fields["attempts"] == 2
    assert "in __call__" in fields["traceback"]
    found = status(file.parent / "runs")
    assert [run.detail for run in found.runs if run.state == "failed"] == [
        "RuntimeError: out of luck"
    ]
    assert go(file, console).exit_code == 0
    assert not (failed.folder / "failed.json").exists()


def test_what_cannot_work_is_not_tried_twice(file, console):
    file.write_text(SWEEP.replace('"patch-iw"', '"rollout-iw"').replace("[0, 1]", "[0]"))
    recorder = Recorder()
    report = go(file, console, recorder)
    assert len(recorder.names) == len(report.failed) == 2
    assert all("Atari" in failure.reason for failure in report.failed.values())


@pytest.mark.parametrize(
    "wrong", ["width = [1, 3]", "discount = [0.5, nan]", "episodes = [1, 0]", "search_workers = 0"]
)
def test_an_impossible_value_anywhere_is_told_before_the_first_run(file, console, wrong):
    file.write_text(SWEEP.replace("episodes = 1", "") + wrong)
    recorder = Recorder()
    with pytest.raises(InputError, match="is not possible"):
        go(file, console, recorder)
    assert recorder.names == []
    assert not (file.parent / "runs").exists()


def test_an_unknown_engine_is_told_before_anything_is_done(file, console):
    with pytest.raises(InputError, match="did you mean local"):
        sweep(file, file.parent / "runs", "locale", console=console, dry_run=True)


def test_an_engine_may_be_an_object(file, console):
    report = sweep(file, file.parent / "runs", make_engine("inline"), console=console)
    assert report.done == 4


def test_a_folder_of_another_configuration_is_refused_before_anything_is_done(file, console):
    go(file, console)
    file.write_text(SWEEP.replace("max_actions = 3", "max_actions = 4"))
    recorder = Recorder()
    with pytest.raises(InputError, match="max_actions: 3 → 4"):
        go(file, console, recorder)
    assert recorder.names == []


def test_finished_runs_of_other_versions_stay_finished(file, console):
    go(file, console)
    for path in (file.parent / "runs").rglob("config.toml"):
        path.write_text(path.read_text().replace('numpy = "', 'numpy = "0.'))
    assert go(file, console).skipped == 4
    victim = next((file.parent / "runs").rglob("result.json"))
    victim.unlink()
    with pytest.raises(InputError, match=r"versions\.numpy"):
        go(file, console)


def test_a_run_that_another_process_finishes_is_waited_for(file, console, monkeypatch):
    """The lock of one run is held; it is let go with the result there, as a process would."""
    go(file, console)
    result = next((file.parent / "runs").rglob("result.json"))
    content = result.read_text()
    result.unlink()
    held = locked(result.parent / "lock")
    held.__enter__()

    def finish_elsewhere(seconds):
        if not result.exists():
            result.write_text(content)
            held.__exit__(None, None, None)

    monkeypatch.setattr("olive_iw.sweeps.sweep.time.sleep", finish_elsewhere)
    recorder = Recorder()
    report = go(file, console, recorder)
    assert (report.done, recorder.names) == (1, [])
    assert "by another process" in console.file.getvalue()


def test_work_that_leaves_no_result_is_a_failure(file, console):
    report = go(file, console, work=lambda job: None, retries=0)
    assert len(report.failed) == 4
    assert all("--fetch" in failure.reason for failure in report.failed.values())


def test_ctrl_c_ends_the_sweep_and_the_same_command_goes_on(file, console):
    def interrupt(job):
        if job.config.spec.seed == 1:
            raise KeyboardInterrupt
        return do_run(job)

    with pytest.raises(KeyboardInterrupt):
        go(file, console, interrupt)
    assert go(file, console).skipped < 4
    assert status(file.parent / "runs").counts["done"] == 4


def test_negative_retries_are_refused(file, console):
    with pytest.raises(InputError, match="retries = -1"):
        go(file, console, retries=-1)
