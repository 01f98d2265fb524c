"""A run that dies at any of its steps on the disk ends, when it goes on, as if it had not."""

import io
import json
import os
import re
import stat
import subprocess
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from olive_iw import files
from olive_iw.algorithms import make_spec
from olive_iw.files import write_text
from olive_iw.runs.config import RunConfig
from olive_iw.runs.folder import find_runs
from olive_iw.runs.run import run
from olive_iw.runs.verification import check_run
from olive_iw.sweeps.sweep import sweep
from results_page.copies import copy_runs

STEPS = ("replace", "rename", "fsync", "unlink", "mkdir", "rmdir", "open", "write", "ftruncate")
"""Calls of the operating system that a run makes between two states of its folder; to open a file
is one if it is to be written."""
SYSTEM_OPEN, FILE_OPEN = os.open, io.open
VARYING = ("seconds", "seconds_by_part", "cache_hits", "cache_misses")
"""What may differ after a stop: a new cache has other hits, and no clock repeats itself."""
LEARNER = {
    **{"calls_per_action": 8, "training_actions": 3, "screens_per_episode": 3},
    **{"screen_limit": 9, "steps": 2, "max_training_episodes": 2},
}
POLICY = {
    **{"calls_per_action": 5, "training_actions": 3, "channels": 2, "hidden": 8},
    **{"warm_up": 5, "batch": 4, "replay": 16},
}
RUNS = {
    "patch-iw": RunConfig("grid:corridor", make_spec("patch-iw", calls_per_action=5), 1, 2, 4),
    "olive": RunConfig("grid:collect", make_spec("olive", **LEARNER), 400, 1, 2),
    "pi-iw": RunConfig("grid:lava", make_spec("pi-iw", **POLICY), 30, 1, 2),
}
SWEEP = """
games = ["grid:corridor", "grid:key-door"]
algorithms = ["patch-iw"]
calls_per_action = 3
episodes = 1
max_actions = 2
"""


