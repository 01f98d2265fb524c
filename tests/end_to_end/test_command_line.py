"""The command line as a user meets it: tables, exit codes, one-line errors."""

import json
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from olive_iw.cli import _guarded, main


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--version"])
    assert capsys.readouterr().out.startswith("olive-iw 0.")


@pytest.mark.filterwarnings("default")
def test_a_warning_takes_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert _guarded(lambda: warnings.warn("this [thing] is slow", RuntimeWarning, 1)) == 0
    assert capsys.readouterr().err == "warning: this [thing] is slow\n"


COMMANDS = (
    *("run", "play", "sweep", "status", "export", "report", "compare", "verify", "video", "gif"),
    *("view", "bench", "doctor", "list"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, command, "--help")
    assert code == 0
    assert "usage: olive-iw" in out


def test_list_names_the_games_and_parts(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "list", "--json")
    parts = json.loads(out)
    assert code == 0
    assert "breakout" in parts["games"]
    assert "olive" in parts["algorithms"]
    assert "ttts" in parts["bandits"]
    code, out, _ = call(capsys, "list", "algorithms")
    assert code == 0
    assert "vae-iw-annealed" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "brekout"], "breakout"),
        (["run", "grid:coridor"], "corridor"),
        (["run", "grid:corridor", "--algorithm", "oliv"], "olive"),
        (["run", "grid:corridor", "--algorithm", "rollout-iw"], "B-PROST"),
        (["run", "grid:corridor", "--episodes", "0"], "episodes = 0"),
        (["run", "grid:corridor", "--calls-per-action", "0"], "calls_per_action = 0"),
        (["run", "grid:corridor", "--training-calls", "-5"], "training_calls = -5"),
        (["run", "grid:corridor", "--width", "3", "--algorithm", "patch-iw"], "width = 3"),
        (["run", "grid:corridor", "--seed", "-1"], "seed = -1"),
        (["doctor", "pongg"], "pong"),
        (["list", "gmes"], "games"),
    ],
)
def test_bad_input_takes_one_line_and_exits_with_2(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = ["--out", str(tmp_path)] if arguments[0] == "run" else []
    code, _, err = call(capsys, *arguments, *out)
    assert code == 2
    assert says in err
    assert "Traceback" not in err
    assert not list(tmp_path.rglob("result.json"))


def test_run_writes_its_folder_and_prints_a_table(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ["run", "breakout", "--algorithm", "rollout-iw-ram", "--episodes", "1"]
    limits = ["--max-actions", "3", "--calls-per-action", "5", "--out", str(tmp_path)]
    code, out, _ = call(capsys, *arguments, *limits)
    assert code == 0
    assert "Rollout-IW" in out
    (run,) = (tmp_path / "breakout").glob("rollout-iw-ram-laptop*/seed-0")
    result = json.loads((run / "result.json").read_text())
    episode = json.loads((run / "episodes" / "evaluation-0000.json").read_text())
    assert result["training_calls"] == 0
    assert result["scores"] == [episode["score"]]
    assert len(episode["actions"]) == len(episode["rewards"]) == 3
    assert {"config.toml", "events.jsonl"} <= {path.name for path in run.iterdir()}


def test_another_configuration_in_the_same_folder_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ["run", "grid:corridor", "--algorithm", "patch-iw", "--out", str(tmp_path)]
    assert call(capsys, *arguments, "--episodes", "1", "--quiet")[0] == 0
    code, _, err = call(capsys, *arguments, "--episodes", "1", "--max-actions", "7", "--quiet")
    assert code == 2
    assert "max_actions: 18000 → 7" in " ".join(err.split())
    assert call(capsys, *arguments, "--episodes", "2", "--quiet")[0] == 0
    (result,) = tmp_path.rglob("result.json")
    assert len(json.loads(result.read_text())["scores"]) == 2


def test_doctor_examines_in_a_process_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "doctor", "breakout", "--calls", "50", "--json")
    assert code == 0
    assert json.loads(out)[0]["verdict"] == "exact"


def test_ctrl_c_exits_with_130_and_says_how_to_go_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "olive_iw", "run", "grid:collect", "--out", str(tmp_path)]
    with subprocess.Popen(
        [*command, "--algorithm", "patch-iw"], stderr=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        while not list(tmp_path.rglob("events.jsonl")) and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    assert b"run the same command again" in err
    assert b"Traceback" not in err
