"""Sweeps in real processes: crashes, signals, and two sweeps in one folder."""

import io
import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest
from rich.console import Console

from olive_iw.runs.events import RunStarted
from olive_iw.runs.folder import RunFolder
from olive_iw.sweeps.options import EngineOptions
from olive_iw.sweeps.status import status
from olive_iw.sweeps.sweep import do_run, sweep

SWEEP = """
games = ["grid:corridor", "grid:collect"]
algorithms = ["patch-iw"]
seeds = [0, 1]
calls_per_action = 5
episodes = 2
max_actions = 3
"""
# Both games go on until their clock or score is full: minutes, whoever plays.
LONG = """
games = ["freeway", "pong"]
algorithms = ["uct"]
seeds = [0]
"""
CRASHING = "grid:corridor patch-iw-laptop,calls_per_action=5 seed 0"
FAILING = "grid:collect patch-iw-laptop,calls_per_action=5 seed 1"
PATIENCE = 300
TWO = EngineOptions(workers=2)


def do_or_die(job):
    """Fares differently by game and seed, as a bad emulator and a bad algorithm would."""
    if job.name == CRASHING:
        print("about to crash", flush=True)
        os.abort()
    if job.name == FAILING:
        raise ZeroDivisionError("no luck at all")
    return do_run(job)


def drive(file, out):
    """Do a sweep as the command line does."""
    try:
        report = sweep(file, out, "local", TWO, console=Console(file=io.StringIO()))
    except KeyboardInterrupt:
        os._exit(130)
    os._exit(report.exit_code)


@pytest.fixture
def driver(tmp_path):
    """Starts processes that sweep; those still alive are ended with the test."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["olive_iw.sweeps.sweep"])
    started = []

    def start(file):
        process = context.Process(target=drive, args=(file, tmp_path / "runs"))
        process.start()
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.join()


def group_exists(number):
    try:
        os.killpg(number, 0)
    except ProcessLookupError:
        return False
    return True


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def test_a_crash_and_an_exception_cost_their_runs_only(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(SWEEP)
    console = Console(file=io.StringIO(), width=200)
    report = sweep(
        file, tmp_path / "runs", "local", TWO, retries=1, console=console, work=do_or_die
    )
    assert (report.done, report.exit_code) == (2, 1)
    failed = {job.name: (job, failure) for job, failure in report.failed.items()}
    assert len(failed) == 2
    job, crashed = failed[CRASHING]
    _, raised = failed[FAILING]
    assert crashed.reason == "the worker was ended by SIGABRT"
    assert raised.reason == "ZeroDivisionError: no luck at all"
    log = (job.folder / crashed.log).read_text()
    assert log.count("about to crash") == 2, "it was tried twice"
    assert "do_or_die" in log, "faulthandler says where"
    assert all(name in console.file.getvalue() for name in failed)
    counts = status(tmp_path / "runs").counts
    assert (counts["done"], counts["failed"]) == (2, 2)


def test_sigterm_stops_within_seconds_and_the_same_command_goes_on(tmp_path, driver):
    runs, file = tmp_path / "runs", tmp_path / "long.toml"
    file.write_text(LONG)
    folders = [runs / game / "uct-laptop/seed-0" for game in ("freeway", "pong")]

    def starts():
        return [len(RunFolder(folder).events(RunStarted)) for folder in folders]

    for attempt in (1, 2):
        process = driver(file)
        until(lambda attempt=attempt: starts() == [attempt, attempt])
        assert status(runs).counts["running"] == 2
        os.kill(process.pid, signal.SIGTERM)
        process.join(PATIENCE)
        assert process.exitcode == 130
        counts = status(runs).counts
        assert (counts["running"], counts["stopped"], counts["failed"]) == (0, 2, 0)


@pytest.mark.parametrize("begun", [False, True], ids=["libraries load", "runs are going on"])
def test_five_times_ctrl_c_is_as_clean_as_once(tmp_path, begun):
    runs, file = tmp_path / "runs", tmp_path / "long.toml"
    file.write_text(LONG)
    process = subprocess.Popen(
        [sys.executable, "-m", "olive_iw", "sweep", str(file), "--out", str(runs)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # signals go to all its processes, as a terminal's Ctrl-C does
    )
    until((lambda: list(runs.rglob("config.toml"))) if begun else runs.exists)
    for _ in range(5):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.05)
    _, errors = process.communicate(timeout=PATIENCE)
    assert errors == "stopped; run the same command again to go on\n"
    assert process.returncode == 130
    until(lambda: not group_exists(process.pid))


def test_two_sweeps_in_one_folder_share_the_work(tmp_path, driver):
    file = tmp_path / "small.toml"
    file.write_text(SWEEP)
    first, second = driver(file), driver(file)
    for process in (first, second):
        process.join(PATIENCE)
        assert process.exitcode == 0
    folders = list((tmp_path / "runs").rglob("seed-*"))
    assert len(folders) == 4
    for folder in folders:
        lines = (folder / "events.jsonl").read_text()
        assert lines.count('"type": "run finished"') == 1
        assert lines.count('"type": "evaluation episode"') == 2
    counts = status(tmp_path / "runs").counts
    assert (counts["done"], sum(counts.values())) == (4, 4)
