"""The examples run, and print what their readers are promised."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PROMISED = {
    "01_one_decision": ["20,598,848 atoms", "<- chosen", "lives are left"],
    "02_your_own_simulator": ["Catch keeps the simulator contract", "12 of 12 caught"],
    "03_your_own_bandit": ["uniform", "ttts", "Boltzmann (ours)"],
    "04_your_own_features": ["patches", "bprost", "ours"],
    "05_compare_two_algorithms": ["rollout-iw", "olive", "Mann-Whitney"],
    "06_minigrid": ["no way to the goal found", "pickup", "toggle", "at the goal."],
}
SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("[0-9]*.py"))


def test_there_are_six_and_all_are_tested() -> None:
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
