"""Files made to cost: none keeps a command waiting, none takes memory, none hides the good runs."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import numpy as np
import pytest
from strangers import Said, change, copy_run

from olive_iw.agents.screens import Reservoir, ScreenSet, read_screens
from olive_iw.algorithms import make_spec
from olive_iw.errors import DamagedFileError, InputError
from olive_iw.reading import LARGEST_TOML, parse_json, parse_toml
from olive_iw.runs.config import RunConfig
from olive_iw.runs.events import MOST_EVENTS, RunStarted, read_events
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.records import read_episode
from olive_iw.runs.run import run
from olive_iw.sweeps.engines.base import Job, log_tail
from olive_iw.sweeps.file import parse_sweep
from olive_iw.viewer import run_viewer
from olive_iw.viewer.hub import Hub
from olive_iw.viewer.page_messages import Library
from olive_iw.viewer.run_library import RunFollower, RunLibrary, newest_screens
from results_page.copies import copy_runs

WAITING = 120
"""Seconds after which a test that waits for a pipe is ended: it would wait for ever."""
MEMORY = 1_500_000_000
"""Bytes of addresses: enough to read any file of ours, too few for what these would take."""
FIRST = "episodes/evaluation-0000.json"


@pytest.fixture(autouse=True)
def impatient() -> Iterator[None]:
    def end(number: int, frame: FrameType | None) -> None:
        raise AssertionError("it waits for ever")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(WAITING)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run that has a checkpoint."""
    numbers = {"calls_per_action": 5, "training_actions": 5, "screens_per_episode": 5, "steps": 2}
    spec = make_spec("olive", **numbers, max_training_episodes=1)
    config = RunConfig("grid:collect", spec, 200, 1, 2)
    out = tmp_path_factory.mktemp("learned")
    run(config, out, device="cpu")
    return config.folder(out)


# What costs more to parse than it looks

DOTS = ".".join(["a"] * 20_000)
NO_ENDS = ".".join(['"\u2028"', '"\x85"'] * 10_000)
"""Names of what Python takes for the end of a line, and TOML does not."""
COSTLY_TOML = {
    "a name of many parts": f"{DOTS} = 1",
    "a table of many parts": f"[{DOTS}]",
    "a list of such tables": f"[[{DOTS}]]",
    "such a name in a table": f"x = {{ {DOTS} = 1 }}",
    "parts that look like ends of lines": f"{NO_ENDS} = 1",
    "deep lists": "x = " + "[" * 50_000,
    "deep lists in lines": "x = " + "[\n" * 50_000,
    "much": "x = 1 # " + "x" * LARGEST_TOML,
}


@pytest.mark.parametrize("content", COSTLY_TOML)
def test_toml_is_refused_before_it_costs(content: str) -> None:
    why = {"deep lists in lines": "deeply", "much": "larger"}.get(content, "times")
    with pytest.raises(DamagedFileError, match=rf"^file: .*{why}"):
        parse_toml(COSTLY_TOML[content], "file")
    with pytest.raises(InputError):
        parse_sweep(COSTLY_TOML[content])


def test_names_of_some_parts_are_read() -> None:
    text = "a.b.c = 1\nwhy = 'One. Two. Three.'\nseeds = [0.5, 1.5, 2.5]\n[d.e]\n"
    assert parse_toml(text, "file")["a"] == {"b": {"c": 1}}


ODD_TOML = {
    **{"hexadecimal": "0x" + "f" * 4000, "decimal": "9" * 5000, "binary": "0b" + "1" * 64},
    **{"negative": "-" + "9" * 20, "date": "1979-05-27", "time": "07:32:00"},
}


@pytest.mark.parametrize("value", ODD_TOML)
@pytest.mark.parametrize("place", ["{}", "[{}]", "[[{}]]", "{{a = {}}}"])
def test_numbers_of_any_length_and_dates_are_told_in_a_line(value: str, place: str) -> None:
    with pytest.raises(DamagedFileError, match=r"^file: cannot be read") as error:
        parse_toml(f"x = {place.format(ODD_TOML[value])}", "file")
    assert len(str(error.value)) < 300


NAMES = ["game", "algorithm", "profile", "planner", "features", "seed", "width", "discount", "fit"]


@pytest.mark.parametrize("value", ["hexadecimal", "date"])
def test_such_values_end_no_command(
    value: str, good: Path, bad: Path, command: Callable[..., Said]
) -> None:
    config = bad / "config.toml"
    lines = config.read_text().splitlines()
    for name in NAMES:
        changed = [
            f"{name} = {ODD_TOML[value]}" if line.startswith(f"{name} =") else line
            for line in lines
        ]
        config.write_text("\n".join(changed))
        for arguments in (("verify",), ("report",), ("status",), ("run", "--config")):
            target = config if arguments[0] == "run" else bad.parent
            said = command(*arguments, target)
            assert said.code == (2 if target == config else 1)


