"""Whatever stands in a file of a run: a line about it, and the other runs are shown as ever."""

import contextlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from strangers import Said, change, copy_run, set_seed

from olive_iw.errors import DamagedFileError, InputError, clean_text, one_line
from olive_iw.reading import LARGEST_FILE, read_json, read_toml
from olive_iw.runs.config import to_toml
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.records import EpisodeRecord, Failure, read_episode
from olive_iw.sweeps.export import load_index

ESCAPE = "\x1b[2J\x1b]0;owned\x07[bold red]markup[/] $HOME \u202e"
DEEP = "[" * 100_000 + "]" * 100_000
RAW = {
    "empty": "",
    "torn": '{"game": "grid:corr',
    "a list": "[1, 2]",
    "null": "null",
    "infinity": '{"score": Infinity}',
    "deep": '{"actions": ' + DEEP + "}",
    "deep and shut": DEEP,
    "binary": "\x00\x01\x02\ufffd",
    "many digits": '{"score": ' + "9" * 5000 + "}",
    "a lone surrogate": '{"game": "\\ud800"}',
}
VALUES: list[Any] = [
    *(None, True, -1, 1.5, 10**400, 1e308, "text", ESCAPE, [], [[]], {}, {"a": {"b": []}}),
    *([10**400], ["x"], [None], [[1, "x"]], "9" * 400),
]
FILES = ["config.toml", "result.json", "events.jsonl", "failed.json", "pulse.json"]
EPISODE = "episodes/evaluation-0000.json"


@pytest.fixture
def all_commands(command: Callable[..., Said], tmp_path: Path) -> Callable[[Path], None]:
    """Do everything that reads runs; the good one must be there each time."""

    def call(root: Path) -> None:
        table = tmp_path / "table.csv"
        assert command("export", root, "--out", table).code in (0, 1)
        assert "good" in table.read_text()
        assert "grid:corridor" in command("report", root, "--html", tmp_path / "page.html").out
        assert "good" in command("status", root, "--json").out
        assert command("compare", root, "--against", "paper").code in (0, 1, 2)
        assert "good/episodes/evaluation-0001.json" in command("verify", root).out
        watch(root)

    return call


def watch(root: Path) -> None:
    """Look at all runs as the viewer does."""
    from olive_iw.viewer.hub import Hub
    from olive_iw.viewer.run_library import RunFollower, RunLibrary, recorded_source

    library = RunLibrary(root)
    assert "good" in library.runs
    follower = RunFollower(Hub(), library)
    for run in library.runs.values():
        follower.follow(run)
        follower.look()
        with contextlib.suppress(InputError):
            recorded_source(run, "evaluation-0000")


def copies(bad: Path, count: int) -> list[Path]:
    """More runs like a bad one, each of a seed of its own."""
    made = [copy_run(bad, bad.with_name(f"bad-{number}")) for number in range(count)]
    for seed, folder in enumerate(made, start=2):
        set_seed(folder, seed)
    return made


@pytest.mark.parametrize("name", [*FILES, EPISODE])
def test_a_file_of_anything(
    name: str, good: Path, bad: Path, all_commands: Callable[[Path], None]
) -> None:
    for folder, content in zip(copies(bad, len(RAW)), RAW.values(), strict=True):
        if name in ("failed.json", "pulse.json"):
            (folder / "result.json").unlink()
        (folder / name).write_text(content, errors="surrogatepass")
    all_commands(bad.parent)


def read_or_not(path: Path) -> tuple[EpisodeRecord | None, str]:
    try:
        return read_episode(path), ""
    except DamagedFileError as error:
        return None, str(error)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: one_line(repr(value), 12))
def test_an_episode_with_odd_entries(value: Any, good: Path, bad: Path) -> None:
    path = bad / EPISODE
    fields = json.loads(path.read_text())
    for name in fields:
        path.write_text(json.dumps(fields | {name: value}))
        record, problem = read_or_not(path)
        if record is None:
            assert problem.startswith(str(path))
            assert problem.isprintable()
        else:
            assert np.isfinite([record.score, record.calls, record.seconds, *record.rewards]).all()
            assert clean_text(record.game + record.algorithm) == record.game + record.algorithm
            assert EpisodeRecord.from_dict(record.to_dict(), path).to_dict() == record.to_dict()


def test_odd_entries_end_no_command(
    good: Path, bad: Path, all_commands: Callable[[Path], None]
) -> None:
    names = ("score", "actions", "rewards", "seconds", "versions", "values", "game", "seed")
    odd = [(name, value) for name in names for value in (10**400, [10**400], {"a": 1}, "x", None)]
    for folder, (name, value) in zip(copies(bad, len(odd)), odd, strict=True):
        change(folder / EPISODE, **{name: value})
    all_commands(bad.parent)


def test_odd_configurations_end_no_command(
    good: Path, bad: Path, all_commands: Callable[[Path], None]
) -> None:
    lines = ["options = 3", "seed = 'x'", "episodes = 9999999999", "x = inf", "profile = [1]"]
    for folder, line in zip(copies(bad, len(lines)), lines, strict=True):
        name = line.partition(" ")[0]
        kept = (folder / "config.toml").read_text().splitlines()
        kept = [old for old in kept if not old.startswith((f"{name} ", f"[{name}]"))]
        (folder / "config.toml").write_text("\n".join([line, *kept]))
    all_commands(bad.parent)


