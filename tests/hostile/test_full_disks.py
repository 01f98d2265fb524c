"""A disk that is full: one line that names the file, and what was there before is as it was."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import contextlib, io, resource, sys
from olive_iw.cli.main import main

def call(line):
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        with contextlib.suppress(SystemExit):
            main(line.split())
    return " ".join(said.getvalue().split())

words = "--calls-per-action 5 --max-actions 2 --episodes 1 --quiet --out"
run = f"run grid:corridor --algorithm patch-iw {words}"
learn = f"run grid:collect --algorithm olive --training-calls 100 --steps 2 {words}"
call(f"{run} here")
call(f"{learn} learned --training-actions 5 --max-training-episodes 1")
folder = "here/grid-corridor/patch-iw-laptop,calls_per_action=5/seed-0"
open("sweep.toml", "w").write('games = ["grid:corridor"]\\nalgorithms = ["uct"]\\n')
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)  # what is longer fails
for line in (
    f"{run} more",
    f"{learn} more --training-actions 5 --max-training-episodes 1",
    "sweep sweep.toml --engine inline --out swept",
    "export here --out table.csv",
    "report here --html page.html",
    f"gif {folder}/episodes/evaluation-0000.json --out film.gif",
    "play grid:corridor --max-actions 200 --no-show --out played.json",
):
    print(line.split()[0], "|", call(line))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="files have no such limit there")
@pytest.mark.parametrize("room", [0, 400])
def test_an_error_names_the_file(room: int, tmp_path: Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(room)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout.splitlines()
    assert len(said) == 7, done.stderr
    failed = [line for line in said if "olive-iw:" in line]
    assert len(failed) == 7 if room == 0 else len(failed) >= 3
    for line in failed:
        assert re.search(r"olive-iw: \S+ could not be written \(File too large\)", line), line
    assert not [path for path in tmp_path.rglob("*") if "aside" in path.name]
