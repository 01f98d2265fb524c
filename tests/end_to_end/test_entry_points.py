"""A package of somebody else's can bring parts: they are found, listed and used."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = '''
import numpy as np


class First:
    """Takes the first unsolved action, always; counts how often it was asked."""

    asked = 0

    def choose(self, statistics, generator):
        First.asked += 1
        return int(np.flatnonzero(statistics.unsolved)[0])
'''
ENTRY_POINTS = """
[olive_iw.bandits]
always-first = somebody_elses:First
uniform = somebody_elses:First
broken = somebody_elses:NotThere
"""
METADATA = "Metadata-Version: 2.1\nName: somebody-elses\nVersion: 1.0\n"
USE = """
import json
import olive_iw as olive
from olive_iw.bandits import BANDITS, Uniform, make_bandit
from somebody_elses import First

planner = olive.RolloutIW("patches", bandit="always-first")
planner.start(olive.make_simulator("grid:corridor"), seed=0)
decision = planner.decide(calls=5)
try:
    make_bandit("broken")
    broken = "loaded"
except AttributeError as error:
    broken = str(error)
print(json.dumps({
    "known": "always-first" in BANDITS,
    "asked": First.asked,
    "calls": decision.calls,
    "visits": decision.visits.tolist(),
    "uniform is ours": isinstance(make_bandit("uniform"), Uniform),
    "broken": broken,
}))
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which that package is installed: a module and its metadata, on the path."""
    (tmp_path / "somebody_elses.py").write_text(MODULE, encoding="utf-8")
    metadata = tmp_path / "somebody_elses-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(METADATA, encoding="utf-8")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    path = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def python(environment: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_is_used_by_a_planner(environment: dict[str, str]) -> None:
    found = json.loads(python(environment, "-c", USE))
    assert found["known"]
    assert found["calls"] == 5
    assert found["asked"] >= 5
    assert found["visits"][0] >= 1
    assert found["uniform is ours"]  # a name that is taken stays ours
    assert "NotThere" in found["broken"]  # loaded when asked for, and not before


def test_it_is_listed(environment: dict[str, str]) -> None:
    listed = json.loads(python(environment, "-m", "olive_iw", "list", "bandits", "--json"))
    assert "always-first" in listed["bandits"]
    assert listed["bandits"].count("uniform") == 1


def test_without_the_package_there_is_no_such_part(environment: dict[str, str]) -> None:
    del environment["PYTHONPATH"]
    listed = json.loads(python(environment, "-m", "olive_iw", "list", "bandits", "--json"))
    assert "always-first" not in listed["bandits"]
