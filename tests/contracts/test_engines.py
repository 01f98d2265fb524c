"""Every engine keeps the same promises."""

import os
import sys
import time
from concurrent.futures import wait

import pytest

from olive_iw.errors import InputError
from olive_iw.runs.lock import BusyError
from olive_iw.sweeps.engines import ENGINES, EngineOptions, RunError, make_engine
from olive_iw.sweeps.file import parse_sweep

PATIENCE = 300
pytestmark = pytest.mark.xdist_group("ray")  # one cluster at a time


def answer(job):
    import torch

    print("to the log", flush=True)
    print("errors too", file=sys.stderr, flush=True)
    return {
        "seed": job.config.spec.seed,
        "process": os.getpid(),
        "threads": (torch.get_num_threads(), os.environ.get("OMP_NUM_THREADS")),
    }


def fail(job):
    raise ValueError("the second\nline does not matter")


def refuse(job):
    raise InputError("never possible")


def be_busy(job):
    raise BusyError("another works on it")


def abort(job):
    os.abort()


def sleep(job):
    job.folder.mkdir(parents=True, exist_ok=True)
    try:
        (job.folder / "begun").touch()
        time.sleep(600)
    finally:
        (job.folder / "left").touch()


WORKS = (answer, fail, refuse, be_busy, answer)


def make_jobs(out, count):
    text = f'games = "grid:corridor"\nalgorithms = "patch-iw"\nseeds = {list(range(count))}'
    return parse_sweep(text, out)


@pytest.fixture(scope="module", params=list(ENGINES))
def name(request):
    if request.param == "ray":
        ray = pytest.importorskip("ray")
        # Workers of Ray cannot import this file; they are sent its functions.
        ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    return request.param


@pytest.fixture(scope="module")
def outcomes(name, tmp_path_factory):
    """Jobs with their futures, all submitted at once; one ends its process, one's log is a link."""
    engine = make_engine(name, EngineOptions(workers=2))
    works = WORKS if name == "inline" else (*WORKS, abort, answer)
    jobs = make_jobs(tmp_path_factory.mktemp(name), len(works))
    if name != "inline":
        precious = tmp_path_factory.mktemp("precious") / "file"
        precious.write_text("precious")
        jobs[6].folder.mkdir(parents=True)
        jobs[6].run.log_path.symlink_to(precious)
    try:
        assert engine.workers == (1 if name == "inline" else 2)
        futures = [engine.submit(*pair) for pair in zip(works, jobs, strict=True)]
        wait(futures, PATIENCE)
        yield list(zip(jobs, futures, strict=True))
    finally:
        engine.stop()


with_processes = pytest.mark.parametrize(
    "name", [name for name in ENGINES if name != "inline"], indirect=True, scope="module"
)


def test_results_come_back(outcomes):
    assert [outcomes[number][1].result(0)["seed"] for number in (0, 4)] == [0, 4]


@pytest.mark.parametrize(
    ("number", "kind", "reason"),
    [
        (1, "error", "ValueError: the second"),
        (2, "input", "never possible"),
        (3, "busy", "another works on it"),
    ],
)
def test_errors_come_back_as_run_errors(outcomes, number, kind, reason):
    error = outcomes[number][1].exception(0)
    assert isinstance(error, RunError)
    assert (error.kind, error.reason) == (kind, reason)
    if kind != "busy":
        assert f"in {WORKS[number].__name__}" in error.trace


@with_processes
def test_each_run_has_a_process_and_a_log(outcomes):
    first, last = outcomes[0], outcomes[4]
    processes = {outcome[1].result(0)["process"] for outcome in (first, last)}
    assert len(processes) == 2
    assert os.getpid() not in processes
    log = first[0].run.log_path.read_text()
    assert log.startswith("--- process ")
    assert log.endswith("to the log\nerrors too\n")


@with_processes
def test_a_worker_that_dies_costs_its_run_only(outcomes):
    error = outcomes[5][1].exception(0)
    assert error.kind == "died"
    assert "in abort" in error.trace, "the log says where it crashed"


@with_processes
def test_a_log_that_is_a_link_is_not_written_through(outcomes):
    job, future = outcomes[6]
    error = future.exception(0)
    assert error.kind == "input"
    assert "worker.log is a symbolic link" in error.reason
    assert job.run.log_path.read_text() == "precious"


@with_processes
def test_workers_do_not_fight_for_cores(outcomes):
    assert outcomes[0][1].result(0)["threads"] == (1, "1")


def test_local_workers_stop_when_asked(tmp_path, monkeypatch):
    monkeypatch.setattr("olive_iw.sweeps.engines.local.GRACE", PATIENCE)
    jobs = make_jobs(tmp_path, 2)
    engine = make_engine("local", EngineOptions(workers=1))
    future = engine.submit(sleep, jobs[0])
    queued = engine.submit(sleep, jobs[1])
    deadline = time.monotonic() + PATIENCE
    while not (jobs[0].folder / "begun").exists():
        assert time.monotonic() < deadline, "it never began"
        time.sleep(0.02)
    engine.stop()
    assert future.exception(0).kind == "stopped"
    assert (jobs[0].folder / "left").exists(), "it was asked, not killed"
    assert queued.cancelled() or queued.exception(0).kind == "stopped"
    assert not (jobs[1].folder / "begun").exists()


def test_unknown_engines_and_options_are_explained():
    with pytest.raises(InputError, match="did you mean local"):
        make_engine("locale")
    with pytest.raises(InputError, match="address, gpus: only the engine ray knows this"):
        make_engine("local", EngineOptions(address="auto", gpus=1))
    with pytest.raises(InputError, match="fetch: only the engine ray"):
        make_engine("inline", EngineOptions(fetch=True))
    with pytest.raises(InputError, match="workers = 0"):
        EngineOptions(workers=0)
    with pytest.raises(InputError, match="cpus = 0"):
        EngineOptions(cpus=0)
