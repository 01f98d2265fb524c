"""The command line as a user meets it: tables, exit codes, one-line errors."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from olive_iw.algorithms import make_spec
from olive_iw.cli.console import console, suggest
from olive_iw.cli.list import PARTS
from olive_iw.cli.main import _guarded, main
from olive_iw.cli.run import settings_groups
from olive_iw.reports.run_tables import verification_table
from olive_iw.runs.config import RunConfig, to_toml
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.verification import Outcome, Verification


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "--version")[1].startswith("olive-iw 0.")


@pytest.mark.filterwarnings("default")
def test_a_warning_takes_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert _guarded(lambda: warnings.warn("this [thing] is slow", RuntimeWarning, 1)) == 0
    assert capsys.readouterr().err == "warning: this [thing] is slow\n"


COMMANDS = (
    *("run", "play", "sweep", "status", "export", "report", "compare", "verify", "video", "gif"),
    *("view", "bench", "doctor", "list", "pretrained"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, command, "--help")
    assert code == 0
    assert f"usage: olive-iw {command}" in out
    assert f"Example: olive-iw {command}" in out
    assert "{None}" not in out


def help_of(capsys: pytest.CaptureFixture[str], *arguments: str, how: str = "--help-all") -> str:
    """Help of a command as one line."""
    code, out, _ = call(capsys, *arguments, how)
    assert code == 0
    return " ".join(out.split())


def test_help_shows_the_defaults_of_the_algorithm_and_profile(
    capsys: pytest.CaptureFixture[str],
) -> None:
    usual = help_of(capsys, "run")
    assert "--width INT Width of the novelty that prunes. (default: 1)" in usual
    assert "Temperature at the first step. (default: 5)" in usual
    assert "--training-calls INT" in usual
    assert all(f"--{name.replace('_', '-')}" in usual for name in make_spec("olive").settings())
    assert "--tile-rows" not in usual
    assert "--training-calls INT" not in help_of(capsys, "run", "--algorithm", "iw-2")
    planner = help_of(capsys, "run", "--algorithm", "patch-iw", "--planner", "2bfs")
    assert "--queues {both,one}" in planner
    assert "--width" not in planner
    iw = help_of(capsys, "run", "--algorithm", "iw-2")
    assert "--width INT Width of the novelty that prunes. (default: 2)" in iw
    paper = help_of(capsys, "run", "--algorithm=vae-iw", "--profile", "paper")
    assert "Temperature at the first step. (default: 0.5)" in paper
    assert "--channels INT" in paper


def test_the_short_help_has_what_people_use_and_says_how_to_see_the_rest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for command in ("run", "play", "view"):
        short = help_of(capsys, command, how="--help")
        assert "--calls-per-action INT" in short
        assert "--width" not in short
        rest = int(re.search(r"--help-all shows (\d+) more options", short)[1])  # type: ignore[index]
        everything = help_of(capsys, command)
        assert "--width INT" in everything
        assert rest == everything.count("(default:") - short.count("(default:")
    assert len(call(capsys, "run", "--help")[1].splitlines()) < 60
    assert "--workers INT" in help_of(capsys, "sweep", how="--help")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_help_says_no_default_twice_and_none_of_a_switch(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = help_of(capsys, command)
    assert "(default: )" not in found
    assert not re.search(r"\(default: [^)]*\)\.? \(default", found)
    assert not re.search(r"--no-(browser|show) [^(]*\(default", found.partition("--calls-per")[0])


def test_the_overview_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "--help")
    assert code == 0
    assert all(f"  {command} " in out for command in COMMANDS)


def test_a_shell_completes_commands_options_and_choices(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, script, _ = call(capsys, "--completion", "bash")
    assert code == 0
    file = tmp_path / "completion"
    file.write_text(script)
    for words, expected in (
        (["pla"], "play"),
        (["run", "--band"], "--bandit"),
        (["sweep", "--retr"], "--retries"),
        (["run", "--device", "cu"], "cuda"),
    ):
        typed = f"COMP_WORDS=(olive-iw {' '.join(words)}); COMP_CWORD={len(words)}"
        find = "$(complete -p olive-iw | sed 's/.*-F \\([^ ]*\\).*/\\1/')"
        line = f'source {file}; {typed}; {find}; echo "${{COMPREPLY[@]}}"'
        said = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
        assert said.stdout.split() == [expected]
    assert script in call(capsys, "--completion", "zsh")[1]
    assert "-l bandit" in call(capsys, "--completion", "fish")[1]


def test_parts_are_chosen_by_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["run", "grid:collect", "--algorithm", "rollout-iw", "--episodes", "1", "--quiet"]
    parts = ["--features", "patches", "--bandit", "max", "--max-actions", "2", "--seed", "5"]
    assert call(capsys, *arguments, *parts, "--out", str(tmp_path))[0] == 0
    config = RunFolder(next(tmp_path.rglob("config.toml")).parent).config()
    assert config.spec.variant == "features=patches,bandit=max"
    assert config.spec.seed == 5


def test_a_run_ends_with_its_scores_and_where_its_calls_went(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ["run", "grid:collect", "--algorithm", "patch-iw", "--calls-per-action", "7"]
    lengths = ["--episodes", "2", "--max-actions", "3", "--out", str(tmp_path)]
    code, out, _ = call(capsys, *arguments, *lengths)
    assert code == 0
    scores, calls = out.split("Where the calls went")
    assert "grid:collect: mean score" in scores
    assert all(name in calls for name in ("depth", "unused", "twins", "pruned", "tied"))
    rows = [line.split() for line in calls.splitlines() if line.startswith((" 0 ", " 1 "))]
    assert [row[:2] for row in rows] == [["0", "7"], ["1", "7"]]


def test_a_runs_configuration_is_taken_as_input(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    limits = ["--episodes", "1", "--max-actions", "2", "--quiet", "--out"]
    first = ["run", "grid:collect", "--algorithm", "patch-iw", "--discount", "0.5", "--width", "2"]
    assert call(capsys, *first, *limits, str(tmp_path / "first"))[0] == 0
    file = next((tmp_path / "first").rglob("config.toml"))
    assert "(default: 0.5)" in help_of(capsys, "run", "--config", str(file))
    again = ["run", "--config", str(file), "--seed", "3", "--width", "1"]
    out = str(tmp_path / "again")
    assert call(capsys, *again, "--quiet", "--out", out)[0] == 0
    config = RunFolder(next((tmp_path / "again").rglob("config.toml")).parent).config()
    assert (config.game, config.spec.algorithm, config.spec.seed) == ("grid:collect", "patch-iw", 3)
    assert config.spec.variant == "discount=0.5"
    assert (config.episodes, config.max_actions) == (1, 2)


def test_patience_does_not_erase_what_a_profile_has(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    base = make_spec("olive", "paper", patience=7)
    file = tmp_path / "config.toml"
    file.write_text(to_toml(RunConfig("grid:collect", base).to_dict()))
    assert "better held-out loss" in help_of(capsys, "run", "--config", str(file))
    assert any("trained" in group.title for group in settings_groups(["--config", str(file)]))
    assert base.changed(steps=3).training.patience == 7


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
    code, out, _ = call(capsys, "list", "bandits")
    assert "uniformly among the unsolved actions" in " ".join(out.split())


def test_games_are_listed_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = call(capsys, "list", "games")
    paper, others = (
        " ".join(out.replace("│", " ").split()).split("the paper's 55")[1].split("others")
    )
    assert "breakout," in paper
    assert "tetris," in others
    _, out, _ = call(capsys, "list", "worlds")
    assert "a corridor with the goal at its end; width 1" in " ".join(out.split())


def test_every_part_has_a_description() -> None:
    for kind, registry in PARTS.items():
        assert all(registry.describe(name) for name in registry), kind


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
        (["rnu", "breakout"], "did you mean run"),
        (["run"], "run needs a game"),
        (["run", "grid:corridor", "--profile", "labtop"], "laptop"),
        (["run", "grid:corridor", "--bandit", "tts"], "ttts"),
        (["run", "grid:corridor", "--discount", "nan"], "discount = nan"),
        (["run", "grid:corridor", "--beta", "inf"], "beta = inf"),
        (["run", "--config", "nothing.toml"], "nothing.toml"),
        (["--import", "no_such_module", "list"], "no_such_module"),
        (["--completion", "powershell"], "bash, zsh, fish"),
        (["--verson"], "did you mean --version"),
        (["run", "grid:corridor", "--bandt", "max"], "did you mean --bandit"),
        (["run", "grid:corridor", "--loggers", "nosuch"], "tensorboard"),
        (["run", "grid:corridor", "breakout"], "'breakout' is one argument too many"),
        (["sweep", "nothing.toml", "--order-seed", "-1"], "order_seed = -1 is not possible"),
        (["run", "grid:corridor", "--quiet", "-1"], "known: --action-levels, "),
        (["run", "grid:corridor", "--seed", "a\nb"], "a b is no whole number"),
        (["report", "no\nwhere"], "no where is not a folder"),
        (["run", "grid:corridor", "x" * 5000], "xxx… is one argument too many"),
        (["run", "grid:corridor", "--seed"], "--seed: expected one argument"),
        (["run", "grid:corridor", "--device", "gpu"], "cuda"),
        (["play"], "required: GAME|FOLDER"),
    ],
)
def test_bad_input_takes_one_line_and_exits_with_2(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = ["--out", str(tmp_path)] if arguments[0] == "run" else []
    code, said, err = call(capsys, *arguments, *out)
    assert (code, said) == (2, "")
    assert says in err
    assert err.count("\n") == 1
    assert len(err) < 2500
    assert "Traceback" not in err
    assert not list(tmp_path.rglob("result.json"))


@pytest.mark.parametrize("words", [["-OO"], ["-O"]])
@pytest.mark.parametrize("columns", ["1", "30", "100000"])
def test_help_without_docstrings_and_in_terminals_of_any_width(
    words: list[str], columns: str
) -> None:
    command = [sys.executable, *words, "-m", "olive_iw", "play", "--help"]
    environment = {**os.environ, "COLUMNS": columns}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "--max-actions INT" in done.stdout


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
    lines = out.replace("\\\n", "").splitlines()
    following = [line.split("  #")[0].split() for line in lines if line.startswith("  olive-iw ")]
    assert [words[:2] for words in following] == [
        ["olive-iw", command] for command in ("view", "verify", "gif")
    ]
    assert all(Path(path).exists() for *_, path in following)


def test_a_program_that_is_not_on_the_path_is_named_by_its_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(sys, "argv", [".venv/bin/olive-iw"])
    suggest(("view", Path("my runs"), "look"))
    assert capsys.readouterr().out == "\nNext:\n  .venv/bin/olive-iw view 'my runs'  # look\n"


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


SHORT = ("--algorithm", "patch-iw", "--calls-per-action", "2", "--max-actions", "1", "--quiet")


def test_large_numbers_may_be_written_short(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = ("run", "grid:corridor", "--algorithm", "brute", "--max-actions", "1", "--quiet")
    for text, number in (("1e2", 100), ("2.5E1", 25), ("1_0", 10)):
        out = tmp_path / text
        words = (*short, "--episodes", "1", "--training-calls", text)
        assert call(capsys, *words, "--out", str(out)) == (0, "", "")
        assert RunFolder(next(out.glob("*/*/*"))).config().training_calls == number
    for text in ("1e-5", "1.5", "many", "1e400", "1.2.3e1"):
        code, _, err = call(capsys, "run", "grid:corridor", "--training-calls", text)
        assert code == 2
        assert f"{text} is no whole number" in err


def test_games_may_be_spelled_as_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for spelled in ("Breakout", "MsPacman"):
        words = ("run", spelled, *SHORT, "--episodes", "1", "--out", str(tmp_path))
        assert call(capsys, *words) == (0, "", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["breakout", "ms_pacman"]


@pytest.mark.parametrize("command", ["run", "play"])
def test_a_game_for_several_players_is_named_as_such(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = call(capsys, command, "Combat")
    assert code == 2
    assert err == "olive-iw: combat is a cartridge for two players or more, not for one\n"


def test_a_folder_that_cannot_be_made_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    code, _, err = call(capsys, "run", "grid:corridor", *SHORT, "--out", str(tmp_path / "file"))
    assert code == 2
    assert err.endswith("cannot be made (Not a directory); give another --out\n")


@pytest.mark.parametrize(
    "arguments",
    [("--loggers", "tensorboard"), ("--features", "bprost")],
    ids=["no package", "no features"],
)
def test_a_run_that_fails_before_its_first_step_leaves_nothing(
    arguments: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto.event_pb2", None)
    words = ("run", "grid:corridor", *SHORT, *arguments, "--out", str(tmp_path / "new" / "runs"))
    assert call(capsys, *words)[0] == 2
    assert not list(tmp_path.iterdir())
    (tmp_path / "new" / "runs").mkdir(parents=True)  # what was there before stays
    assert call(capsys, *words)[0] == 2
    assert not list((tmp_path / "new" / "runs").iterdir())


def test_a_narrow_terminal_shows_whole_tables_and_paths(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "_width", 60)  # where COLUMNS was set at the start, it stays
    words = ("run", "grid:corridor", *SHORT[:-1], "--episodes", "2", "--out", str(tmp_path))
    _, out, _ = call(capsys, *words)
    assert "(continued)" not in out
    assert "game 1: calls 2, rollouts" in out
    assert re.search(rf"^  olive-iw verify \\\n    {tmp_path}\S*/seed-0$", out, re.MULTILINE)
    _, out, _ = call(capsys, "verify", str(tmp_path))
    assert re.search(
        r"^  grid-corridor/\S*/seed-0/episodes/evaluation-0000.json:$", out, re.MULTILINE
    )


def test_verify_names_files_as_they_are() -> None:
    for path, shown in (("/a/b.json", "/a/b.json"), ("/1/2/3/4/5/6.json", "2/3/4/5/6.json")):
        found = Verification(Path(path), Outcome.CONFIRMED, "")
        assert verification_table([found]).rows[0][0].text == shown


@pytest.mark.parametrize("command", ["run", "sweep", "bench", "verify"])
def test_only_what_goes_on_says_so_when_it_is_stopped(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("olive_iw.cli.main._command", stop)
    code, _, err = call(capsys, command, "something")
    assert code == 130
    assert ("again to go on" in err) == (command in ("run", "sweep"))


@pytest.mark.parametrize("words", [("list",), ("run", "--help-all")], ids=["tables", "text"])
def test_a_closed_pipe_ends_it_silently(words: tuple[str, ...]) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "olive_iw", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 128 + signal.SIGPIPE


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_an_encoding_cannot_write_is_replaced(encoding: str, tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    arguments = ("run", "grid:corridor", *SHORT[:-1], "--episodes", "1", "--out", str(tmp_path))
    for words in (("list", "bandits"), ("list", "worlds"), arguments, ("verify", str(tmp_path))):
        done = subprocess.run(
            [sys.executable, "-m", "olive_iw", *words],
            check=False,
            capture_output=True,
            env=environment,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout


def test_folders_may_have_names_that_are_not_utf_8(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    words = ("run", "grid:corridor", *SHORT, "--episodes", "1", "--out", str(folder / "runs"))
    assert call(capsys, *words)[0] == 0
    for words in (
        ("report", str(tmp_path), "--html", str(folder / "page.html")),
        ("export", str(tmp_path), "--out", str(folder / "episodes.csv")),
        ("status", str(tmp_path)),
        ("verify", str(tmp_path)),
    ):
        assert call(capsys, *words)[0] == 0
    assert "caf\\xe9" in (folder / "episodes.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [["--help"], ["status", "--help"]])
def test_only_the_command_that_is_called_is_imported(words: list[str]) -> None:
    code = (
        "import sys\nfrom olive_iw.cli.main import COMMANDS, main\n"
        f"try:\n    main({words})\nexcept SystemExit:\n    pass\n"
        "print(*(it for it in COMMANDS if f'olive_iw.cli.{it}' in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stderr.split() == words[:-1]
