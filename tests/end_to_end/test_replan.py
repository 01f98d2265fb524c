"""A run planned anew is the same run, and anything else is told."""

import json
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from strangers import change, copy_run

from olive_iw.algorithms import make_spec
from olive_iw.cli.main import main
from olive_iw.errors import SimulatorError
from olive_iw.runs.config import RunConfig
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.replan import replan
from olive_iw.runs.run import run
from olive_iw.runs.verification import Outcome

FEW = {"calls_per_action": 20, "training_actions": 8, "screens_per_episode": 6, "screen_limit": 30}


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    spec = make_spec("olive", steps=10, **FEW)
    config = RunConfig("grid:collect", spec, 200, episodes=2, max_actions=5)
    run(config, tmp_path)
    return RunFolder(config.folder(tmp_path))


@pytest.fixture
def small(tmp_path: Path) -> RunFolder:
    config = RunConfig("grid:corridor", make_spec("patch-iw", calls_per_action=5), 1, 2, 4)
    run(config, tmp_path)
    return RunFolder(config.folder(tmp_path))


def told(folder: RunFolder) -> list[str]:
    return [one.message for one in replan(folder.path) if not one.confirmed]


def test_a_run_comes_out_bit_for_bit(folder: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    found = replan(folder.path)
    assert [one.path.name for one in found if not one.confirmed] == []
    assert len(found) == len(folder.episode_files()) + 1
    with pytest.raises(SystemExit) as stop:
        main(["verify", str(folder.path), "--replan"])
    assert not stop.value.code
    assert f"{len(found)} confirmed" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["actions", "rewards", "calls"])
def test_another_game_is_told(folder: RunFolder, name: str) -> None:
    path = folder.episode_files("evaluation")["evaluation-0001"]
    fields = json.loads(path.read_text())
    if name == "calls":
        fields[name] += 1
    else:
        fields[name][2] += 1
    path.write_text(json.dumps(fields))
    (message,) = told(folder)
    assert ("calls" if name == "calls" else "differs at action 2 of 5") in message


def test_other_weights_are_told(folder: RunFolder) -> None:
    path = folder.checkpoint_path / "network.safetensors"
    with safetensors.safe_open(path, "np") as file:
        metadata = file.metadata()
    tensors = safetensors.numpy.load_file(path)
    tensors["decoder.0.bias"] = np.nextafter(tensors["decoder.0.bias"], np.float32(9))
    safetensors.numpy.save_file(tensors, path, metadata)
    (message,) = told(folder)
    assert "weights come out differently" in message


def test_runs_that_torch_trained_are_exempt_and_say_so(folder: RunFolder) -> None:
    path = folder.checkpoint_path / "network.safetensors"
    path.unlink()
    config = folder.config_path
    lines = [line for line in config.read_text().splitlines() if not line.startswith("numba = ")]
    config.write_text("\n".join(lines))
    (message,) = told(folder)
    assert "version 0.2.0 trained its network with torch" in message


def test_policies_are_exempt_and_say_so(tmp_path: Path) -> None:
    spec = make_spec("pi-iw", calls_per_action=10, training_actions=4)
    config = RunConfig("grid:collect", spec, 40, episodes=1, max_actions=2)
    run(config, tmp_path)
    (message,) = told(RunFolder(config.folder(tmp_path)))
    assert "torch's, whose results depend on the kind of processor" in message


def test_runs_that_a_clock_ended_are_exempt_and_say_so(tmp_path: Path) -> None:
    spec = make_spec("patch-iw", seconds_per_action=0.01)
    config = RunConfig("grid:corridor", spec, episodes=1, max_actions=2)
    run(config, tmp_path)
    (message,) = told(RunFolder(config.folder(tmp_path)))
    assert "ended when their time was up" in message


def test_scores_that_no_episode_has_are_told(small: RunFolder) -> None:
    change(small.result_path, scores=[999.0, 0.0])
    (message,) = told(small)
    assert "score 999 of episode 0" in message


def test_an_episode_of_another_run_is_told(small: RunFolder) -> None:
    change(small.episode_path("evaluation", 0), algorithm="uct")
    assert any("algorithm 'uct'" in message for message in told(small))


def test_a_bad_file_hides_no_good_one(small: RunFolder, tmp_path: Path) -> None:
    copy_run(small.path, tmp_path / "without")
    (tmp_path / "without" / "config.toml").unlink()
    small.episode_path("evaluation", 0).write_text("{")
    change(small.result_path, scores=[0.0, 0.0])
    found = {one.path: one for one in replan(tmp_path)}
    assert found[small.episode_path("evaluation", 0)].outcome is Outcome.UNREADABLE
    assert found[small.episode_path("evaluation", 1)].confirmed
    assert "not planned anew" in found[tmp_path / "without" / "config.toml"].message


@pytest.mark.parametrize("entry", ["3", "'numba'", "[]", "{}"])
def test_odd_versions_end_nothing(folder: RunFolder, entry: str) -> None:
    (folder.checkpoint_path / "network.safetensors").unlink()
    text = folder.config_path.read_text()
    folder.config_path.write_text(f"versions = {entry}\n{text[: text.index('[versions]')]}")
    assert any("with torch" in message for message in told(folder))


def test_a_linked_checkpoint_is_not_followed(folder: RunFolder, tmp_path: Path) -> None:
    real = folder.checkpoint_path.rename(tmp_path / "elsewhere")
    folder.checkpoint_path.symlink_to(real)
    assert any("symbolic link" in message for message in told(folder))


def test_a_simulator_that_breaks_ends_only_its_run(
    small: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise SimulatorError("it breaks its contract")

    monkeypatch.setattr("olive_iw.runs.replan.run", broken)
    (message,) = told(small)
    assert "it breaks its contract" in message


def test_other_versions_are_named(small: RunFolder) -> None:
    path = small.episode_path("evaluation", 0)
    change(path, versions=json.loads(path.read_text())["versions"] | {"numpy": "1.0"})
    first, _ = replan(small.path)
    assert first.confirmed
    assert first.warnings[0].startswith("played with numpy 1.0, replayed with ")
