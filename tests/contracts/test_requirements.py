"""What is installed is said once and for all: nothing is built or run in a version nobody chose."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PINS = {
    canonicalize_name(pin.name): str(next(iter(pin.specifier)).version)
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if not line.startswith("#")
    for pin in [Requirement(line)]
}
DEPENDENCIES = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
OPTIONAL = [
    Requirement(line)
    for lines in PROJECT["project"]["optional-dependencies"].values()
    for line in lines
    if not line.startswith("olive-iw[")
]


@pytest.mark.parametrize("wanted", [*DEPENDENCIES, *OPTIONAL], ids=str)
def test_every_dependency_has_a_tested_version_that_suits(wanted):
    assert wanted.specifier.contains(PINS[canonicalize_name(wanted.name)])


def test_the_build_uses_one_version():
    for wanted in map(Requirement, PROJECT["build-system"]["requires"]):
        assert str(wanted.specifier) == f"=={PINS[canonicalize_name(wanted.name)]}"


@pytest.mark.parametrize("name", ["ale-py", "numba", "torch"])
def test_what_we_depend_on_closely_has_an_upper_bound(name):
    (wanted,) = (wanted for wanted in [*DEPENDENCIES, *OPTIONAL] if wanted.name == name)
    assert any(bound.operator == "<" for bound in wanted.specifier)


def test_setup_installs_nothing_without_the_constraints():
    text = (ROOT / "Makefile").read_text()
    installs = re.findall(r"pip install .*", text)
    assert len(installs) == 2, "a variable says how, with uv or with pip, and all steps use it"
    assert all("--constraint constraints.txt" in install for install in installs)
