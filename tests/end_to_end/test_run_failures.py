"""What a run does when its folder is damaged or the disk is full: it says so and loses nothing."""

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import safetensors.numpy

from olive_iw.cli.main import main
from olive_iw.features.vae import laptop

ARGUMENTS = [
    *("run", "grid:collect", "--quiet", "--device", "cpu", "--episodes", "1"),
    *("--training-calls", "200", "--calls-per-action", "20", "--training-actions", "8"),
    *("--screens-per-episode", "6", "--screen-limit", "30", "--steps", "10", "--max-actions", "4"),
]
VARIANT = "calls_per_action=20,training_actions=8,screens_per_episode=6,screen_limit=30,steps=10"
RUN = Path("grid-collect") / f"olive-laptop,{VARIANT}" / "seed-0"


def exit_code(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    return int(stop.value.code or 0)


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["network.safetensors", "screens.npy", "progress.json"])
def test_a_corrupt_checkpoint_is_named_and_left_alone(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(*ARGUMENTS, "--out", str(tmp_path)) == 0
    (tmp_path / RUN / "result.json").unlink()
    damaged = tmp_path / RUN / "checkpoint" / name
    damaged.write_bytes(damaged.read_bytes()[:10])
    before = contents(tmp_path / RUN / "checkpoint")
    assert exit_code(*ARGUMENTS, "--out", str(tmp_path)) == 2
    said = capsys.readouterr().err
    assert name in said
    assert "Traceback" not in said
    assert contents(tmp_path / RUN / "checkpoint") == before


def test_a_training_that_diverges_ends_the_run_and_keeps_the_last_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    take, trainings = laptop._Training.step, []

    def diverging(self: laptop._Training, *batch: Any) -> float:
        if self not in trainings:
            trainings.append(self)
        return take(self, *batch) * (1e30 if len(trainings) == 2 else 1.0)

    with monkeypatch.context() as patch:
        patch.setattr(laptop._Training, "step", diverging)
        assert exit_code(*ARGUMENTS, "--out", str(tmp_path / "stopped")) == 2
    said = capsys.readouterr().err
    assert "the training diverged: the loss is" in said
    assert "Traceback" not in said
    progress = tmp_path / "stopped" / RUN / "checkpoint" / "progress.json"
    assert json.loads(progress.read_text())["episodes"] == 1
    for out in ("stopped", "straight"):
        assert exit_code(*ARGUMENTS, "--out", str(tmp_path / out)) == 0
    weights = [
        tmp_path / out / RUN / "checkpoint/network.safetensors" for out in ("stopped", "straight")
    ]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_another_version_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(*ARGUMENTS, "--out", str(tmp_path)) == 0
    config = tmp_path / RUN / "config.toml"
    config.write_text(config.read_text().replace('numpy = "', 'numpy = "1.0-then-'))
    assert exit_code(*ARGUMENTS, "--out", str(tmp_path)) == 2
    assert "versions.numpy" in capsys.readouterr().err


def test_a_full_disk_is_said_and_the_last_checkpoint_kept(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "olive_iw", *ARGUMENTS, "--out", str(tmp_path)]
    limit = 150_000  # bytes a file may have: the network fits, the growing set of screens does not

    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        command, check=False, preexec_fn=small_disk, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "could not be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / RUN / "checkpoint" / "progress.json").exists()
    assert not (tmp_path / RUN / "result.json").exists()
    subprocess.run(command, check=True)
    assert (tmp_path / RUN / "result.json").exists()


def as_of_torch(path: Path) -> None:
    """Let a file of weights say that torch trained them."""
    with safetensors.safe_open(path, "np") as file:
        metadata = json.loads(file.metadata()["olive-iw"]) | {"version": "1"}
    tensors = safetensors.numpy.load_file(path)
    safetensors.numpy.save_file(tensors, path, {"olive-iw": json.dumps(metadata)})


def test_a_training_that_torch_began_is_not_gone_on_with_but_its_agent_plays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(*ARGUMENTS, "--out", str(tmp_path)) == 0
    result = tmp_path / RUN / "result.json"
    scores = json.loads(result.read_text())["scores"]
    result.unlink()
    for path in (tmp_path / RUN / "episodes").glob("evaluation*"):
        path.unlink()
    checkpoint = tmp_path / RUN / "checkpoint"
    as_of_torch(checkpoint / "network.safetensors")
    assert exit_code(*ARGUMENTS, "--out", str(tmp_path)) == 0
    assert json.loads(result.read_text())["scores"] == scores
    result.unlink()
    progress = json.loads((checkpoint / "progress.json").read_text())
    changed = progress | {"calls": progress["calls"] - 20, "finished": False}
    (checkpoint / "progress.json").write_text(json.dumps(changed))
    assert exit_code(*ARGUMENTS, "--out", str(tmp_path)) == 2
    said = capsys.readouterr().err
    assert "began with version 0.2.0" in said
    assert "Traceback" not in said
