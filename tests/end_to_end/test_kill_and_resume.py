"""A run that is killed again and again ends as if it had never been stopped."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [
    *(sys.executable, "-m", "olive_iw", "run", "grid:collect", "--quiet", "--device", "cpu"),
    *("--training-calls", "400", "--calls-per-action", "20", "--training-actions", "8"),
    *("--screen-limit", "30", "--steps", "15"),
    *("--episodes", "4", "--max-actions", "6"),
]
# Writes so many events, then waits before the next one: it is killed in between, surely.
HELD = """
import sys, time
from olive_iw.cli.main import main
from olive_iw.runs.folder import RunFolder

left, note = int(sys.argv.pop(1)), RunFolder.note

def note_or_wait(folder, event):
    global left
    left -= 1
    if left < 0:
        time.sleep(600)
    note(folder, event)

RunFolder.note = note_or_wait
main()
"""


def command(algorithm: str, out: Path) -> list[str]:
    of_olive = ["--screens-per-episode", "6"] if algorithm == "olive" else []
    return [*COMMAND, *of_olive, "--algorithm", algorithm, "--out", str(out)]


def folder(algorithm: str, out: Path) -> Path:
    of_olive = "screens_per_episode=6," if algorithm == "olive" else ""
    variant = f"calls_per_action=20,training_actions=8,{of_olive}screen_limit=30,steps=15"
    return out / "grid-collect" / f"{algorithm}-laptop,{variant}" / "seed-0"


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def kill_after_events(algorithm: str, out: Path, more: int) -> None:
    """Start the run, kill it once it has written `more` further events and not yet the next."""
    events = folder(algorithm, out) / "events.jsonl"
    goal = lines(events) + more
    arguments = command(algorithm, out)[3:]
    with subprocess.Popen([sys.executable, "-c", HELD, str(more), *arguments]) as process:
        while process.poll() is None and lines(events) < goal:
            time.sleep(0.002)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert lines(events) == goal


def outcome(algorithm: str, out: Path) -> dict[str, object]:
    """All that must be equal: episodes without their seconds, network, screens and scores."""
    run = folder(algorithm, out)
    episodes = {}
    for path in sorted((run / "episodes").glob("*.json")):
        fields = json.loads(path.read_text())
        episodes[path.name] = {
            name: fields[name] for name in ("actions", "rewards", "score", "calls", "values")
        }
    learned = {path.name: path.read_bytes() for path in (run / "checkpoint").iterdir()}
    scores = json.loads((run / "result.json").read_text())["scores"]
    return {"episodes": episodes, "learned": learned, "scores": scores}


@pytest.mark.parametrize("algorithm", ["olive", "vae-iw"])
def test_killed_and_resumed_equals_uninterrupted(algorithm: str, tmp_path: Path) -> None:
    subprocess.run(command(algorithm, tmp_path / "whole"), check=True)
    for more in (2, 3, 3):
        kill_after_events(algorithm, tmp_path / "killed", more)
    assert not (folder(algorithm, tmp_path / "killed") / "result.json").exists()
    subprocess.run(command(algorithm, tmp_path / "killed"), check=True)
    assert outcome(algorithm, tmp_path / "killed") == outcome(algorithm, tmp_path / "whole")


def test_a_finished_run_is_only_read(tmp_path: Path) -> None:
    subprocess.run(command("vae-iw", tmp_path), check=True)
    run = folder("vae-iw", tmp_path)
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*.json*")}
    subprocess.run(command("vae-iw", tmp_path), check=True)
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*.json*")} == before
