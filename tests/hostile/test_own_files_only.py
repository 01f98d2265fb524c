"""What a run did not make it neither removes nor writes, whatever stands in its place."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from strangers import Said, copy_run

from olive_iw.errors import InputError
from olive_iw.files import make_folder, open_own
from olive_iw.runs.config import RunConfig, folder_name
from olive_iw.runs.events import RunStarted, append_event
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.lock import is_locked, locked
from olive_iw.runs.run import run
from olive_iw.simulators import GridWorld
from results_page.copies import copy_runs

ASKED = ("grid:corridor", "--algorithm", "patch-iw", "--calls-per-action", 5)
LENGTHS = ("--max-actions", 6, "--episodes", 2, "--quiet")


@pytest.fixture
def config(finished: Path) -> RunConfig:
    return RunFolder(finished).config()


@pytest.fixture
def out(config: RunConfig, finished: Path, tmp_path: Path) -> Path:
    """A folder of runs that holds one, whose second episode is yet to be played."""
    place = copy_run(finished, config.folder(tmp_path / "out"))
    (place / "result.json").unlink()
    (place / "episodes" / "evaluation-0001.json").unlink()
    return tmp_path / "out"


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.parametrize("option", [("--loggers", "nosuch"), ("--device", "cuda"), ()])
def test_a_folder_that_somebody_made_keeps_all_that_is_in_it(
    option: tuple[str, ...],
    finished: Path,
    config: RunConfig,
    tmp_path: Path,
    command: Callable[..., Said],
) -> None:
    folder = config.folder(tmp_path / "out")
    shutil.copytree(finished / "episodes", folder / "episodes")
    (folder / "notes.txt").write_text("mine\n")
    before = contents(tmp_path / "out")
    said = command("run", *ASKED, *LENGTHS, *option, "--out", tmp_path / "out")
    assert said.code == 2
    assert contents(tmp_path / "out") == before


@pytest.mark.parametrize("name", ["checkpoint", "checkpoint.old", "checkpoint.new"])
def test_a_checkpoint_of_no_run_is_somebody_elses(
    name: str, config: RunConfig, tmp_path: Path
) -> None:
    mine = config.folder(tmp_path / "out") / name / "mine"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with pytest.raises(InputError, match=r"no config\.toml says of which"):
        run(config, tmp_path / "out")
    assert mine.read_text() == "mine"


class Failing(GridWorld):
    """A world that fails as soon as it is played, and does something before."""

    def __init__(self, first: Callable[[], Any] = lambda: None) -> None:
        super().__init__("corridor")
        self.first = first

    def reset(self) -> Any:
        self.first()
        raise RuntimeError("it cannot be played")


@pytest.mark.parametrize("loggers", [(), ("tensorboard",)])
def test_a_start_that_fails_takes_back_what_it_made(
    loggers: tuple[str, ...], config: RunConfig, tmp_path: Path
) -> None:
    with pytest.raises(RuntimeError, match="cannot be played"):
        run(config, tmp_path / "out", simulator=Failing(), loggers=loggers)
    assert not (tmp_path / "out").exists()


def test_a_start_that_fails_leaves_what_others_have_or_put_there(
    config: RunConfig, tmp_path: Path
) -> None:
    folder = config.folder(tmp_path / "out")
    (folder / "tensorboard").mkdir(parents=True)
    (folder / "tensorboard" / "events").write_text("mine")

    def put() -> None:
        (folder / "notes.txt").write_text("mine")
        (folder / "episodes" / "letter.txt").write_text("mine")

    with pytest.raises(RuntimeError, match="cannot be played"):
        run(config, tmp_path / "out", simulator=Failing(put))
    names = {"notes.txt", "episodes/letter.txt", "tensorboard/events"}
    assert contents(folder).keys() == names


def test_a_run_that_was_begun_before_loses_nothing(out: Path, config: RunConfig) -> None:
    before = contents(config.folder(out))
    with pytest.raises(RuntimeError, match="cannot be played"):
        run(config, out, simulator=Failing())
    after = contents(config.folder(out))
    assert before.keys() <= after.keys()
    assert all(after[name] == before[name] for name in before if name != "events.jsonl")


def test_episodes_without_a_configuration_are_nobodys(
    finished: Path, config: RunConfig, tmp_path: Path
) -> None:
    folder = config.folder(tmp_path)
    shutil.copytree(finished / "episodes", folder / "episodes")
    with pytest.raises(InputError, match=r"no config\.toml says of which"):
        run(config, tmp_path)


@pytest.mark.parametrize("name", ["lock", "events.jsonl"])
def test_a_second_name_is_not_written_through(
    name: str, out: Path, config: RunConfig, tmp_path: Path, command: Callable[..., Said]
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("of a user\n")
    path = config.folder(out) / name
    path.unlink(missing_ok=True)
    os.link(victim, path)
    said = command("run", *ASKED, *LENGTHS, "--out", out)
    assert said.code == 2
    assert "hard link" in said.err
    assert victim.read_text() == "of a user\n"


def test_files_that_are_written_as_a_whole_leave_their_second_names(
    out: Path, config: RunConfig, tmp_path: Path, command: Callable[..., Said]
) -> None:
    folder = config.folder(out)
    victims = {}
    for name in ("config.toml", "result.json", "pulse.json", "episodes/evaluation-0001.json"):
        victims[name] = tmp_path / name.replace("/", "-")
        victims[name].write_text((folder / name).read_text() if name == "config.toml" else "mine")
        if name in ("config.toml", "pulse.json"):
            (folder / name).unlink(missing_ok=True)
            os.link(victims[name], folder / name)
    before = contents(tmp_path)
    assert command("run", *ASKED, *LENGTHS, "--out", out).code == 0
    after = contents(tmp_path)
    assert all(after[path.name] == before[path.name] for path in victims.values())


def test_pipes_and_folders_in_the_place_of_own_files_are_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="not a plain file"), locked(pipe):
        pass
    with pytest.raises(InputError, match="not a plain file"):
        append_event(pipe, RunStarted(0, 0))
    with pytest.raises(InputError, match="not a plain file"):
        open_own(pipe, os.O_WRONLY | os.O_APPEND)
    assert not is_locked(pipe)
    assert not is_locked(tmp_path)


def test_a_lock_whose_name_was_removed_is_taken_anew(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    system_open, opened = os.open, []

    def open_and_lose(name: Any, *more: Any) -> int:
        descriptor = system_open(name, *more)
        if Path(name) == path and not opened:
            path.unlink()
        opened.append(name)
        return descriptor

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", open_and_lose)
        with locked(path):
            assert is_locked(path)
    assert len(opened) > 1


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_no_run_is_written_through_a_linked_folder(
    depth: int, config: RunConfig, tmp_path: Path, command: Callable[..., Said]
) -> None:
    elsewhere, out = tmp_path / "elsewhere", tmp_path / "out"
    elsewhere.mkdir()
    folder = config.folder(out)
    link = [folder.parents[1], folder.parent, folder][depth]
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    said = command("run", *ASKED, *LENGTHS, "--out", out)
    assert said.code == 2
    assert "symbolic link" in said.err
    assert not list(elsewhere.iterdir())


def test_the_folder_of_all_runs_may_be_a_link_of_its_user(
    tmp_path: Path, command: Callable[..., Said]
) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk")
    assert command("run", *ASKED, *LENGTHS, "--out", tmp_path / "out").code == 0


@pytest.mark.parametrize("place", ["sweep-files", "grid-corridor"])
@pytest.mark.parametrize("engine", ["inline", "local"])
def test_no_sweep_is_written_through_a_linked_folder(
    place: str, engine: str, tmp_path: Path, command: Callable[..., Said]
) -> None:
    elsewhere, out = tmp_path / "elsewhere", tmp_path / "out"
    elsewhere.mkdir()
    out.mkdir()
    (out / place).symlink_to(elsewhere)
    file = tmp_path / "sweep.toml"
    file.write_text(
        'games = ["grid:corridor"]\nalgorithms = ["uct"]\nepisodes = 1\nmax_actions = 1\n'
    )
    said = command("sweep", file, "--out", out, "--engine", engine, "--retries", 0)
    assert said.code == 2  # before the first run
    assert "symbolic link" in said.text
    assert [path.name for path in out.iterdir()] == [place]
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize("game", ["..", ".", "...", "", "../..", "/", ".ssh", "é" * 300, "a/../b"])
def test_no_name_of_a_game_leads_elsewhere(game: str, tmp_path: Path) -> None:
    name = folder_name(game)
    assert name
    assert not name.startswith(".")
    assert Path(name).name == name
    (tmp_path / name).mkdir()


@pytest.mark.parametrize("game", ["breakout", "grid-corridor", "gym-ALE-Pong-v5", "a_b.c"])
def test_other_names_stay(game: str) -> None:
    assert folder_name(game) == game


def test_copies_stay_in_their_folder(bad: Path, tmp_path: Path) -> None:
    for path in (*bad.glob("episodes/*.json"), bad / "result.json", bad / "config.toml"):
        text = (
            path.read_text().replace("grid:corridor", "..").replace('"action limit"', '"game over"')
        )
        text = re.sub(r'("max_actions": |max_actions = )6', r"\g<1>1200", text)
        path.write_text(text)
    results = tmp_path / "home" / "results" / "five-minute"
    results.mkdir(parents=True)
    (copied,) = copy_runs(bad, results, "abcdef0").new
    assert copied.is_relative_to(results / "--")
    assert not [path for path in (tmp_path / "home").rglob("*.json") if results not in path.parents]


def test_folders_are_made_below_another_only(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="leads up"):
        make_folder(tmp_path / "a" / ".." / ".." / "b", tmp_path)
