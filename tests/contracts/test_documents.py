"""The README and the documents say what is true: names exist, links lead somewhere."""

import re
from pathlib import Path

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


PICTURES = sorted((ROOT / "docs" / "images").glob("*.png"))


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_pictures_can_be_read_on_a_dark_page(picture: Path) -> None:
    with Image.open(picture) as image:
        least, _ = image.convert("RGBA").getextrema()[3]
    assert least == 255, "dark ink on no ground would vanish"
