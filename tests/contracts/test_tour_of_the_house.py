"""The tour of CONTRIBUTING.md passes its files in their order; the house has every room."""

import re
import sys
from pathlib import Path
from types import FrameType

import pytest

import olive_iw
from olive_iw.cli.main import main

ROOT = Path(olive_iw.__file__).parent
TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
STOPS = re.findall(r"^\| \d+ \| \[[^]]+\]\(src/olive_iw/([^)]+)\) \| `(\w+)`", TEXT, re.MULTILINE)
MOST_FILES = 12
MOST_LINES = 25


def test_the_files_of_the_tour_are_passed_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It goes the same way for a few calls, so that all is compiled.
    monkeypatch.setattr("olive_iw.cli.run.rehearse", lambda *_, **__: None)
    assert len(STOPS) == MOST_FILES
    stops = [(str(ROOT / file), function) for file, function in STOPS]
    passed: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        place = (frame.f_code.co_filename, frame.f_code.co_name)
        if event == "call" and place in stops and place not in passed:
            passed.append(place)

    short = ("--episodes", "1", "--max-actions", "1", "--calls-per-action", "2")
    arguments = ["run", "breakout", "--algorithm", "patch-iw", *short, "--out", str(tmp_path)]
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        with pytest.raises(SystemExit) as stop:
            main(arguments)
    finally:
        sys.setprofile(before)
    assert stop.value.code == 0
    assert passed == stops


def test_the_picture_shows_every_room_and_is_small() -> None:
    picture = re.search(r"```text\n(.*?)```", TEXT, re.DOTALL)
    assert picture is not None
    assert picture[1].count("\n") <= MOST_LINES
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert all(f"{room}/" in picture[1] for room in rooms)
