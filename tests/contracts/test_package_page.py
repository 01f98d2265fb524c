"""What the page of a package shows: the README, with nothing on it that leads nowhere."""

import re
import sys
from email import message_from_string
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from hatchling import build

ROOT = Path(__file__).parents[2]


@pytest.fixture
def package_page():
    spec = spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.package_page


@pytest.fixture
def metadata(tmp_path, monkeypatch):
    """Return the metadata that the wheel has, as the build makes it."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    folder = tmp_path / build.prepare_metadata_for_build_wheel(str(tmp_path))
    return message_from_string((folder / "METADATA").read_text(encoding="utf-8"))


def test_the_wheel_describes_itself_without_links_into_the_repository(metadata):
    page = metadata.get_payload()
    assert metadata["Description-Content-Type"] == "text/markdown"
    targets = re.findall(r"\]\(([^)]*)\)", page)
    assert [target for target in targets if not re.match(r"https?:|#", target)] == []
    assert "![" not in page, "no address, no pictures"
    assert "*(picture: olive-plus playing Breakout)*" in page
    assert "licence: MIT" not in page
    assert "pip install" in page
    assert "docs/install.md has the rest" in page


def test_with_an_address_links_and_pictures_lead_there(package_page):
    text = "![a game](docs/a.gif), [more](docs/more.md#part), [web](https://example.org), [top](#x)"
    assert package_page(text, "https://example.org/olive/") == (
        "![a game](https://example.org/olive/raw/HEAD/docs/a.gif), "
        "[more](https://example.org/olive/blob/HEAD/docs/more.md#part), "
        "[web](https://example.org), [top](#x)"
    )


def test_without_an_address_they_are_words(package_page):
    text = "![a game](docs/a.gif), [more](docs/more.md), [web](https://example.org)"
    page = package_page(text)
    assert page.startswith("*(picture: a game)*, more, [web](https://example.org)")
    assert "are in the source" in page
