"""A run that dies at any of its steps on the disk ends, when it goes on, as if it had not."""

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

from olive_iw import files
from olive_iw.algorithms import make_spec
from olive_iw.files import write_text
from olive_iw.runs.config import RunConfig
from olive_iw.runs.run import run

STEPS = ("replace", "rename", "fsync", "unlink", "mkdir", "rmdir")
"""Calls of the operating system that a run makes between two states of its folder."""
VARYING = ("seconds", "seconds_by_part", "cache_hits", "cache_misses")
"""What may differ after a stop: a new cache has other hits, and no clock repeats itself."""
LEARNER = {
    **{"calls_per_action": 8, "training_actions": 3, "screens_per_episode": 3},
    **{"screen_limit": 9, "steps": 2, "max_training_episodes": 2},
}
RUNS = {
    "patch-iw": RunConfig("grid:corridor", make_spec("patch-iw", calls_per_action=5), 1, 2, 4),
    "olive": RunConfig("grid:collect", make_spec("olive", **LEARNER), 400, 1, 2),
}


def steps_of(work: Callable[[], object], die_at: int | None = None) -> int:
    """Do some work in a child that dies before a certain step; return how many steps it made."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        made = 0

        def counting(call: Callable[..., Any]) -> Callable[..., Any]:
            def step(*arguments: Any, **more: Any) -> Any:
                nonlocal made
                if made == die_at:
                    os._exit(9)
                made += 1
                return call(*arguments, **more)

            return step

        try:
            for name in STEPS:
                setattr(os, name, counting(getattr(os, name)))
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
        "die_at_steps('olive', 11, here)",
        "die_while_growing(here)",
    ],
)
def test_death_at_any_step_changes_nothing(work: str, tmp_path: Path) -> None:
    # In a process of one thread: a child forked from one of several may wait for them for ever.
    lines = ("from pathlib import Path", f"here = Path({str(tmp_path)!r})", work)
    code = "\n".join(("from test_killed_anywhere import *", *lines))
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
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
