"""What a wheel has in it is enough for what the documents say, far from the repository."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hatchling import build

from olive_iw.errors import AdviceWarning
from olive_iw.sweeps.file import read_sweep

ROOT = Path(__file__).parents[2]


def built(source: Path, folder: Path) -> Path:
    """Build the wheel of a source."""
    with contextlib.chdir(source):
        return folder / build.build_wheel(str(folder))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """Unpack it, which is all that installing a pure one does."""
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(wheel.parent / "site")
    return wheel.parent / "site"


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
    with pytest.warns(AdviceWarning, match="patch-iw has no option steps"):
        assert len(read_sweep(sweep)) == 9
    assert "9 runs" in olive_iw(installed, tmp_path, "sweep", "my.toml", "--dry-run")


def test_the_image_is_given_all_that_it_is_built_from(wheel: Path, tmp_path: Path) -> None:
    source, made = tmp_path / "source", tmp_path / "made"
    made.mkdir()
    wanted = re.findall(r"^!(.*)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    for path in map(ROOT.joinpath, wanted):
        ignore = shutil.ignore_patterns("__pycache__")
        place = source / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(path, place, ignore=ignore) if path.is_dir() else shutil.copy(path, place)
    ours, theirs = (zipfile.ZipFile(it).namelist() for it in (wheel, built(source, made)))
    assert sorted(ours) == sorted(theirs)
