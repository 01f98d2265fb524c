"""Links, pipes and other people's files in a run's folder: nothing outside it is touched."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from strangers import Said

from olive_iw.algorithms import make_spec
from olive_iw.errors import DamagedFileError, InputError
from olive_iw.files import atomic_write, write_text
from olive_iw.reports.results import read_results
from olive_iw.runs.config import RunConfig, to_toml
from olive_iw.runs.events import RunStarted, append_event
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.runs.lock import is_locked, locked

MEMBERS = [
    *("config.toml", "events.jsonl", "result.json", "lock", "failed.json", "pulse.json"),
    *("episodes", "checkpoint", "checkpoint.new", "checkpoint.old", "worker.log", "tensorboard"),
    *("episodes/evaluation-0001.json", "episodes/.evaluation-0001.json.7.aside"),
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Somebody's folder, which must stay as it is."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in (".bashrc", ".profile", "letter.txt", "agent.json", ".letter.txt.12.aside"):
        (folder / name).write_text(f"{name} of a user\n")
    return folder


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def is_folder(member: str) -> bool:
    return "." not in member.removesuffix(".new").removesuffix(".old") and member != "lock"


@pytest.mark.parametrize("member", MEMBERS)
def test_a_linked_member_is_refused_and_its_target_untouched(
    member: str, bad: Path, home: Path
) -> None:
    run = RunFolder(bad)
    config = run.config()
    path, before = bad / member, contents(home)
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.symlink_to(home if is_folder(member) else home / "letter.txt")
    with pytest.raises(InputError, match="symbolic link"), run.open(config):
        raise AssertionError("the folder was opened")
    assert contents(home) == before


@pytest.mark.parametrize("member", ["episodes", "checkpoint", "events.jsonl", "lock"])
def test_going_on_with_a_strangers_run_touches_nothing_else(
    member: str, bad: Path, home: Path, command: Callable[..., Said]
) -> None:
    (bad / "result.json").unlink()
    out = bad.parent.parent / "out"
    folder = RunFolder(bad).config().folder(out)
    shutil.copytree(bad, folder)
    before = contents(home)
    shutil.rmtree(folder / member, ignore_errors=True)
    (folder / member).unlink(missing_ok=True)
    (folder / member).symlink_to(home if is_folder(member) else home / ".bashrc")
    asked = ("--algorithm", "patch-iw", "--calls-per-action", 5, "--episodes", 2)
    lengths = ("--max-actions", 6, "--seed", 1, "--out", out)
    said = command("run", "grid:corridor", *asked, *lengths, "--quiet")
    assert said.code == 2
    assert "symbolic link" in said.err
    assert contents(home) == before


def test_only_our_own_temporary_files_are_removed(bad: Path) -> None:
    own = [".gitignore", ".DS_Store", ".notes.aside", "episodes/.keep", "episodes/.x.1a.aside"]
    ours = [".config.toml.123.aside", "episodes/.evaluation-0000.json.77.aside"]
    for name in (*own, *ours):
        (bad / name).write_text("")
    (bad / ".folder.12.aside").mkdir()
    run = RunFolder(bad)
    with run.open(run.config()):
        pass
    assert all((bad / name).exists() for name in own)
    assert (bad / ".folder.12.aside").is_dir()
    assert not any((bad / name).exists() for name in ours)


def test_a_link_where_a_file_is_written_aside_is_not_written_through(
    tmp_path: Path, home: Path
) -> None:
    path, before = tmp_path / "file.json", contents(home)
    (tmp_path / f".file.json.{os.getpid()}.aside").symlink_to(home / ".bashrc")
    write_text(path, "mine")
    assert path.read_text() == "mine"
    path.unlink()
    path.symlink_to(home / ".profile")
    with atomic_write(path) as aside:
        aside.write_text("mine")
    assert not path.is_symlink()
    assert contents(home) == before


def test_locks_and_events_follow_no_link(tmp_path: Path, home: Path) -> None:
    before = contents(home)
    link = tmp_path / "link"
    link.symlink_to(home / ".bashrc")
    with pytest.raises(InputError, match="symbolic link"), locked(link):
        pass
    with pytest.raises(InputError, match="symbolic link"):
        append_event(link, RunStarted(0, 0))
    assert not is_locked(link)
    assert contents(home) == before


@pytest.mark.parametrize("name", ["config.toml", "result.json", "episodes/evaluation-0000.json"])
def test_reading_follows_no_link_and_waits_for_no_pipe(name: str, good: Path, bad: Path) -> None:
    real = bad.parent.parent / "elsewhere"
    shutil.move(bad / name, real)
    (bad / name).symlink_to(real)
    linked = read_results([bad.parent])
    (bad / name).unlink()
    os.mkfifo(bad / name)
    piped = read_results([bad.parent])
    for results in (linked, piped):
        assert sum(row.path.is_relative_to(good) for row in results.episodes) == 2
    assert any("symbolic link" in line for line in linked.warnings)
    assert any("is not a plain file" in line for line in piped.warnings)


@pytest.mark.parametrize("part", ["checkpoint", "checkpoint/agent.json"])
def test_no_agent_is_loaded_through_a_link(
    part: str, good: Path, home: Path, command: Callable[..., Said]
) -> None:
    olive = RunConfig("grid:corridor", make_spec("olive"))
    (good / "config.toml").write_text(to_toml(olive.to_dict()))
    if part != "checkpoint":
        (good / "checkpoint").mkdir()
    (good / part).symlink_to(home if part == "checkpoint" else home / "agent.json")
    said = command("play", good)
    assert said.code == 2
    assert "symbolic link" in said.err


def test_folders_of_runs_are_not_left_by_links(bad: Path, home: Path, tmp_path: Path) -> None:
    (home / "run").mkdir()
    (home / "run" / "config.toml").write_text("")
    (bad.parent / "link").symlink_to(home)
    assert [run.name for run in find_runs(bad.parent)] == ["bad"]
    shutil.rmtree(bad / "episodes")
    (bad / "episodes").symlink_to(home)
    with pytest.raises(DamagedFileError, match="symbolic link"):
        RunFolder(bad).episode_files()
