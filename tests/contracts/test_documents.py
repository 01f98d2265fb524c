"""The README and the documents say what is true: names exist, links lead somewhere."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import olive_iw

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


def test_there_are_documents() -> None:
    assert ROOT / "README.md" in DOCUMENTS


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_relative_links_resolve(document: Path) -> None:
    links = LINK.findall(document.read_text(encoding="utf-8"))
    relative = [link for link in links if "://" not in link and not link.startswith("mailto:")]
    missing = [link for link in relative if not (document.parent / link).exists()]
    assert not missing


def test_public_names_are_those_that_the_documents_use() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
    used = set(re.findall(r"(?<!/)\bolive\.([A-Za-z_]+)", text))
    assert used <= set(olive_iw.__all__)
    assert set(olive_iw.__all__) <= used


def test_public_names_exist() -> None:
    for name in olive_iw.__all__:
        assert hasattr(olive_iw, name)


def test_completion_offers_the_public_names_alone() -> None:
    assert set(dir(olive_iw)) == {*olive_iw.__all__, "__version__"}


ROOMS = sorted(set(ROOT.glob("docs/api/*.md")) - {ROOT / "docs" / "api" / "index.md"})
HELPERS = {"Atoms", "Planning", "ViewerServer", "is_environment", "check_name", "game_name"}
HELPERS |= {"warn_of_chance", "Screen", "BrutePlayer", "SequenceLearner", "PolicyGuide"}
HELPERS |= {"OfflineLearner", "OnlineLearner"}  # made by name, and met nowhere else


def shown_in(room: Path) -> list[Any]:
    """Return the objects that a page of the reference shows."""
    names = re.findall(r"^::: (\S+)\.(\w+)$", room.read_text(encoding="utf-8"), re.MULTILINE)
    return [getattr(import_module(module), name) for module, name in names]


def test_every_room_that_people_call_has_a_page() -> None:
    rooms = {path.parent.name for path in ROOT.glob("src/olive_iw/*/__init__.py")}
    assert {path.stem for path in ROOMS} == rooms - {"cli"}
    index = (ROOT / "docs" / "api" / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"\| \[(\w+)\]\(\1\.md\)", index) == [
        room
        for room in re.findall(r"api/(\w+)\.md", (ROOT / "mkdocs.yml").read_text())
        if room != "index"
    ]


@pytest.mark.parametrize("room", ROOMS, ids=lambda path: path.stem)
def test_the_reference_shows_what_there_is(room: Path) -> None:
    assert all(it.__doc__ for it in shown_in(room))
    module = import_module(f"olive_iw.{room.stem}")
    public = {name for name in getattr(module, "__all__", ()) if not name[1:].isupper()}
    everywhere = [it for other in ROOMS for it in shown_in(other)]
    missing = [name for name in public - HELPERS if getattr(module, name) not in everywhere]
    assert not missing, f"{room.name} wants a line '::: …' for each of these"


PICTURES = sorted((ROOT / "docs" / "images").glob("*.png"))


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_pictures_can_be_read_on_a_dark_page(picture: Path) -> None:
    with Image.open(picture) as image:
        least, _ = image.convert("RGBA").getextrema()[3]
    assert least == 255, "dark ink on no ground would vanish"
