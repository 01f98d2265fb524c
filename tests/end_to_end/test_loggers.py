"""Figures of a run, shown in other programs: TensorBoard, and trackers like W&B and trackio."""

import re
import sqlite3
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from olive_iw.cli.main import main
from olive_iw.runs.loggers import LOGGERS

RUN = (
    *("run", "grid:collect", "--quiet", "--device", "cpu", "--episodes", "2", "--steps", "2"),
    *("--training-calls", "120", "--calls-per-action", "20", "--max-actions", "4"),
)


def exit_code(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    return int(stop.value.code or 0)


@pytest.fixture
def tracker(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict]]:
    """Put something in the place of W&B that notes what it is told; return the notes."""
    told: list[tuple[str, dict]] = []
    wandb = SimpleNamespace(
        init=lambda **what: told.append(("init", what)),
        log=lambda figures: told.append(("log", figures)),
        finish=lambda: told.append(("finish", {})),
    )
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    return told


def test_tensorboard_events_are_written_when_asked_for(tmp_path: Path) -> None:
    assert exit_code(*RUN, "--out", str(tmp_path), "--loggers", "tensorboard") == 0
    assert list(tmp_path.rglob("tensorboard/events.out.tfevents.*"))


def test_a_tracker_is_told_of_every_episode(
    tmp_path: Path, tracker: list[tuple[str, dict]]
) -> None:
    assert exit_code(*RUN, "--out", str(tmp_path), "--loggers", "wandb") == 0
    (_, begun), *logged, (last, _) = tracker
    assert (begun["project"], begun["resume"], last) == ("olive-iw", "allow", "finish")
    assert begun["config"]["game"] == "grid:collect"
    assert begun["id"] == begun["config"]["hash"]
    training = [figures for _, figures in logged if "training/calls" in figures]
    assert training[-1]["training/calls"] == 120
    assert {"training/score", "training/loss", "training/screens"} <= training[-1].keys()
    evaluation = [figures for _, figures in logged if "evaluation/episode" in figures]
    assert [figures["evaluation/episode"] for figures in evaluation] == [0, 1]
    assert all("evaluation/score" in figures for figures in evaluation)


def test_a_run_that_fails_ends_there_too(tmp_path: Path, tracker: list[tuple[str, dict]]) -> None:
    short = ("--training-calls", "1")  # one screen: nothing to learn from
    assert exit_code(*RUN, *short, "--out", str(tmp_path), "--loggers", "wandb") == 2
    assert [what for what, _ in tracker] == ["init", "finish"]


def test_trackio_needs_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert exit_code(*RUN, "--out", str(tmp_path), "--loggers", "trackio") == 0
    with sqlite3.connect(tmp_path / "trackio" / "olive-iw.db") as database:
        rows = database.execute("select metrics from metrics").fetchall()
    database.close()
    assert sum("evaluation/score" in str(row) for row in rows) == 2


def test_wandb_needs_no_network_and_a_run_goes_on_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    for place in ("DIR", "CACHE_DIR", "CONFIG_DIR", "DATA_DIR"):
        monkeypatch.setenv(f"WANDB_{place}", str(tmp_path))
    for episodes in ("2", "3"):
        more = ("--episodes", episodes, "--out", str(tmp_path / "runs"), "--loggers", "wandb")
        assert exit_code(*RUN, *more) == 0
    end = time.monotonic() + 60  # W&B writes in a process of its own
    while True:
        records = [path.read_bytes() for path in tmp_path.rglob("offline-run-*/*.wandb")]
        if all(map(_numbers, records)) or time.monotonic() > end:
            break
        time.sleep(0.1)
    second, first = sorted(records, key=lambda record: b"training/loss" in record)
    assert _numbers(first) == {b"0", b"1"}
    assert _numbers(second) == {b"2"}  # it was trained already
    assert b"training/loss" in first
    assert b"grid:collect" in first


def _numbers(records: bytes) -> set[bytes]:
    """Numbers of the evaluation episodes in W&B's records: a name, two bytes, a length, a value."""
    return set(re.findall(rb"evaluation/episode\x82\x01\x01(.)", records))


@pytest.mark.parametrize("name", ["wandb", "trackio", "tensorboard"])
def test_a_missing_package_is_told_and_leaves_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = "tensorboard.summary.writer.event_file_writer" if name == "tensorboard" else name
    monkeypatch.setitem(sys.modules, module, None)
    assert exit_code(*RUN, "--out", str(tmp_path / "runs"), "--loggers", name) == 2
    assert f"pip install 'olive-iw[{name}]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_unknown_one_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(*RUN, "--out", str(tmp_path), "--loggers", "tensorbord") == 2
    assert "did you mean tensorboard" in capsys.readouterr().err
    assert all(LOGGERS.describe(name) for name in LOGGERS)
