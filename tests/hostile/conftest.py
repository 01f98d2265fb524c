"""Runs of a stranger: a good one to begin with, and the command line to show it to."""

from collections.abc import Callable
from pathlib import Path

import pytest
from strangers import Said, copy_run, set_seed

from olive_iw.algorithms import make_spec
from olive_iw.cli.console import console
from olive_iw.cli.main import main
from olive_iw.runs.config import RunConfig
from olive_iw.runs.run import run


@pytest.fixture
def command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Said]:
    """Do a command as the command line does; nothing may raise but the end of it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(console, "_width", 300)  # no name may be broken over two lines

    def call(*arguments: object) -> Said:
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        said = Said(int(end.value.code or 0), captured.out, captured.err)
        assert "Traceback" not in said.text
        assert "\x1b" not in said.text.replace("\x1b[0m", "")
        return said

    return call


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of two evaluation episodes."""
    config = RunConfig("grid:corridor", make_spec("patch-iw", calls_per_action=5), 1, 2, 6)
    out = tmp_path_factory.mktemp("finished")
    run(config, out)
    return config.folder(out)


@pytest.fixture
def good(finished: Path, tmp_path: Path) -> Path:
    """A run that nobody touched, beside the others."""
    return copy_run(finished, tmp_path / "runs" / "good")


@pytest.fixture
def bad(finished: Path, tmp_path: Path) -> Path:
    """A run that a test does something to: the same, of another seed."""
    folder = copy_run(finished, tmp_path / "runs" / "bad")
    set_seed(folder, 1)
    return folder