def test_events_of_wrong_types_are_passed_over(
    good: Path, bad: Path, all_commands: Callable[[Path], None]
) -> None:
    event = '{"type": "evaluation episode", "number": 0, "score": %s, "actions": 5, "calls": "x"}\n'
    (bad / "events.jsonl").write_text(event % "1e999" + event % '"a"' + DEEP + "\n" + event % "[]")
    all_commands(bad.parent)


@pytest.mark.parametrize(
    "name", ["evaluation-abc.json", "evaluation--1.json", "x.json", "a-b-c.json"]
)
def test_files_that_are_no_episodes_are_none(name: str, good: Path, bad: Path) -> None:
    (bad / "episodes" / name).write_text("{}")
    assert len(RunFolder(bad).episode_files()) == 2
    assert len(load_index(bad.parent)["score"]) == 4


def test_texts_of_files_are_neither_markup_nor_orders_to_a_terminal(
    good: Path, bad: Path, command: Callable[..., Said]
) -> None:
    (bad / "result.json").unlink()
    RunFolder(bad).write(Failure("error", ESCAPE, ESCAPE, log=ESCAPE))
    said = command("status", bad.parent)
    assert "[bold red]markup[/] $HOME" in said.out
    assert "\u202e" not in said.out
    change(bad / EPISODE, game=ESCAPE, ended=ESCAPE, versions={ESCAPE: ESCAPE})
    for arguments in (("verify",), ("report",), ("report", "--markdown"), ("compare",)):
        said = command(arguments[0], bad.parent, *arguments[1:])
        assert "\x07" not in said.text


def test_a_folders_name_is_no_order_either(bad: Path, command: Callable[..., Said]) -> None:
    odd = bad.rename(bad.with_name("\x1b[31m[red]$x"))
    (odd / "result.json").write_text("{")
    for name in ("verify", "report", "status"):
        command(name, odd.parent)


def test_a_saved_agent_that_is_a_list(tmp_path: Path, command: Callable[..., Said]) -> None:
    for content in RAW.values():
        (tmp_path / "agent.json").write_text(content, errors="surrogatepass")
        assert command("play", "grid:corridor", "--agent", tmp_path).code == 2


def test_files_larger_than_any_of_ours_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(DamagedFileError, match="larger than 64 MB"):
        read_json(path)
    with pytest.raises(DamagedFileError, match=r"larger than 0\.25 MB"):
        read_toml(path)


@pytest.mark.parametrize("number", [float("inf"), float("nan"), -float("inf")])
def test_what_is_no_number_is_not_written(number: float, good: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_toml({"options": {"discount": number}})
    before = (good / EPISODE).read_bytes()
    with pytest.raises(ValueError, match="not JSON compliant"):
        RunFolder(good).write_episode(replace(read_episode(good / EPISODE), score=number))
    assert (good / EPISODE).read_bytes() == before


@pytest.mark.parametrize("game", ["gym:a$b$_{^", "gym:<script>alert(1)</script>", "gym:[/red]%s"])
def test_names_of_games_are_text_on_a_page_and_in_its_plots(
    game: str, good: Path, bad: Path, tmp_path: Path, command: Callable[..., Said]
) -> None:
    for path in (*bad.glob("episodes/*.json"), bad / "result.json"):
        change(path, game=game)
    config = bad / "config.toml"
    config.write_text(config.read_text().replace("grid:corridor", game))
    page = tmp_path / "page.html"
    said = command("report", bad.parent, "--html", page, "--plots", tmp_path / "plots")
    assert said.code == 0
    assert game in said.out
    assert "<script>alert" not in page.read_text()
    assert command("report", bad.parent, "--latex").code == 0
    assert command("status", bad.parent).code == 0


@pytest.mark.parametrize("content", [*RAW, 'games = "nowhere"', "seeds = [1e400]"])
def test_an_odd_copy_of_a_sweep_file_ends_no_command(
    content: str, good: Path, command: Callable[..., Said]
) -> None:
    folder = good.parent / "sweep-files"
    folder.mkdir()
    (folder / "mine.toml").write_text(RAW.get(content, content), errors="surrogatepass")
    said = command("status", good.parent)
    assert said.code == 1
    assert "1 done" in said.out
    assert "mine.toml" in said.err


@pytest.mark.parametrize("target", ["mine.toml", "nowhere", "../../secret", "../../pipe"])
def test_a_linked_copy_of_a_sweep_file_is_not_followed(
    target: str, good: Path, tmp_path: Path, command: Callable[..., Said]
) -> None:
    (tmp_path / "secret").write_text('games = ["grid:corridor"]\nalgorithms = ["uct"]\n')
    os.mkfifo(tmp_path / "pipe")
    link = good.parent / "sweep-files" / "mine.toml"
    link.parent.mkdir()
    link.symlink_to(target)
    said = command("status", good.parent)
    assert said.code == 1
    assert "1 done" in said.out
    assert "0 missing" in said.out
    assert "mine.toml: is a symbolic link" in said.err
    own = command("sweep", link, "--dry-run", "--out", tmp_path / "out")
    assert own.code == (0 if target == "../../secret" else 2)
