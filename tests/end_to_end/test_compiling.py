"""What is compiled is compiled once, and somebody who waits for it is told."""

import os
import subprocess
import sys
from pathlib import Path

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