@pytest.mark.parametrize("name", ["width", "discount", "bandit", "calls_per_action", "ties"])
def test_a_huge_number_from_python_is_told_too(name: str) -> None:
    for number in (10**5000, -(10**5000), [10**5000]):
        with pytest.raises(InputError, match=name) as error:
            make_spec("patch-iw", **{name: number})
        assert len(str(error.value)) < 600


COSTLY_JSON = {
    "empty tables": '{"actions": [' + "{}," * 5_000_000 + "{}]}",
    "empty lists": '{"actions": [' + "[]," * 5_000_000 + "[]]}",
    "deep lists": '{"actions": ' + "[" * 5_000_000,
    "many names": "{" + ",".join(f'"{number}": 1' for number in range(500_000)) + "}",
    "many texts": '{"actions": [' + '"",' * 5_000_000 + '""]}',
    "many numbers": '{"actions": [' + "1.5," * 7_000_000 + "1]}",
}


def test_events_are_refused_before_they_cost(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"\n" * (MOST_EVENTS + 1))
    with pytest.raises(DamagedFileError, match="has more than 200,000 lines"):
        list(read_events(path, RunStarted))
    path.write_bytes(b'{"type": "run started"}\n' * MOST_EVENTS)
    assert list(read_events(path, RunStarted)) == []


def test_names_of_any_length_take_a_line(
    good: Path, bad: Path, command: Callable[..., Said]
) -> None:
    for name in ("grid:corridor", "patch-iw"):
        for path in (*bad.glob("episodes/*.json"), bad / "result.json", bad / "config.toml"):
            path.write_text(path.read_text().replace(name, "x" * 200_000))
        for words in (("verify",), ("report",), ("status",)):
            said = command(words[0], bad.parent)
            assert said.code == 1
            assert len(said.text) < 20_000, words


def test_what_contradicts_a_run_is_told_in_a_line(good: Path, command: Callable[..., Said]) -> None:
    change(good / FIRST, game="x" * 200_000, versions={"numpy": "y" * 200_000})
    assert len(command("verify", good).text) < 5_000
    change(good / FIRST, game="grid:corridor")
    assert len(command("verify", good).text) < 5_000


@pytest.mark.parametrize("content", COSTLY_JSON)
def test_json_is_refused_before_it_costs(content: str) -> None:
    with pytest.raises(DamagedFileError, match=r"^file: has more than"):
        parse_json(COSTLY_JSON[content], "file")


def test_the_costliest_files_that_are_read_fit_in_little_memory(good: Path) -> None:
    """Every mark as often as it may stand in a file, together, in a process of little memory."""
    fields = json.loads((good / FIRST).read_text())
    text = json.dumps(fields | {"values": 0})[:-2]
    rows = ",".join(["[1.5,1.5]"] * 1_400_000)
    text += f'[{rows}], "x": {{{",".join(f"{chr(34)}{n}{chr(34)}:1" for n in range(90_000))}}}}}'
    (good / FIRST).write_text(text)
    code = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_DATA, ({MEMORY}, {MEMORY}))\n"
        "from pathlib import Path\n"
        "from olive_iw.runs.records import read_episode\n"
        "assert len(read_episode(Path(sys.argv[1])).actions) == 6\n"
    )
    subprocess.run([sys.executable, "-c", code, good / FIRST], check=True)
    assert resource.getrlimit(resource.RLIMIT_DATA)[0] != MEMORY


@pytest.mark.parametrize(
    "row", ["[[1], 1]", '["x", 1]', "{}", "1", "[1e999, 1]", "[HUGE, 1]", "[]"]
)
def test_values_are_rows_of_numbers(row: str, good: Path) -> None:
    row = row.replace("HUGE", "9" * 400)
    text = json.dumps(json.loads((good / FIRST).read_text()) | {"values": 0})
    rows = ", ".join(["[1, null]", row] * 3)
    (good / FIRST).write_text(text.replace('"values": 0', f'"values": [{rows}]'))
    with pytest.raises(DamagedFileError, match=FIRST):
        read_episode(good / FIRST)


# Pipes and other files that are none

MEMBERS = [
    *("config.toml", "events.jsonl", "result.json", "lock", "failed.json", "pulse.json"),
    *("origin.json", "worker.log", FIRST, "episodes/training-0000.json", "episodes", "checkpoint"),
    *("checkpoint/agent.json", "checkpoint/progress.json", "checkpoint/screens.npy"),
    "checkpoint/network.safetensors",
]


