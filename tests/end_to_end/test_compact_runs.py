"""Compact copies of real runs are read like the runs themselves, by every command."""

from collections.abc import Callable
from pathlib import Path

import pytest

import copy_results
from olive_iw.cli.main import main
from olive_iw.runs import pretrained
from olive_iw.runs.events import TrainingEpisodeDone
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.runs.verification import verify_folder
from olive_iw.sweeps.export import load_index
from olive_iw.viewer.run_library import recorded_source
from olive_iw.viewer.shown_episode import ShownEpisode, shown_of
from results_page import copies

COMMIT = "0123abc"
TINY = copies.Protocol("tiny", max_actions=8, training_calls=120)


def call(*words: object, program: Callable[[list[str]], None] = main) -> int:
    with pytest.raises(SystemExit) as stop:
        program([str(word) for word in words])
    return int(stop.value.code or 0)


def copy(*words: object) -> int:
    return call(*words, program=copy_results.main)


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(copies.PROTOCOLS, "tiny", TINY)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play Breakout without learning, and a grid world with."""
    out = tmp_path_factory.mktemp("runs")
    lengths = ("--episodes", 2, "--max-actions", 8, "--calls-per-action", 15, "--quiet")
    assert not call("run", "breakout", "--algorithm", "patch-iw", *lengths, "--out", out)
    learning = ("--training-calls", 120, "--steps", 2)
    assert not call(
        "run", "grid:collect", "--algorithm", "olive", *learning, *lengths, "--out", out
    )
    return out


@pytest.fixture
def results(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    target = tmp_path / "results" / "tiny"
    assert not copy(runs, target, "--commit", COMMIT)
    assert "2 copied, 0 there before, 0 not finished" in capsys.readouterr().out
    return target


def test_copying_says_what_it_needs(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert copy(runs, tmp_path / "tiny") == 2
    assert "required: --commit" in capsys.readouterr().err
    assert copy(runs, tmp_path / "paper", "--commit", COMMIT) == 1
    assert "18,000 in the protocol paper" in " ".join(capsys.readouterr().err.split())


def test_a_result_says_what_training_spent(runs: Path, tmp_path: Path) -> None:
    spent = {run.config().game: run.read_result().training_calls_spent for run in find_runs(runs)}
    assert spent == {"breakout": 0, "grid:collect": 120}
    few = ("--training-calls", 500, "--max-training-episodes", 1, "--steps", 2, "--episodes", 1)
    lengths = ("--max-actions", 4, "--calls-per-action", 5, "--quiet")
    assert not call(
        "run", "grid:collect", "--algorithm", "olive", *few, *lengths, "--out", tmp_path
    )
    (run,) = find_runs(tmp_path)
    (done,) = run.events(TrainingEpisodeDone)
    assert run.read_result().training_calls_spent == done.calls_spent < 500


def test_reports_and_tables_are_those_of_the_runs(
    runs: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = []
    for folder in (runs, results):
        assert not call("report", folder, "--markdown", "--mix-budgets")
        assert not call("compare", folder, "--against", "n-cpl")
        letters = "".join(capsys.readouterr().out.split())  # lines break where names are long
        shown.append(letters.replace(str(folder), "FOLDER"))
    assert shown[0] == shown[1]
    before, after = load_index(runs), load_index(results)
    assert all((before[name] == after[name]).all() for name in before)


@pytest.mark.parametrize("workers", [1, 2])
def test_copies_are_verified_by_their_replay(
    results: Path, workers: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not call("verify", results, "--workers", workers, "--quiet")
    out = capsys.readouterr().out
    count = sum(len(run.episode_files()) for run in find_runs(results))
    assert f"{count} confirmed, 0 differs" in " ".join(out.split())
    assert "evaluation-0000" not in out
    episode = next(results.rglob("evaluation-0001.json"))
    text = episode.read_text()
    episode.write_text(text.replace('"rewards":[0', '"rewards":[1', 1))
    assert call("verify", results, "--workers", workers, "--quiet") == 1
    assert "evaluation-0001" in capsys.readouterr().out


def test_processes_find_what_one_finds_in_the_same_order(results: Path) -> None:
    assert verify_folder(results, workers=3) == verify_folder(results)


def test_videos_are_made_of_copies(results: Path, tmp_path: Path) -> None:
    episode = next(results.glob("breakout/**/evaluation-0000.json"))
    assert not call("video", episode, "--overlay", "--max-actions", 2, "--out", tmp_path / "a.mp4")
    assert not call("gif", episode, "--max-actions", 2, "--out", tmp_path / "a.gif")
    assert (tmp_path / "a.mp4").stat().st_size > 0 < (tmp_path / "a.gif").stat().st_size


def copy_of(results: Path, game: str) -> RunFolder:
    return next(run for run in find_runs(results) if run.name.startswith(game))


def match(run: RunFolder) -> str:
    """Recompute an evaluation episode, and say whether its trees are those of the record."""
    shown = shown_of(recorded_source(run, "evaluation-0001"), lambda: None)
    assert isinstance(shown, ShownEpisode)
    while not shown.over:
        shown.decide()
        shown.advance()
    (found,) = (each for each in shown.frame() if type(each).__name__ == "Match")
    shown.close()
    return str(found.state)  # type: ignore[union-attr]


def test_the_viewer_recomputes_what_was_not_learned(results: Path) -> None:
    assert match(copy_of(results, "breakout")) == "matches"


def test_the_viewer_says_why_there_are_no_trees_and_finds_a_pretrained_agent(
    runs: Path, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = tmp_path / "shelf"
    monkeypatch.setattr(pretrained, "SHELF", shelf)
    copy = copy_of(results, "grid-collect")
    source = recorded_source(copy, "evaluation-0001")
    assert source.planning.planner is None
    assert "is a compact copy, and its agent is none of the pretrained" in source.planning.why_not
    shown = shown_of(source, lambda: None)
    shown.advance()
    assert shown.frame()
    shown.close()
    pretrained.add(copy_of(runs, "grid-collect").path, shelf)
    assert match(copy) == "matches"
