"""What the project promises, and the files that build, test and publish it, say the same."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import olive_iw

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
OTHERS = [ROOT / name for name in ("Dockerfile", ".devcontainer/devcontainer.json")]
PYTHONS = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))


def read(path: Path) -> dict[Any, Any]:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in read(path)["jobs"].values() for step in job.get("steps", ())]


def test_the_public_names_are_those_that_are_promised() -> None:
    text = (ROOT / "docs" / "versioning.md").read_text(encoding="utf-8")
    (promised,) = re.findall(r"These are the names:\n\n(.*)\n", text)
    assert re.findall(r"`(\w+)`", promised) == olive_iw.__all__


def test_every_python_that_is_promised_is_tested() -> None:
    strategy = read(ROOT / ".github" / "workflows" / "test.yml")["jobs"]["matrix"]["strategy"]
    assert strategy["matrix"]["python"] == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    systems = "".join(strategy["matrix"]["os"])
    assert all(name in systems for name in ("ubuntu", "macos", "windows"))


def test_badges_say_what_is_true() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    badges = dict(re.findall(r"!\[([^\]]*)\]\((docs/images/badge-[\w-]+\.svg)\)", readme))
    assert set(badges) == {
        f"Python: {PYTHONS[0]} to {PYTHONS[-1]}",
        f"licence: {PROJECT['license']}",
        "types: strict",
    }
    for text, path in badges.items():
        assert f"<title>{text}</title>" in (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_what_a_workflow_uses_is_fixed_and_what_it_may_do_is_said(path: Path) -> None:
    assert read(path)["permissions"]["contents"] in ("read", "write")
    for line in re.findall(r"uses: (.*)", path.read_text(encoding="utf-8")):
        assert re.fullmatch(r"\./\S+|[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", line)
    for job in read(path)["jobs"].values():
        assert "uses" in job or job["timeout-minutes"] <= 90
    for step in steps(path):
        # What somebody else may name, such as a branch, is given to a shell as a variable only.
        assert "${{" not in step.get("run", "")


@pytest.mark.parametrize("path", [*WORKFLOWS, *FORMS, *OTHERS], ids=lambda path: path.name)
def test_no_address_is_made_up(path: Path) -> None:
    assert "://" not in path.read_text(encoding="utf-8")


def test_only_a_release_that_was_tested_is_published() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    assert (jobs["build"]["needs"], jobs["publish"]["needs"]) == ("test", "build")
    assert jobs["publish"]["permissions"]["id-token"] == "write"
    assert not any("password" in str(job) or "secrets." in str(job) for job in jobs.values())


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_forms_have_questions(path: Path) -> None:
    if path.stem != "config":
        asked = [part for part in read(path)["body"] if part["type"] != "markdown"]
        assert len({part["id"] for part in asked}) == len(asked) > 1
        assert all(part["attributes"]["label"] for part in asked)


def test_the_images_are_made_of_what_there_is() -> None:
    docker = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    (extras,) = re.findall(r"source\[(.*)\]", docker)
    assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    assert set(re.findall(r"FROM python:(3\.\d+)", docker)) == {PYTHONS[0]}
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert f"AS {container['build']['target']}\n" in docker