@pytest.mark.parametrize("member", MEMBERS)
def test_no_command_waits_for_a_pipe(
    member: str, learned: Path, tmp_path: Path, command: Callable[..., Said]
) -> None:
    root = tmp_path / "runs"
    copy_run(learned, root / "good")
    bad = copy_run(learned, root / "bad")
    shutil.rmtree(bad / member, ignore_errors=True)
    (bad / member).unlink(missing_ok=True)
    os.mkfifo(bad / member)
    assert "good/episodes/evaluation-0000.json" in command("verify", root).out
    assert "grid:collect" in command("report", root).out
    for more in ((), ("--json",)):
        said = command("status", root, *more)
        assert said.code == (member in ("config.toml", "result.json"))
        assert (member in said.err) == said.code
    command("export", root, "--out", tmp_path / "table.csv")
    assert "good" in (tmp_path / "table.csv").read_text()
    for words in (("play", bad, "--no-show"), ("pretrained", "add", bad, "--out", tmp_path)):
        said = command(*words, *(("--max-actions", 1) if words[0] == "play" else ()))
        assert said.code in (0, 2)
        if "checkpoint" in member:
            assert said.code == 2
    with run_viewer(root, port=0):
        pass
    library = RunLibrary(root)
    assert "good" in library.runs
    for folder in library.runs.values():
        hub = Hub()
        follower = RunFollower(hub, library)
        follower.follow(folder)
        follower.look()
        _, message = hub._latest[Library]  # whatever is open, all others can be
        assert isinstance(message, Library)
        assert {"id": "good", "title": "good"} in message.runs


def test_the_log_of_a_worker_that_died_is_a_plain_file(learned: Path, tmp_path: Path) -> None:
    config = RunFolder(learned).config()
    job = Job(config, tmp_path)
    job.folder.mkdir(parents=True)
    job.run.log_path.write_text(f"--- process 1, then\n{'ü' * 5000}\nthe end\n")
    assert log_tail(job, 99) == "the end"
    job.run.log_path.unlink()
    os.mkfifo(job.run.log_path)
    assert log_tail(job) == ""


# One bad run beside good ones


def test_the_viewer_begins_with_what_can_be_shown(good: Path, bad: Path) -> None:
    bad = bad.rename(bad.with_name("a-bad-one"))
    for path in bad.glob("episodes/*.json"):
        change(path, start_actions=[99])
    with run_viewer(good.parent, port=0) as viewer:
        shown = viewer.playback.shown
        assert shown is not None
        assert shown.source.run == "good"


def test_the_viewer_opens_where_nothing_can_be_shown(bad: Path) -> None:
    for path in bad.glob("episodes/*.json"):
        change(path, start_actions=[99])
    with run_viewer(bad.parent, port=0) as viewer:
        assert viewer.playback.shown is None


ODD_SCREENS: dict[str, Callable[[Path], object]] = {
    "an archive": lambda path: np.savez(path.with_suffix(".npz"), np.zeros(3)),
    "another shape": lambda path: np.save(path, np.zeros((2, 9, 9), np.uint8)),
    "objects": lambda path: np.save(path, np.array([print], object), allow_pickle=True),
    "a number": lambda path: np.save(path, np.uint8(3)),
    "nothing": lambda path: path.write_bytes(b""),
    "a deep header": lambda path: path.write_bytes(npy("-" * 9000 + "1")),
    "a header of brackets": lambda path: path.write_bytes(npy("(" * 9000)),
    "more than there is": lambda path: path.write_bytes(npy(HEADER % (10**12))),
    "more than can be": lambda path: path.write_bytes(npy(HEADER % (10**30))),
    "less than none": lambda path: path.write_bytes(npy(HEADER % -1)),
}
HEADER = "{'descr': '|u1', 'fortran_order': False, 'shape': (%d, 128, 128)}"


