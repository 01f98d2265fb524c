import io
import json
import os
import signal
import time

import pytest
from rich.console import Console

from olive_iw.cli.doctor import doctor_table
from olive_iw.errors import InputError
from olive_iw.simulators import AtariSimulator
from olive_iw.simulators.doctor import (
    GameReport,
    examine,
    examine_game,
)


def ill_examiner(game, calls, seed):
    """Fares differently in every game."""
    if game == "pong":
        os.kill(os.getpid(), signal.SIGSEGV)
    if game == "qbert":
        os._exit(3)
    if game == "alien":
        time.sleep(600)
    raise ValueError(f"no ball for {calls} calls, seed {seed}")


def test_a_healthy_game():
    (report,) = examine(["breakout"], calls=300)
    assert report.exact
    assert report.verdict == "exact"
    assert 300 <= report.calls < 320
    assert report.comparisons >= 80
    assert (report.actions, report.lives, report.height, report.width) == (4, 5, 210, 160)
    assert report.calls_per_second > 0
    assert json.loads(json.dumps(report.to_dict()))["verdict"] == "exact"


def test_illnesses_are_rows():
    found = [
        *examine(["pong", "qbert", "tennis"], calls=7, seed=5, jobs=2, examiner=ill_examiner),
        *examine(["alien"], timeout=3, examiner=ill_examiner),  # none of the others may be slow
    ]
    reports = {report.game: report for report in found}
    assert {game: report.verdict for game, report in reports.items()} == {
        "pong": "the emulator was ended by SIGSEGV",
        "qbert": "the emulator ended with exit code 3",
        "alien": "no result within 3 seconds",
        "tennis": "ValueError: no ball for 7 calls, seed 5",
    }
    assert not any(report.exact for report in reports.values())
    reports["breakout"] = GameReport("breakout", calls=9, comparisons=1, height=210, width=160)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(doctor_table(reports.values()))
    text = console.export_text()
    assert all(report.game in text and report.verdict in text for report in reports.values())
    assert "210×160" in text


def test_unsound_restores_are_counted(monkeypatch):
    """A restore that sometimes goes to another state than asked for."""
    restore = AtariSimulator.restore
    states = []

    def unsound(self, state):
        states.append(state)
        restore(self, states[0] if len(states) % 10 == 0 else state)

    monkeypatch.setattr(AtariSimulator, "restore", unsound)
    report = examine_game("breakout", 200, 0)
    assert not report.exact
    assert report.outcome_differences > 0
    assert "NOT EXACT: other outcome after" in report.verdict


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"first_screen_differences": 2}, "outcomes exact; first screen differs after 2 of 9"),
        (
            {"first_screen_differences": 2, "later_screen_differences": 1},
            "outcomes exact; later screens differ after 1 of 9",
        ),
        ({"outcome_differences": 4, "later_screen_differences": 1}, "NOT EXACT: other outcome"),
    ],
)
def test_verdicts(fields, verdict):
    report = GameReport("pong", calls=90, comparisons=9, **fields)
    assert report.verdict.startswith(verdict)
    assert not report.exact


def test_bad_input_is_refused_at_once():
    with pytest.raises(InputError, match="did you mean pong"):
        examine(["pomg"])
    with pytest.raises(InputError, match="calls and jobs must be at least 1"):
        examine(["pong"], jobs=0)
