import io
import json
import time
from dataclasses import replace

import pytest
from rich.console import Console

from olive_iw.runs.records import Failure
from olive_iw.sweeps import display
from olive_iw.sweeps.display import LiveTable, SweepReport, plan_table
from olive_iw.sweeps.estimate import Estimate
from olive_iw.sweeps.file import parse_sweep


@pytest.fixture
def job(tmp_path):
    (job,) = parse_sweep('games = "pong"\nalgorithms = "uct"', tmp_path)
    job.folder.mkdir(parents=True)
    pulse = {"phase": "evaluation", "episode": 4, "calls": 500_000, "seconds": 1000.0}
    (job.folder / "pulse.json").write_text(json.dumps(pulse))
    return job


def progress(job, seconds_ago):
    return SweepReport(
        Estimate(6, 0.0, 0.0, 0.0, {}),
        total=9,
        skipped=2,
        done=1,
        failed={replace(job, device="cuda"): Failure("error", "no luck")},
        elsewhere={replace(job, device="cpu")},
        seconds_left=7200.0,
        running={job: time.monotonic() - seconds_ago},
    )


def test_a_terminal_shows_one_table(job):
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    with LiveTable(console, "mine.toml") as table:
        table.show(progress(job, seconds_ago=2000))
        table.say("done: something")
    text = console.file.getvalue()
    for words in ("mine.toml", "pong uct-laptop seed 0", "evaluation 4", "500", "done: something"):
        assert words in text
    assert "3 of 9 done · 1 running · 3 waiting · 1 being done by another process" in text
    assert "1 failed · 500 calls/s · about 2 h 00 min left" in text


def test_what_is_said_is_neither_markup_nor_an_escape_sequence():
    console = Console(file=io.StringIO(), width=60)
    with LiveTable(console, "mine.toml") as table:
        table.say("failed: [red]no[/blue] \x1b[2J", "red")
    assert console.file.getvalue() == "failed: [red]no[/blue] �[2J\n"


def test_the_pulse_of_an_earlier_attempt_is_not_shown(job):
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    with LiveTable(console, "mine.toml") as table:
        table.show(progress(job, seconds_ago=2))
    assert "evaluation 4" not in console.file.getvalue()
    assert "0 calls/s" in console.file.getvalue()


def test_without_a_terminal_there_are_lines_now_and_then(job, monkeypatch):
    console = Console(file=io.StringIO(), width=60)
    with LiveTable(console, "mine.toml") as table:
        table.show(progress(job, seconds_ago=2000))
        assert console.file.getvalue() == ""
        monkeypatch.setattr(display, "LINES_EVERY", 0.0)
        table.show(progress(job, seconds_ago=2000))
    (line,) = console.file.getvalue().splitlines()
    assert line.startswith("3 of 9 done · 1 running · 3 waiting")
    assert line.endswith("500 calls/s · about 2 h 00 min left")


def test_the_plan_counts_what_is_new_begun_and_finished(tmp_path):
    lists = "seeds = [0, 1]\nepisodes = [1, 2]"
    text = f'games = ["pong", "qbert"]\nalgorithms = ["uct", "olive"]\n{lists}'
    jobs = parse_sweep(text, tmp_path)
    jobs[1].folder.mkdir(parents=True)
    (jobs[1].folder / "config.toml").write_text("")
    console = Console(file=io.StringIO(), width=120)
    console.print(plan_table(jobs, jobs[1:]))
    text = console.file.getvalue()
    assert "16 runs, 1 of them finished" in text
    (row,) = (line for line in text.splitlines() if "uct-laptop episodes=1" in line)
    assert row.split() == ["uct-laptop", "episodes=1", "2", "2", "4", "1", "1", "2"]
