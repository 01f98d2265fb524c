"""What is compiled is compiled once, and somebody who waits for it is told."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import pytest

from olive_iw.errors import InputError
from olive_iw.runs.players import Pairing

PLAY = [sys.executable, "-m", "olive_iw", "play", "grid:collect", "--algorithm", "uct"]
SHORT = ["--max-actions", "1", "--calls-per-action", "5", "--no-show"]

SOMEBODYS = """
import sys
from numba import njit
from olive_iw.arithmetic import exp


@njit
def twice(x):
    return 2.0 * exp(x)

print(twice(0.0), exp(0.0))
"""


def ran(command: list[str], cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)


def test_the_first_start_says_that_it_compiles_and_the_second_does_not(
    tmp_path: Path,
) -> None:
    first, second = (ran([*PLAY, *SHORT], tmp_path) for _ in range(2))
    assert first.stderr.splitlines() == ["compiling, once"]
    assert second.stderr == ""
    assert "compiling" not in first.stdout


def test_somebodys_compiled_function_may_call_ours(tmp_path: Path) -> None:
    assert ran([sys.executable, "-c", SOMEBODYS], tmp_path).stdout == "2.0 1.0\n"


def test_the_bar_is_gone_before_it_is_said_who_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    @contextmanager
    def bar() -> Iterator[None]:
        yield
        told.append("the bar is gone")

    def who(player: Pairing) -> NoReturn:
        told.append(player.game)
        raise InputError("this is enough")

    for name in ("play", "view"):
        module = import_module(f"olive_iw.cli.{name}")
        monkeypatch.setattr(module, "compiling", bar)
        monkeypatch.setattr(module, "rehearse", lambda *_, **__: told.append("rehearsed"))
        monkeypatch.setattr(module, "say_who", who)
        with pytest.raises(InputError, match="enough"):
            getattr(module, name)("grid:corridor")
    assert told == 2 * ["rehearsed", "the bar is gone", "grid:corridor"]
