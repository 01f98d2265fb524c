"""Notes of a release: its section of CHANGELOG.md, if the version is the same everywhere.

python scripts/release_notes.py v0.3.0 > notes.md
"""

import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def versions(root: Path) -> dict[str, str]:
    """Return the version that each file says, by the file's path."""
    found = {"pyproject.toml": tomllib.loads(_text(root, "pyproject.toml"))["project"]["version"]}
    for path, pattern in (
        ("src/olive_iw/__init__.py", '^__version__ = "(.*)"$'),
        ("CITATION.cff", "^version: (.*)$"),
    ):
        found[path] = re.findall(pattern, _text(root, path), re.MULTILINE)[0]
    return found


def notes(changelog: str, version: str) -> str:
    """Return the section of a version, without its heading; links lead nowhere, so are words."""
    sections = re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]
    for section in sections:
        heading, _, text = section.partition("\n")
        if heading == version or re.fullmatch(
            rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", heading
        ):
            return re.sub(r"\[([^\]]*)\]\((?!\w+:)[^)]*\)", r"\1", text).strip()
    raise SystemExit(f"CHANGELOG.md has no section '## {version}' or '## {version} (2030-01-31)'")


def main(words: Sequence[str], root: Path = ROOT) -> None:
    """Print the notes of the version that a tag names."""
    if len(words) != 1 or not re.fullmatch(r"v\d+\.\d+\.\d+((a|b|rc)\d+)?", words[0]):
        raise SystemExit("usage: python scripts/release_notes.py vX.Y.Z")
    version = words[0].removeprefix("v")
    others = [f"{path} has {it}" for path, it in versions(root).items() if it != version]
    if others:
        raise SystemExit(f"the tag is {words[0]}, but {', '.join(others)}")
    print(notes(_text(root, "CHANGELOG.md"), version))


def _text(root: Path, path: str) -> str:
    return (root / path).read_text(encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
