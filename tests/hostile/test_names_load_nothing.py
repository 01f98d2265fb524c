"""A file names a module: nothing imports it, whatever is done with the file."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from strangers import Said, change

from olive_iw.cli.run import _base
from olive_iw.errors import InputError
from olive_iw.reading import read_toml
from olive_iw.runs.config import RunConfig
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.players import pairing_of
from olive_iw.runs.records import read_episode
from olive_iw.runs.replay import simulator_of
from olive_iw.simulators import check_name

EVIL = "gym:evilmod:Thing-v0"


@pytest.fixture(autouse=True)
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module that leaves a trace when it is imported."""
    place = tmp_path / "modules"
    place.mkdir()
    trace = tmp_path / "trace"
    (place / "evilmod.py").write_text(f"open({str(trace)!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(str(place))
    yield trace
    sys.modules.pop("evilmod", None)


@pytest.fixture
def evil(bad: Path) -> Path:
    for path in (*bad.glob("episodes/*.json"), bad / "result.json"):
        change(path, game=EVIL)
    config = bad / "config.toml"
    config.write_text(config.read_text().replace("grid:corridor", EVIL))
    return bad


COMMANDS = [
    *(["verify", "RUN"], ["report", "RUN"], ["report", "RUN", "--html", "OUT.html"]),
    *(["compare", "RUN"], ["status", "RUN"], ["export", "RUN", "--out", "OUT.csv"]),
    *(["play", "RUN"], ["video", "EPISODE", "--out", "OUT.mp4"]),
    ["gif", "EPISODE", "--out", "OUT.gif"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda words: words[0])
def test_no_command_imports_what_a_file_names(
    arguments: list[str], evil: Path, trap: Path, tmp_path: Path, command: Callable[..., Said]
) -> None:
    places = {"RUN": evil, "EPISODE": evil / "episodes" / "evaluation-0000.json"}
    words = [
        str(places.get(word, word)).replace("OUT", str(tmp_path / "out")) for word in arguments
    ]
    said = command(*words)
    assert not trap.exists()
    assert "evilmod" not in sys.modules
    if arguments[0] in ("verify", "play", "video", "gif"):
        assert said.code in (1, 2)
        assert "--import evilmod" in " ".join(said.text.split())


def test_the_viewer_imports_nothing_either(evil: Path, trap: Path) -> None:
    from olive_iw.viewer.run_library import RunLibrary, recorded_source

    with pytest.raises(InputError, match="names a module"):
        RunLibrary(evil)
    with pytest.raises(InputError, match="names a module"):
        recorded_source(RunFolder(evil), "evaluation-0000")
    assert not trap.exists()


def test_every_reader_of_a_configuration_refuses(evil: Path, trap: Path) -> None:
    path = evil / "config.toml"
    for read in (
        RunFolder(evil).config,
        lambda: RunConfig.from_dict(read_toml(path), path),
        lambda: _base(path, None, None),
        lambda: pairing_of(str(evil), None, None, None),
    ):
        with pytest.raises(InputError, match="names a module"):
            read()
    assert not trap.exists()


@pytest.mark.parametrize("more", [[], ["--episodes", "3"]])
def test_a_run_like_a_strangers_imports_nothing(
    more: list[str], evil: Path, trap: Path, tmp_path: Path, command: Callable[..., Said]
) -> None:
    out = tmp_path / "out"
    said = command("run", "--config", evil / "config.toml", "--out", out, *more)
    assert said.code == 2
    assert "--import evilmod" in said.err
    assert not trap.exists()
    assert not out.exists()


def test_a_run_like_a_strangers_with_a_game_of_ones_own(
    bad: Path, tmp_path: Path, command: Callable[..., Said]
) -> None:
    said = command("run", "--config", bad / "config.toml", "--out", tmp_path / "out")
    assert said.code == 0


def test_a_user_may_say_so(evil: Path, trap: Path, command: Callable[..., Said]) -> None:
    said = command("--import", "evilmod", "verify", evil)
    assert trap.exists()
    assert "--import" not in said.text
    assert "Thing" in said.text  # there is no such environment, which only Gymnasium can say


def test_a_module_that_is_not_there(command: Callable[..., Said]) -> None:
    said = command("--import", "nowhere_at_all", "list")
    assert said.code == 2
    assert "--import nowhere_at_all" in said.err


@pytest.mark.parametrize("game", ["breakout", "grid:corridor", "gym:CartPole-v1", "atari:pong"])
def test_our_own_names_are_fine(game: str) -> None:
    check_name(game)


@pytest.mark.parametrize("options", [{"env": "evilmod:X"}, {"render_mode": "human"}, {"rom": "/x"}])
def test_options_from_files_are_those_we_know(options: dict[str, str], good: Path) -> None:
    path = good / "episodes" / "evaluation-0000.json"
    change(path, simulator_options=options)
    with pytest.raises(InputError, match="option"):
        simulator_of(read_episode(path))


def test_a_checkpoint_names_no_module(good: Path, trap: Path, command: Callable[..., Said]) -> None:
    agent = good.parent / "agent"
    agent.mkdir()
    spec = {"algorithm": "evilmod:Agent", "profile": "laptop", "seed": 0}
    (agent / "agent.json").write_text(json.dumps({"format": 1, **spec, "options": {}}))
    said = command("play", "grid:corridor", "--agent", agent)
    assert said.code == 2
    assert not trap.exists()
