"""A package of somebody else's can bring parts: they are found, listed and used."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = '''
import numpy as np
from olive_iw.features.vae import LAPTOP_TRAINING, LaptopConfig
from olive_iw.sweeps.engines import InlineEngine

TINY = (LaptopConfig(hidden=4, bits=3), LAPTOP_TRAINING)


class Eager(InlineEngine):
    """Does a job at once, eagerly."""


class First:
    """Takes the first unsolved action, always; counts how often it was asked."""

    asked = 0

    def choose(self, statistics, generator):
        First.asked += 1
        return int(np.flatnonzero(statistics.unsolved)[0])
'''
ENTRY_POINTS = """
[olive_iw.profiles]
tiny = somebody_elses:TINY
[olive_iw.engines]
eager = somebody_elses:Eager
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
except olive.InputError as error:
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


def test_plug_ins_are_reached_from_the_command_line(
    environment: dict[str, str], tmp_path: Path
) -> None:
    quick = ("--calls-per-action", "5", "--episodes", "1", "--max-actions", "2", "--quiet")
    out = ("--out", str(tmp_path / "runs"))
    run = ("-m", "olive_iw", "run", "grid:collect", *quick, *out)
    olive = ("--profile", "tiny", "--training-calls", "300", "--steps", "5")
    python(environment, *run, "--bandit", "always-first", *olive)
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(
        'games = "grid:corridor"\nalgorithms = "patch-iw"\nbandit = "always-first"\n'
        "calls_per_action = 5\nepisodes = 1\nmax_actions = 2\n"
    )
    python(
        environment, "-m", "olive_iw", "--plugins", "sweep", str(sweep), *out, "--engine", "eager"
    )
    read = "from olive_iw.runs.folder import find_runs; import pathlib, sys;"
    read += "[print(run.config().spec.label) for run in find_runs(pathlib.Path(sys.argv[1]))]"
    folder = str(tmp_path / "runs")
    command = [sys.executable, "-c", read, folder]
    refused = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert "is a plug-in, which a file cannot load" in refused.stderr
    load = "from olive_iw.cli.list import load_plugins; load_plugins();"
    labels = python(environment, "-c", load + read, folder).split()
    assert "patch-iw-laptop,bandit=always-first,calls_per_action=5" in labels
    assert any(label.startswith("olive-tiny,bandit=always-first") for label in labels)
