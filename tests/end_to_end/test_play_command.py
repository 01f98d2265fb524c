"""`olive-iw play` as a user meets it: with and without a terminal, in real time, stopped."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from olive_iw.cli.main import main
from olive_iw.cli.terminal import ENTER, LEAVE
from olive_iw.runs.players import NO_TRAINING, pairing_of, saved_agent

SHORT_TRAINING = (
    *("--training-calls", "120", "--steps", "2", "--episodes", "1", "--max-actions", "6"),
    *("--calls-per-action", "20", "--quiet"),
)


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a small agent; return its run's folder."""
    folder = tmp_path_factory.mktemp("trained")
    with pytest.raises(SystemExit) as stop:
        main(["run", "grid:collect", "--seed", "3", *SHORT_TRAINING, "--out", str(folder)])
    assert not stop.value.code
    (run,) = (folder / "grid-collect").glob("olive-laptop*/seed-3")
    return run


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "play", "--help")
    assert code == 0
    assert "--real-time" in out
    assert f"the shipped agent's, or {NO_TRAINING}" in " ".join(out.replace("│", " ").split())


def test_a_grid_world_is_won(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "new" / "won.json"
    code, out, _ = call(capsys, "play", "grid:key-door", "--out", str(file))
    assert code == 0
    assert "game over" in out
    assert "calls per decision" in out
    assert "late" not in out
    assert "\x1b" not in out
    episode = read(file)
    assert episode["score"] == 1.0
    assert (episode["phase"], episode["ended"]) == ("play", "game over")
    assert len(episode["calls_by_decision"]) == len(episode["actions"])
    assert sum(episode["calls_by_decision"]) == episode["calls"]
    assert not episode["real_time"]
    assert call(capsys, "verify", str(file))[0] == 0


def test_breakout_in_real_time(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "breakout.json"
    arguments = ("play", "breakout", "--real-time", "--max-actions", "3", "--out", str(file))
    code, out, _ = call(capsys, *arguments)
    assert code == 0
    assert "late decisions" in out
    assert "frames per second" in out
    episode = read(file)
    assert episode["real_time"]
    assert len(episode["actions"]) == len(episode["seconds_by_decision"]) == 3
    assert min(episode["calls_by_decision"]) >= 1
    assert episode["frames_per_second"] > 0
    assert call(capsys, "verify", str(file))[0] == 0
    assert call(capsys, "video", str(file))[0] == 0
    assert call(capsys, "gif", str(file))[0] == 0
    assert {path.name for path in tmp_path.iterdir()} == {
        "breakout.json",
        "breakout.mp4",
        "breakout.gif",
    }


def test_calls_limit_real_time_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "limited.json"
    limits = ("--max-actions", "2", "--calls-per-action", "4", "--search-workers", "2")
    code, _, _ = call(capsys, "play", "breakout", "--real-time", *limits, "--out", str(file))
    assert code == 0
    assert max(read(file)["calls_by_decision"]) <= 4


def test_a_play_is_the_runs_evaluation_episode(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = ("run", "grid:collect", "--algorithm", "patch-iw", "--episodes", "2", "--seed", "4")
    limits = ("--max-actions", "9", "--calls-per-action", "30")
    assert call(capsys, *run, *limits, "--quiet", "--out", str(tmp_path))[0] == 0
    (folder,) = (tmp_path / "grid-collect").glob("patch-iw-laptop*/seed-4")
    expected = read(folder / "episodes" / "evaluation-0001.json")
    file = tmp_path / "play.json"
    game = ("play", "grid:collect", "--seed", "4", "--episode", "1", *limits)
    for arguments in (game, ("play", str(folder), "--episode", "1")):
        assert call(capsys, *arguments, "--out", str(file))[0] == 0
        played = read(file)
        assert played["actions"] == expected["actions"]
        assert played["calls"] == expected["calls"]
        assert played["seed"] == 4


def test_a_trained_agent_plays_its_runs_game(
    trained: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "play.json"
    code, out, err = call(capsys, "play", str(trained), "--out", str(file))
    assert (code, err) == (0, "")
    assert "olive" in out
    played = read(file)
    assert played["actions"] == read(trained / "episodes" / "evaluation-0000.json")["actions"]
    assert (played["algorithm"], played["seed"]) == ("olive", 3)
    short = ("--max-actions", "2", "--calls-per-action", "7", "--seed", "5")
    other = ("play", "grid:corridor", "--agent", str(trained / "checkpoint"), *short)
    assert call(capsys, *other, "--out", str(file))[0] == 0
    played = read(file)
    assert (played["game"], played["algorithm"], played["seed"]) == ("grid:corridor", "olive", 5)
    assert max(played["calls_by_decision"]) <= 7


def test_options_take_the_place_of_the_runs(trained: Path) -> None:
    assert saved_agent(trained).spec.options.calls_per_action == 20
    agent = saved_agent(trained, calls_per_action=8, search_workers=2)
    assert agent.spec.options.calls_per_action == 8
    assert agent.planner.driver.workers == 2
    assert pairing_of(str(trained), None, None, None).max_actions == 6


def test_an_unfinished_training_is_told(
    trained: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    agent = saved_agent(trained)
    agent.learner.progress.finished = False
    agent.save(tmp_path / "half")
    arguments = ("play", "grid:collect", "--agent", str(tmp_path / "half"), "--max-actions", "1")
    code, _, err = call(capsys, *arguments)
    assert code == 0
    assert "training is not finished" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["brekout"], "breakout"),
        (["grid:corridor", "--algorithm", "olive"], "olive-iw run GAME --algorithm olive"),
        (["grid:corridor", "--algorithm", "uct", "--search-workers", "2"], "of uct '--search-w"),
        (["grid:corridor", "--calls-per-action", "0"], "calls_per_action = 0"),
        (["grid:corridor", "--real-time", "--calls-per-action", "0"], "calls_per_action = 0"),
        (["grid:corridor", "--seconds-per-action", "0"], "seconds_per_action = 0"),
        (["grid:corridor", "--max-actions", "0"], "max_actions = 0"),
        (["grid:corridor", "--episode", "-1"], "episode -1"),
        (["grid:corridor", "--seed", "-1"], "seed = -1"),
        (["grid:corridor", "--out", "TMP"], "is a folder"),
        (["nowhere/seed-0"], "is not a folder"),
        (["TMP"], "not the folder of one run"),
        (["TMP", "--agent", "TMP"], "--agent needs a game"),
        (["grid:corridor", "--agent", "TMP"], "not a saved agent"),
    ],
)
def test_bad_input_takes_one_line_and_exits_with_2(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    given = [str(tmp_path) if word == "TMP" else word for word in arguments]
    code, _, err = call(capsys, "play", *given)
    assert code == 2
    assert says in err
    assert "Traceback" not in err


def test_a_runs_folder_is_left_as_it_is(
    trained: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = trained / "episodes" / "evaluation-0000.json"
    before = file.read_text()
    code, _, err = call(capsys, "play", str(trained), "--out", str(file))
    assert code == 2
    assert "run's own episodes" in err
    assert file.read_text() == before
    code, _, err = call(capsys, "play", str(trained), "--algorithm", "uct")
    assert code == 2
    assert "run of olive, not of uct" in err
    (tmp_path / "config.toml").write_text((trained / "config.toml").read_text())
    code, _, err = call(capsys, "play", str(tmp_path))
    assert code == 2
    assert "no checkpoint yet" in err


class Terminal:
    """The command in a terminal of 90 columns and 34 rows; what it writes."""

    def __init__(self, *arguments: str) -> None:
        self._descriptor, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 34, 90, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", "OMP_NUM_THREADS": "1"}
        for name in ("COLUMNS", "LINES"):
            environment.pop(name, None)
        command = [sys.executable, "-m", "olive_iw", "play", *arguments]
        self._process = subprocess.Popen(
            command, stdin=inner, stdout=inner, stderr=inner, env=environment
        )
        os.close(inner)
        self._written = b""

    def read(self, until: bytes | None = None) -> str:
        """Read on until something that fits an expression was written, or to the end."""
        while until is None or not re.search(until, self._written):
            try:
                more = os.read(self._descriptor, 65536)
            except OSError:  # the other side is closed
                break
            if not more:
                break
            self._written += more
        return self._written.decode()

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def exit_code(self) -> int:
        os.close(self._descriptor)
        return self._process.wait()


def test_a_terminal_shows_the_game(tmp_path: Path) -> None:
    terminal = Terminal("breakout", "--real-time", "--max-actions", "4")
    text = terminal.read()
    assert terminal.exit_code() == 0
    picture, _, after = text.partition(LEAVE)
    assert ENTER in picture
    assert picture.count("▀") >= 80 * 30
    assert "\x1b[38;2;142;142;142;48;2;142;142;142m" in picture  # the walls
    assert "frames drawn" in after
    assert "▀" not in after


def test_no_picture_if_none_is_wanted() -> None:
    terminal = Terminal("grid:key-door", "--no-show", "--max-actions", "3")
    text = terminal.read()
    assert terminal.exit_code() == 0
    assert "▀" not in text
    assert ENTER not in text
    assert "action limit" in text


@pytest.mark.parametrize("pace", [(), ("--real-time",)])
def test_ctrl_c_says_what_was_played_so_far(
    pace: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "stopped.json"
    terminal = Terminal("breakout", "--calls-per-action", "5", *pace, "--out", str(file))
    terminal.read(until=rb"action ([3-9]|\d\d+):")
    terminal.interrupt()
    text = terminal.read()
    assert terminal.exit_code() == 130
    assert "Traceback" not in text
    _, _, after = text.partition(LEAVE)
    assert "stopped" in after
    episode = read(file)
    assert episode["ended"] == "stopped"
    assert len(episode["actions"]) >= 2
    assert call(capsys, "verify", str(file))[0] == 0