def npy(header: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + b"\x00" * 99


@pytest.mark.parametrize("content", ODD_SCREENS)
def test_odd_screens_are_told_in_a_line(content: str, learned: Path, tmp_path: Path) -> None:
    folder = RunFolder(copy_run(learned, tmp_path / "run"))
    path = folder.checkpoint_path / "screens.npy"
    path.unlink()
    ODD_SCREENS[content](path)
    if path.with_suffix(".npz").exists():
        path.with_suffix(".npz").rename(path)
    for read in (read_screens, ScreenSet.load, Reservoir.load):
        with pytest.raises(DamagedFileError, match=r"screens\.npy"):
            read(path)
    with pytest.raises(DamagedFileError, match=r"screens\.npy"):
        newest_screens(folder)
    RunFollower(Hub(), RunLibrary(folder.path)).look()


def test_no_more_screens_are_read_than_were_asked_for(tmp_path: Path) -> None:
    np.save(tmp_path / "screens.npy", np.zeros((3, 128, 128), np.uint8))
    with pytest.raises(DamagedFileError, match="3 screens; expected at most 2"):
        read_screens(tmp_path / "screens.npy", 2)
    np.save(tmp_path / "screens.npy", np.zeros((0, 128, 128), np.uint8))
    assert len(ScreenSet.load(tmp_path / "screens.npy")) == 0


def test_the_follower_outlives_whatever_goes_wrong(
    good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> object:
        raise ZeroDivisionError("odd")

    monkeypatch.setattr("olive_iw.viewer.run_library.training_message", fail)
    hub = Hub()
    RunFollower(hub, RunLibrary(good)).look()
    assert any("ZeroDivisionError: odd" in str(message) for _, message in hub._latest.values())


@pytest.mark.parametrize("name", [FIRST, "config.toml", "result.json"])
def test_commands_over_folders_go_on_and_end_with_1(
    name: str, good: Path, bad: Path, tmp_path: Path, command: Callable[..., Said]
) -> None:
    config = good / "config.toml"
    for folder in (good, bad):  # named as the paper's, to be compared
        for path in (*folder.glob("episodes/*.json"), folder / "result.json"):
            change(path, algorithm="rollout-iw", variant=None)
        text = (folder / "config.toml").read_text().replace('"patch-iw"', '"rollout-iw"')
        (folder / "config.toml").write_text(text.replace('variant = "calls_per_action=5"\n', ""))
    assert command("report", good.parent).code == 0
    (bad / name).write_text("{")
    table = tmp_path / "table.csv"
    for words in (("report",), ("compare",), ("verify",), ("export", "--out", table)):
        said = command(words[0], good.parent, *words[1:])
        exported = words[0] == "export" and name == "result.json"  # rows are made of episodes
        assert said.code == (0 if exported else 1), said.text
        if words[0] not in ("verify", "export"):
            assert "left out; exit code 1" in said.err
    assert "good" in table.read_text()
    assert config.exists()


def test_copies_are_made_of_the_good_ones(good: Path, bad: Path, tmp_path: Path) -> None:
    for folder in (good, bad):
        for path in (folder / "config.toml", folder / "result.json"):
            text = path.read_text().replace('max_actions": 6', 'max_actions": 1200')
            path.write_text(text.replace("max_actions = 6", "max_actions = 1200"))
        for path in folder.glob("episodes/*.json"):
            change(path, ended="game over")
    (bad / FIRST).write_text("{")
    results = tmp_path / "five-minute"
    done = copy_runs(good.parent, results, "abcdef0")
    assert len(done.new) == 1
    assert "cannot be read" in done.problems[0]
    assert len(list(results.rglob("result.json"))) == 1
    with pytest.raises(InputError, match="commit"):
        copy_runs(good.parent, results, "HEAD")


def test_a_copy_is_not_written_through_a_link(good: Path, tmp_path: Path) -> None:
    for path in (good / "config.toml", good / "result.json"):
        text = path.read_text().replace('max_actions": 6', 'max_actions": 1200')
        path.write_text(text.replace("max_actions = 6", "max_actions = 1200"))
    for path in good.glob("episodes/*.json"):
        change(path, ended="game over")
    elsewhere, results = tmp_path / "elsewhere", tmp_path / "five-minute"
    elsewhere.mkdir()
    results.mkdir()
    (results / "grid-corridor").symlink_to(elsewhere)
    assert "symbolic link" in copy_runs(good, results, "abcdef0").problems[0]
    assert not list(elsewhere.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems know no such names")
def test_names_that_are_no_utf_8(good: Path, tmp_path: Path, command: Callable[..., Said]) -> None:
    odd = good.rename(os.fsdecode(os.fsencode(good.parent) + b"/\xff\xfe"))
    page, table = tmp_path / "page.html", tmp_path / "table.csv"
    assert command("report", odd.parent, "--html", page).code == 0
    assert "%FF%FE" in page.read_text()
    assert command("export", odd.parent, "--out", table).code == 0
    assert r"\xff\xfe" in table.read_text()
    for words in (("status",), ("status", "--json"), ("verify",), ("compare",)):
        assert command(words[0], odd.parent, *words[1:]).code in (0, 2)
    assert r"\xff\xfe" in RunLibrary(odd.parent).runs
    (odd / FIRST).write_text("{")
    assert command("report", odd, "--html", page).code == 1
