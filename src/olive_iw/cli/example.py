"""`olive-iw example`."""

import json
import re
from pathlib import Path
from typing import Annotated

import olive_iw
from olive_iw.cli.arguments import Shown
from olive_iw.cli.console import console
from olive_iw.errors import unknown_name
from olive_iw.tables import Cell, Table

WHEEL = Path(olive_iw.__file__).with_name("shipped")
"""Where a wheel has what the repository has at its root (pyproject.toml puts it there)."""
FOLDERS = ("examples", "sweeps")
SHORT = {"sweep": "smoke"}
"""What a person who wants any of a kind begins with."""


def example(name: Annotated[str, Shown("NAME")] = "", /) -> None:
    """Print an example, for a file of your own: a script, a notebook or a sweep.

    Example: olive-iw example sweep > my.toml

    Args:
        name: Which one; sweep is a small sweep. Without it, all are listed.

    """
    found = examples()
    if name:
        path = found.get(SHORT.get(name, name))
        if path is None:
            raise unknown_name("example", name, [*found, *SHORT])
        print(path.read_text(encoding="utf-8"), end="")
        return
    for folder in FOLDERS:
        rows = [
            [Cell(name), Cell(_what(path))]
            for name, path in found.items()
            if path.parent.name == folder
        ]
        console.print(Table(folder, ("name", "what it is"), rows, left=frozenset({0, 1})))


def examples() -> dict[str, Path]:
    """All there are, by name: of the wheel, or of the checkout that this is."""
    root = WHEEL if WHEEL.is_dir() else WHEEL.parents[2]
    paths = [path for folder in FOLDERS for path in sorted((root / folder).glob("*.*"))]
    return {path.stem.lstrip("0123456789_").replace("_", "-"): path for path in paths}


def _what(path: Path) -> str:
    """Say what an example is, as its first sentence does."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = "".join(json.loads(text)["cells"][0]["source"])
    paragraph = re.split(r"\n(?!# \w)", text.strip('#" '))[0].replace("\n#", "")
    return re.split(r"(?<=[.?])\s", paragraph)[0].strip('" ')
