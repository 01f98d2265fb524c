"""Heavy packages are loaded where they are needed; who needs an optional one says so."""

import subprocess
import sys

PLANNING = """
import sys
from pathlib import Path
from olive_iw.algorithms import make_spec
from olive_iw.cli import main
from olive_iw.reports import results
from olive_iw.runs import verification
from olive_iw.runs.config import RunConfig
from olive_iw.runs.run import run
from olive_iw.sweeps import export, status, sweep

spec = make_spec("patch-iw", calls_per_action=3)
run(RunConfig("grid:corridor", spec, episodes=1, max_actions=2), Path(sys.argv[1]))
print([name for name in ("torch", "matplotlib", "ray", "imageio_ffmpeg") if name in sys.modules])
"""

WITHOUT_EXTRAS = """
import sys

loggers = "tensorboard", "wandb", "trackio"
for name in ("torch", "scipy", "imageio_ffmpeg", "ray", "pyarrow", *loggers):
    sys.modules[name] = None  # importing it fails, as if it were not installed
from pathlib import Path
import olive_iw as olive
from olive_iw import reports
from olive_iw.agents import Spec
from olive_iw.cli.main import main
from olive_iw.algorithms import make_spec
from olive_iw.runs.config import RunConfig
from olive_iw.runs.run import run
from olive_iw.viewer import live_viewer

out = Path(sys.argv[1])
few = {"calls_per_action": 20, "screens_per_episode": 6, "screen_limit": 30, "steps": 3}
spec = make_spec("olive-plus", training_actions=4, **few)
result = run(RunConfig("grid:collect", spec, 100, episodes=1, max_actions=2), out)
assert all(found.confirmed for found in reports.verify(out))
agent = olive.load_agent(next(out.rglob("checkpoint")))
with live_viewer("grid:collect", agent, port=0):
    pass
agent = olive.load_pretrained("breakout", calls_per_action=5)
print(len(agent.play(olive.make_simulator("breakout"), max_actions=2).actions))
for words in (["olive", "paper"], ["pi-iw"]):
    try:
        olive.make_agent(*words)
    except olive.InputError as error:
        print(error)
"""


def printed(program, *arguments):
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_planning_and_its_reports_load_neither_torch_nor_plots(tmp_path):
    assert printed(PLANNING, tmp_path) == "[]\n"


def test_importing_and_asking_for_help_load_nothing_heavy():
    heavy = "numba", "scipy", "matplotlib", "gymnasium", "torch", "PIL"
    for program in ("import olive_iw", "from olive_iw.cli.main import main; main(['--help'])"):
        told = "import atexit, sys; atexit.register(lambda: print(sorted(sys.modules)))\n"
        loaded = printed(told + program).splitlines()[-1]
        assert [name for name in heavy if f"'{name}'" in loaded] == [], program
    assert "'numpy'" not in printed("import sys, olive_iw; print(sorted(sys.modules))")


def test_without_extras_everything_works_but_what_names_the_extra_it_needs(tmp_path):
    assert printed(WITHOUT_EXTRAS, tmp_path).splitlines() == [
        "2",
        "the profile paper needs torch: pip install 'olive-iw[torch]'",
        "pi-iw, which learns a policy, needs torch: pip install 'olive-iw[torch]'",
    ]
