"""What does without a network does without torch, which takes seconds to load."""

import subprocess
import sys

PROGRAM = """
import sys
from pathlib import Path
from olive_iw.algorithms import make_spec
from olive_iw import cli
from olive_iw.reports import results
from olive_iw.runs import verification
from olive_iw.runs.config import RunConfig
from olive_iw.runs.run import run
from olive_iw.sweeps import export, status, sweep

spec = make_spec("patch-iw", calls_per_action=3)
run(RunConfig("grid:corridor", spec, episodes=1, max_actions=2), Path(sys.argv[1]))
print([name for name in ("torch", "matplotlib", "ray", "imageio") if name in sys.modules])
"""


def test_planning_and_its_reports_load_neither_torch_nor_plots(tmp_path):
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
