"""The README shows what its commands print, on this machine and on any other."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "olive_iw"]
(SHOWN,) = re.findall(r"```\n(\$ olive-iw run .*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
"""Commands, each after `$`, and the lines they print; `…` where lines are left out."""


def without_seconds(line: str) -> str:
    return re.sub(r"[\d.]+ s/action", "… s/action", line.rstrip())


def shown(number: int) -> tuple[list[str], list[str]]:
    """Words of a command of the README, and the lines that it is said to print."""
    command, *lines = re.split(r"^\$ ", SHOWN, flags=re.MULTILINE)[number + 1].splitlines()
    words = shlex.split(command, comments=True)
    return words[1:], [without_seconds(line) for line in lines if line != "…"]


def printed(words: list[str], folder: Path) -> Iterator[str]:
    """Lines that a command prints, as they come; it is stopped when no more are asked for."""
    run = subprocess.Popen([*COMMAND, *words], cwd=folder, stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    try:
        yield from map(without_seconds, run.stdout)
        assert run.wait() == 0
    finally:
        run.kill()
        run.communicate()


def test_the_makefile_has_the_readmes_command() -> None:
    words, _ = shown(0)
    assert f"/olive-iw {shlex.join(words)}\n" in (ROOT / "Makefile").read_text()


def test_the_first_training_comes_out_as_the_readme_shows_it(tmp_path: Path) -> None:
    words, lines = shown(0)
    first = next(line for line in printed(words, tmp_path) if line.startswith("training 0"))
    assert first == lines[1]


@pytest.mark.slow
def test_the_demo_comes_out_as_the_readme_shows_it(tmp_path: Path) -> None:
    for number in range(2):
        words, lines = shown(number)
        found = list(printed(words, tmp_path))
        assert [line for line in found if line in lines] == lines, found
