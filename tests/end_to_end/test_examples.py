"""The examples run, and print what their readers are promised."""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from olive_iw.bandits import BANDITS
from olive_iw.simulators import make_simulator

EXAMPLES = Path(__file__).parents[2] / "examples"
PROMISED = {
    "01_one_decision": ["20,598,848 atoms", "<- chosen", "lives are left"],
    "02_your_own_simulator": ["Catch keeps the simulator contract", "12 of 12 caught"],
    "03_your_own_bandit": ["uniform", "ttts", "Boltzmann (ours)"],
    "04_your_own_features": ["patches", "bprost", "ours"],
    "05_compare_two_algorithms": ["rollout-iw", "olive", "Mann-Whitney"],
    "06_minigrid": ["no way to the goal found", "pickup", "toggle", "at the goal."],
    "07_a_policy_for_gymnasium": ["Breakout-v5: score", "score 30.00 in 30", "v0: score 0.8"],
    "08_bandits_of_a_paper": ["uniform", "ucb1-normal2", "ucb1-uniform", "mean"],
}
SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("[0-9]*.py"))


def test_there_are_eight_and_all_are_tested() -> None:
    assert sorted(PROMISED) == SCRIPTS


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_is_short(name: str) -> None:
    assert len((EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()) < 60


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_runs_and_says_what_it_promises(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(BANDITS, "_parts", dict(BANDITS.loaded))  # what one adds stays its own
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    out = capsys.readouterr().out
    for words in PROMISED[name]:
        assert words in out
    assert not list(tmp_path.iterdir())  # an example leaves nothing behind


def test_the_plan_of_the_minigrid_is_a_shortest_one(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "06_minigrid.py"), run_name="__main__")
    plan = re.search(r"The plan: (.*)", capsys.readouterr().out)
    assert plan is not None
    assert len(plan[1].split(", ")) == 11


def test_the_study_of_planning_can_be_done_again(tmp_path: Path) -> None:
    def study(*words: str) -> str:
        small = (
            "--folder",
            str(tmp_path),
            "--games",
            "freeway",
            "--seeds",
            "0",
        )
        command = [sys.executable, str(EXAMPLES / "planning_study.py"), *words, *small]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    study("train", "--calls", "300")
    for _ in range(2):  # the second time there is nothing left to do
        study("play", "base", "ties=longest,noise=0.1", "patch-iw,ties=longest", "--actions", "3")
    rows = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert sorted(row["arm"] for row in rows) == [
        "base",
        "patch-iw,ties=longest",
        "ties=longest,noise=0.1",
    ]
    assert all((row["game"], row["actions"], row["cap"]) == ("freeway", 3, 3) for row in rows)
    told = " ".join(study("table").split())
    assert "Against base" in told
    assert "1.00" in told
    study("starts", "--number", "2", "--actions", "30", "--calls-per-action", "2")
    study("play", "noise=0.2", "--actions", "3", "--episodes", "0", "1")
    rows = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert sorted(row["episode"] for row in rows if row["arm"] == "noise=0.2") == [0, 1]
    assert "Against noise=0.2" in " ".join(study("table", "--against", "noise=0.2").split())


def test_the_study_of_planning_needs_no_training_with_shipped_agents(tmp_path: Path) -> None:
    folder = tmp_path / "study"  # which nothing has made yet
    options = ("--shipped", "--folder", str(folder), "--games", "freeway", "--actions", "4")
    words = ("play", "base", "noise=0.1", "--seeds", "0", "1", *options)
    subprocess.run([sys.executable, str(EXAMPLES / "planning_study.py"), *words], check=True)
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    assert {(row["arm"], row["seed"]) for row in rows} == {
        (arm, seed) for arm in ("base", "noise=0.1") for seed in (0, 1)
    }
    deep = {row["arm"]: row["depth"] for row in rows if row["seed"] == 0}
    assert deep["noise=0.1"] > deep["base"]


def test_the_study_of_planning_begins_shortly_before_losses(tmp_path: Path) -> None:
    def study(*words: str) -> None:
        options = ("--folder", str(tmp_path), "--games", "riverraid", "pong", "--seeds", "0")
        command = [sys.executable, str(EXAMPLES / "planning_study.py"), *words, *options]
        subprocess.run(command, check=True)

    study("losses", "--results", str(EXAMPLES.parent / "results" / "five-minute"), "--most", "1")
    starts = json.loads((tmp_path / "starts.json").read_text())
    assert [*starts] == ["riverraid"]  # in pong there are no lives
    simulator = make_simulator("riverraid")
    lives = simulator.reset().lives
    path = EXAMPLES.parent / "results/five-minute/riverraid/olive-plus-laptop/seed-0"
    actions = json.loads((path / "episodes" / "evaluation-0000.json").read_text())["actions"]
    (start,) = starts["riverraid"]
    left = [simulator.step(action).lives for action in actions[: len(start) + 21]]
    assert actions[: len(start)] == start
    assert left[-2] == lives > left[-1]
    study("play", "plus,scout=20", "--shipped", "--actions", "2", "--episodes", "0", "1")
    (row,) = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert (row["game"], row["arm"], row["lost"]) == ("riverraid", "plus,scout=20", 0)
