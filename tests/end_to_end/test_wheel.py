"""What a wheel has in it is enough for what the documents say, far from the repository."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hatchling import build

from olive_iw.sweeps.file import read_sweep

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel and unpack it, which is all that installing a pure one does."""
    folder = tmp_path_factory.mktemp("wheel")
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        name = build.build_wheel(str(folder))
    finally:
        os.chdir(before)
    with zipfile.ZipFile(folder / name) as wheel:
        wheel.extractall(folder / "site")
    return folder / "site"


def olive_iw(installed: Path, folder: Path, *words: str) -> str:
    """Do a command with what the wheel has, and with nothing of the repository."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "COLUMNS": "200"}
    command = [sys.executable, "-m", "olive_iw", *words]
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_is_the_package_alone(installed: Path) -> None:
    assert {path.name for path in installed.iterdir()} == {
        "olive_iw",
        next(installed.glob("*.dist-info")).name,
    }
    assert (installed / "olive_iw" / "py.typed").is_file()
    assert not list(installed.rglob("*.pyc"))


def test_it_has_the_examples_and_sweeps_that_the_documents_name(
    installed: Path, tmp_path: Path
) -> None:
    listed = olive_iw(installed, tmp_path, "example")
    named = set()
    for page in [ROOT / "README.md", *ROOT.glob("docs/*.md")]:
        text = page.read_text(encoding="utf-8")
        named |= set(re.findall(r"\b(?:examples|sweeps)/[\w-]+\.(?:py|ipynb|toml)", text))
    assert named
    for path in named:
        name = re.sub(r"^\d+_", "", Path(path).stem).replace("_", "-")
        assert re.search(rf"^ {name} +\w", listed, re.MULTILINE)
        kept = installed / "olive_iw" / "shipped" / path
        assert kept.read_bytes() == (ROOT / path).read_bytes()
    path = ROOT / "examples" / "01_one_decision.py"
    assert olive_iw(installed, tmp_path, "example", "one-decision") == path.read_text("utf-8")


def test_an_example_of_it_is_done(installed: Path, tmp_path: Path) -> None:
    sweep = tmp_path / "my.toml"
    sweep.write_text(olive_iw(installed, tmp_path, "example", "sweep"), encoding="utf-8")
    assert len(read_sweep(sweep)) == 9
    assert "9 runs" in olive_iw(installed, tmp_path, "sweep", "my.toml", "--dry-run")
