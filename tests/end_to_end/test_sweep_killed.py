"""A sweep that is killed again and again ends as one that was not."""

import io
import json
import multiprocessing
import os
import random
import time
from collections import Counter

import pytest
from rich.console import Console
from safetensors.numpy import load_file

from olive_iw.runs.events import EvaluationEpisodeDone, RunStarted, read_events
from olive_iw.runs.run import run
from olive_iw.sweeps.options import EngineOptions
from olive_iw.sweeps.sweep import PulseWriter, do_run, sweep

KILLS = 10
PATIENCE = 300
FIXED = """
games = ["grid:corridor", "grid:key-door", "grid:collect", "breakout", "freeway"]
algorithms = ["patch-iw"]
seeds = [0]
calls_per_action = 10
episodes = 6
max_actions = 12
"""
LAST = ("freeway", 5)  # game and number of the episode that is played when nothing is killed
WAITS_AFTER = 31  # evaluation episodes, with the two of the sweep below
LEARNING = """
games = ["grid:key-door"]
algorithms = ["olive"]
seeds = [0]
calls_per_action = 10
training_calls = 120
training_actions = 4
episodes = 2
max_actions = 12
steps = 5
"""
OF_THE_PROCESS = {
    "seconds",
    "seconds_by_part",
    "seconds_per_action",
    # A process that begins in the middle has met fewer screens before: slower, not different.
    "cache_hits",
    "cache_misses",
}


class Held(PulseWriter):
    """Waits before an episode, so that a sweep certainly goes on until it is killed."""

    def on_episode_start(self, phase, number):
        super().on_episode_start(phase, number)
        if phase == "evaluation" and number == LAST[1]:
            time.sleep(2 * PATIENCE)


def all_but_the_last(job):
    pulse = Held if job.config.game == LAST[0] else PulseWriter
    return run(job.config, job.out, pulse(job.run), job.device)


def drive(folder, out, engine, work):
    """Do two sweeps in one folder; the exit code is theirs."""
    console, options = Console(file=io.StringIO()), EngineOptions(workers=2)
    codes = [
        sweep(folder / name, out, engine, options, console=console, work=work).exit_code
        for name in ("learning.toml", "fixed.toml")
    ]
    os._exit(max(codes))


@pytest.fixture
def start(tmp_path):
    """Starts sweeps in processes; those still alive are ended with the test."""
    (tmp_path / "fixed.toml").write_text(FIXED)
    (tmp_path / "learning.toml").write_text(LEARNING)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["olive_iw.sweeps.sweep", "torch._dynamo"])
    started = []

    def start(name, engine, work=do_run):
        process = context.Process(target=drive, args=(tmp_path, tmp_path / name, engine, work))
        process.start()
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.join()


def count_episodes(out, phase="[et]*"):
    # Not rglob: it stumbles over folders that vanish while it looks into them.
    return len(list(out.glob(f"*/*/seed-*/episodes/{phase}-*.json")))


def content(out):
    """Everything that the same run must find again, by its path."""
    found = {}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if path.parent.name == "episodes" or path.name == "result.json":
            fields = json.loads(path.read_text())
            found[name] = {key: value for key, value in fields.items() if key not in OF_THE_PROCESS}
        elif path.suffix == ".safetensors":
            # The order of its header's entries is random.
            arrays = load_file(path)
            found[name] = {key: array.tobytes() for key, array in sorted(arrays.items())}
        elif path.name == "config.toml" or path.parent.name == "checkpoint":
            found[name] = path.read_bytes()
    return found


def test_ten_kills_change_nothing(tmp_path, start):
    draw = random.Random(20220613)
    out = tmp_path / "killed"
    for _ in range(KILLS):
        process = start("killed", "local", all_but_the_last)
        # Some moments are soon after the start, others after some more episodes.
        enough = count_episodes(out) + draw.choice((0, 1, 1, 2, 2))
        deadline = time.monotonic() + PATIENCE
        while count_episodes(out) < enough and count_episodes(out, "evaluation") < WAITS_AFTER:
            assert process.exitcode is None, "the sweep ended before it was killed"
            assert time.monotonic() < deadline, "waited in vain"
            time.sleep(0.005)
        time.sleep(draw.uniform(0, 0.1))
        process.kill()
        process.join()
        assert process.exitcode == -9, "the sweep ended before it was killed"
    last = start("killed", "local")
    last.join(PATIENCE)
    assert last.exitcode == 0

    whole = start("whole", "inline")
    whole.join(PATIENCE)
    assert whole.exitcode == 0
    expected, found = content(tmp_path / "whole"), content(out)
    assert found.keys() == expected.keys()
    assert len([name for name in found if name.endswith("result.json")]) == 6
    for name, value in expected.items():
        assert found[name] == value, name

    starts = 0
    for path in out.rglob("events.jsonl"):
        starts += len(list(read_events(path, RunStarted)))
        played = Counter(event.number for event in read_events(path, EvaluationEpisodeDone))
        assert set(played.values()) <= {1}, f"{path}: an evaluation episode was played twice"
    assert starts > 6, "no run was interrupted"