def steps_of(work: Callable[[], object], die_at: int | None = None) -> int:
    """Do some work in a child that dies before a certain step; return how many steps it made."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        made = 0

        def counting(call: Callable[..., Any]) -> Callable[..., Any]:
            def step(*arguments: Any, **more: Any) -> Any:
                nonlocal made
                if reads(call, *arguments):
                    return call(*arguments, **more)
                if made == die_at:
                    os._exit(9)
                made += 1
                return call(*arguments, **more)

            return step

        try:
            for name in STEPS:
                setattr(os, name, counting(getattr(os, name)))
            io.open = counting(io.open)
            work()
            os.write(write, str(made).encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(write)
    _, status = os.waitpid(child, 0)
    with os.fdopen(read) as answer:
        made_steps = answer.read()
    assert os.waitstatus_to_exitcode(status) == (0 if made_steps else 9)
    return int(made_steps or -1)


def reads(call: Callable[..., Any], *arguments: Any) -> bool:
    """Whether a call only opens a file to read it."""
    if call is SYSTEM_OPEN:
        return not arguments[1] & (os.O_WRONLY | os.O_RDWR)
    return call is FILE_OPEN and not {*str((*arguments, "r")[1])} & {*"wa+x"}


def outcome(folder: Path) -> dict[str, Any]:
    """All that must be equal."""
    found: dict[str, Any] = {}
    for path in folder.glob("episodes/*.json"):
        fields = json.loads(path.read_text())
        found[path.name] = {name: fields[name] for name in fields if name not in VARYING}
    found |= {path.name: path.read_bytes() for path in folder.glob("checkpoint/*")}
    return found | {"scores": json.loads((folder / "result.json").read_text())["scores"]}


def die_at_steps(algorithm: str, every: int, tmp_path: Path) -> None:
    config = RUNS[algorithm]
    whole = config.folder(tmp_path / "whole")
    steps = steps_of(lambda: run(config, tmp_path / "whole", device="cpu"))
    assert steps > 20
    for step in range(0, steps, every):
        out = tmp_path / f"killed-{step}"
        steps_of(lambda out=out: run(config, out, device="cpu"), die_at=step)
        run(config, out, device="cpu")
        folder = config.folder(out)
        assert outcome(folder) == outcome(whole), f"died before step {step} of {steps}"
        names = [path.name for path in folder.rglob("*")]
        assert not [name for name in names if re.search(r"aside|\.new|\.old", name)]


def die_in_a_sweep(here: Path) -> None:
    """Each time it is done again it ends as it would have, whatever was done before it died."""
    file = here / "sweep.toml"
    file.write_text(SWEEP)

    def do(out: Path) -> Callable[[], object]:
        console = Console(file=io.StringIO())
        return lambda: sweep(file, out, "inline", retries=0, console=console)

    do(here / "whole")()
    whole = {run.name: outcome(run.path) for run in find_runs(here / "whole")}
    assert len(whole) == 2
    for step in range(steps_of(do(here / "counted"))):
        out = here / f"killed-{step}"
        steps_of(do(out), die_at=step)
        do(out)()
        assert {run.name: outcome(run.path) for run in find_runs(out)} == whole, step
        assert (out / "sweep-files" / "sweep.toml").read_text() == SWEEP


def die_in_an_export(here: Path) -> None:
    """A copy is whole or not finished; copied again, it is whole."""
    config = replace(RUNS["patch-iw"], training_calls=100_000, max_actions=1_200)
    run(config, here / "runs")

    def do(results: Path) -> Callable[[], object]:
        return lambda: copy_runs(here / "runs", results, "abcdef0")

    do(here / "whole" / "five-minute")()
    (whole,) = find_runs(here / "whole")
    for step in range(steps_of(do(here / "counted" / "five-minute"))):
        results = here / f"killed-{step}" / "five-minute"
        steps_of(do(results), die_at=step)
        for found in find_runs(results) if results.exists() else ():
            assert not found.finished or not check_run(found).problems
        do(results)()
        (copy,) = find_runs(results)
        names = {path.relative_to(copy.path) for path in copy.path.rglob("*")}
        assert {name for name in names if "aside" not in name.name} == {
            path.relative_to(whole.path) for path in whole.path.rglob("*")
        }
        assert not check_run(copy).problems


def die_while_growing(tmp_path: Path) -> None:
    config = RUNS["patch-iw"]
    more = replace(config, episodes=3)
    run(more, tmp_path / "whole")
    run(config, tmp_path / "measured")
    steps = steps_of(lambda: run(more, tmp_path / "measured"))
    for step in range(steps):
        out = tmp_path / f"killed-{step}"
        run(config, out)
        steps_of(lambda out=out: run(more, out), die_at=step)
        run(more, out)
        assert outcome(more.folder(out)) == outcome(more.folder(tmp_path / "whole"))


@pytest.mark.parametrize(
    "work",
    [
        "die_at_steps('patch-iw', 1, here)",
        "die_at_steps('olive', 37, here)",
        pytest.param("die_at_steps('olive', 1, here)", marks=pytest.mark.slow),
        pytest.param("die_at_steps('pi-iw', 1, here)", marks=pytest.mark.slow),
        pytest.param("die_in_a_sweep(here)", marks=pytest.mark.slow),
        pytest.param("die_in_an_export(here)", marks=pytest.mark.slow),
        "die_while_growing(here)",
    ],
)
def test_death_at_any_step_changes_nothing(work: str, tmp_path: Path) -> None:
    # In a process of one thread: a child forked from one of several may wait for them for ever.
    lines = ("from pathlib import Path", f"here = Path({str(tmp_path)!r})", work)
    # Its death loses nothing that the disk has not written yet: there is no need to wait for that.
    unhurried = ("import os", "os.fsync = lambda descriptor: None")
    code = "\n".join(("from test_killed_anywhere import *", *unhurried, *lines))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, env=environment, check=True
    )


def test_a_folder_is_flushed_after_a_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    fsync, rename = os.fsync, os.replace

    def note_fsync(descriptor: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def note_rename(*paths: Any) -> None:
        done.append("rename")
        rename(*paths)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "replace", note_rename)
    write_text(tmp_path / "file", "text")
    assert done == ["file", "rename", "folder"]
    done.clear()
    write_text(tmp_path / "file", "text", durable=False)
    assert done == ["rename"]
    monkeypatch.setattr(files.os, "open", _refuse)
    files.flush_folder(tmp_path)  # a system that cannot is none to complain about


def _refuse(*arguments: Any) -> int:
    raise PermissionError("folders are not opened here")
