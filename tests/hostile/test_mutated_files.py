"""Every reader, ten thousand times: real files that were changed somewhere give values or one line.

The changes are hypothesis's, of bytes and of what the bytes say. To look for new ones:
pytest --hypothesis-profile=explore tests/hostile/test_mutated_files.py
"""

import contextlib
import json
import shutil
import tomllib
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from former import of_run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strangers import copy_run

from olive_iw.algorithms import load_agent, make_agent, make_spec, read_recorded
from olive_iw.errors import InputError
from olive_iw.processes import forget_peak_memory, peak_memory
from olive_iw.reading import read_json
from olive_iw.reports.results import read_results
from olive_iw.runs import events, pretrained
from olive_iw.runs.config import RunConfig, to_toml
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.records import Failure, Origin, Pulse, read_episode
from olive_iw.runs.run import run
from olive_iw.runs.verification import check_run
from olive_iw.simulators import make_simulator
from olive_iw.sweeps.export import load_index
from olive_iw.sweeps.file import read_sweep
from olive_iw.viewer.run_library import newest_screens
from results_page import gather
from results_page.copies import copy_runs

CASES = 350
"""Of each test; there are twenty-nine."""
MEMORY = 600_000_000
"""Bytes that all cases of a reader may take more than what was there before."""
FIRST = "episodes/evaluation-0000.json"
TOKENS = [
    *(b"", b"[", b"]", b"{", b"}", b'"', b"'", b",", b":", b"=", b".", b"\n", b"#", b"-", b"\\"),
    *(b"\x00", b"\xff", b"\xed\xa0\x80", "é�\u202e".encode(), b"\x1b[2J", b"\\ud800", b"\\u0000"),
    *(b"1e999", b"NaN", b"-Infinity", b"null", b"true", b"9" * 400, b"0x" + b"f" * 99, b"1e-400"),
    *(b"[" * 2000, b'{"a":' * 2000, b"a." * 400, b"1979-05-27", b'"""', b"[[options]]\n", b"\r"),
]
ODD: list[Any] = [
    *(None, True, False, 0, -1, 1, 2, 3, 2**31, 2**53 + 1, 2**63, -(2**63), 10**30, 10**400),
    *(0.0, -0.0, 0.5, 1e308, -1e308, 1e-320, "", "x", "grid:corridor", "evil:thing", "../..", "\0"),
    *("\x1b[31m", "x" * 3000, "olive", "paper", "training", [], [[]], [1], ["x"], [None], {}),
    *({"a": 1}, {"": {}}, [{}], [[1, [2]]], [10**400], {"x": [10**400]}, [1] * 2000),
]


class Edit(NamedTuple):
    """A change somewhere: `where` and `until` are shares of the file, `token` what is put there."""

    kind: str
    where: float
    until: float
    token: int


def edits(kinds: list[str]) -> st.SearchStrategy[list[Edit]]:
    share = st.integers(0, 999).map(lambda number: number / 1000)
    edit = st.builds(Edit, st.sampled_from(kinds), share, share, st.integers(0, 999))
    return st.lists(edit, min_size=1, max_size=3)


BYTES = edits(["replace", "insert", "cut", "copy", "flip", "end"])
FIELDS = edits(["put", "drop", "add", "rename", "nest"])


def of_bytes(content: bytes, changes: list[Edit]) -> bytes:
    for kind, where, until, token in changes:
        first, last = sorted((int(where * len(content)), int(until * len(content))))
        last = min(last, first + 200)
        put = TOKENS[token % len(TOKENS)]
        if kind == "flip":
            bits = content[first : first + 1]
            put = bytes(byte ^ (1 << token % 8) for byte in bits)
            last = first + 1
        elif kind == "copy":
            put = content[first:last] * 2
        elif kind == "cut":
            put = b""
        elif kind == "end":
            put, last = b"", len(content)
        elif kind == "insert":
            last = first
        content = content[:first] + put + content[last:]
    return content


def of_fields(fields: Any, changes: list[Edit]) -> Any:
    """Change a table, or a table in it, that JSON or TOML said."""
    for kind, where, until, token in changes:
        tables = [fields]
        tables += [value for value in fields.values() if isinstance(value, dict)]
        table = tables[int(where * len(tables))]
        if not table:
            continue
        name, odd = list(table)[int(until * len(table))], deepcopy(ODD[token % len(ODD)])
        if kind == "drop":
            del table[name]
        elif kind == "add":
            table[f"{name}2" if token % 2 else ""] = odd
        elif kind == "rename":
            table[[*fields, "x"][token % (len(fields) + 1)]] = table.pop(name)
        elif kind == "nest":
            table[name] = [table[name]] if token % 2 else {name: table[name]}
        else:
            table[name] = odd
    return fields


@pytest.fixture(autouse=True)
def little_memory() -> Iterator[None]:
    forget_peak_memory()
    before = peak_memory()
    yield
    now = peak_memory()
    assert before is None or now is None or now - before < MEMORY


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that learned, a copy of it, a pretrained agent, an agent that keeps a reservoir."""
    root = tmp_path_factory.mktemp("mutated")
    numbers = {"calls_per_action": 5, "training_actions": 4, "screens_per_episode": 5, "steps": 2}
    config = RunConfig(
        "grid:collect", make_spec("olive", **numbers, max_training_episodes=1), 100_000, 2, 1_200
    )
    small = {"calls_per_action": 3, "avoid_twins": True}
    plain = RunConfig("grid:corridor", make_spec("patch-iw", **small), 100_000, 2, 1_200)
    for one in (config, plain):
        run(one, root / "runs", device="cpu")
    shutil.copytree(config.folder(root / "runs"), root / "learned")
    copy_run(plain.folder(root / "runs"), root / "plain")
    (copy,) = copy_runs(root / "plain", root / "five-minute", "abcdef0").new
    shutil.copytree(copy, root / "copy")
    pretrained.add(root / "learned", root)
    (root / "former").mkdir()
    (root / "former" / "config.toml").write_text(to_toml(of_run(plain)))
    del numbers["screens_per_episode"]
    agent = make_agent("vae-iw", device="cpu", **numbers, screen_limit=8)
    agent.train(make_simulator("grid:collect"), 60)
    agent.save(root / "agent")
    folder = RunFolder(root / "plain")
    folder.write(Failure("error", "why", "Traceback", 2, "worker.log", 1.5))
    folder.write(Pulse("training", 1, 2, 3.5, 4))
    (root / "same-play.toml").write_text(
        f'[{"a" * 40}]\nplays_as = "{"b" * 40}"\nwhy = "Nothing."\n'
    )
    (root / "sweep.toml").write_text(
        'games = ["grid:corridor", "breakout"]\nalgorithms = ["olive", "patch-iw"]\n'
        "seeds = [0, 1]\ncalls_per_action = [10, 20]\nwidth = 2\nepisodes = 1\n"
    )
    return root


def learned(place: Path) -> RunFolder:
    return RunFolder(place / "learned")


def all_events(path: Path) -> None:
    kinds = (events.RunStarted, events.TrainingEpisodeDone, events.EvaluationEpisodeDone)
    for kind in (*kinds, events.RunFinished):
        list(events.read_events(path, kind))


READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "config": ("plain/config.toml", lambda path: RunFolder(path.parent).config()),
    "config of 0.2.0": ("former/config.toml", lambda path: RunFolder(path.parent).recorded()),
    "config of a learner": ("learned/config.toml", lambda path: RunFolder(path.parent).recorded()),
    "identity": ("learned/config.toml", lambda path: RunFolder(path.parent).identity()),
    "sweep": ("sweep.toml", read_sweep),
    "episode": (f"plain/{FIRST}", read_episode),
    "result": ("plain/result.json", lambda path: RunFolder(path.parent).read_result()),
    "failure": ("plain/failed.json", lambda path: RunFolder(path.parent).read(Failure)),
    "pulse": ("plain/pulse.json", lambda path: RunFolder(path.parent).read(Pulse)),
    "origin": ("copy/origin.json", lambda path: RunFolder(path.parent).read(Origin)),
    "same play": ("same-play.toml", gather._read_same_play),
    "progress": ("agent/progress.json", lambda path: load_agent(path.parent, "cpu")),
}
RAW_READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "events": ("learned/events.jsonl", all_events),
    "weights": ("agent/network.safetensors", lambda path: load_agent(path.parent, "cpu")),
    "screens": ("agent/screens.npy", lambda path: load_agent(path.parent, "cpu")),
    "reservoir": ("agent/screens.json", lambda path: load_agent(path.parent, "cpu")),
    "newest screens": (
        "learned/checkpoint/screens.npy",
        lambda path: newest_screens(RunFolder(path.parent.parent)),
    ),
    "pretrained": ("grid-collect.safetensors", pretrained.read),
}


@pytest.mark.parametrize("name", [*READERS, *RAW_READERS])
@settings(max_examples=CASES, suppress_health_check=[*HealthCheck])
@given(changes=BYTES)
def test_changed_bytes(name: str, place: Path, changes: list[Edit]) -> None:
    file, read = (READERS | RAW_READERS)[name]
    read_changed(place / file, lambda content: of_bytes(content, changes), read)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=CASES, suppress_health_check=[*HealthCheck])
@given(changes=FIELDS)
def test_changed_fields(name: str, place: Path, changes: list[Edit]) -> None:
    file, read = READERS[name]
    read_changed(place / file, lambda content: said_otherwise(file, content, changes), read)


def said_otherwise(file: str, content: bytes, changes: list[Edit]) -> bytes:
    text = content.decode()
    if file.endswith(".json"):
        return json.dumps(of_fields(json.loads(text), changes)).encode()
    fields = of_fields(tomllib.loads(text), changes)
    return as_toml(fields).encode(errors="surrogatepass")


def as_toml(fields: dict[str, Any]) -> str:
    """TOML of anything, as near as it comes: tables in lists are none of ours."""
    plain = {f'"{name}"': it for name, it in fields.items() if not isinstance(it, dict)}
    tables = {f'"{name}"': it for name, it in fields.items() if isinstance(it, dict)}
    lines = [f"{name} = {json.dumps(it)}" for name, it in plain.items()]
    for name, table in tables.items():
        lines += [f"[{name}]", *(f'"{key}" = {json.dumps(it)}' for key, it in table.items())]
    return "\n".join(lines)


def read_changed(path: Path, change: Callable[[bytes], bytes], read: Callable[[Path], Any]) -> None:
    content = path.read_bytes()
    try:
        path.write_bytes(change(content))
        refused_in_a_line(lambda: read(path))
        if "plain" in path.parts and path.name not in ("failed.json", "pulse.json"):
            folder = path.parent.parent if path.parent.name == "episodes" else path.parent
            check_run(RunFolder(folder))  # what reads many runs never raises for one
            load_index(folder)
    finally:
        path.write_bytes(content)


def refused_in_a_line(read: Callable[[], Any]) -> None:
    """Read what may be odd; nothing but an `InputError` may come of it."""
    said = ""
    with contextlib.suppress(InputError):
        try:
            read()
        except InputError as error:
            said = str(error)
            raise
    assert len(said) < 2000
    assert "\x1b" not in said


@settings(max_examples=CASES, suppress_health_check=[*HealthCheck])
@given(changes=FIELDS)
def test_changed_settings_of_an_agent(place: Path, changes: list[Edit]) -> None:
    """What a file of an agent may ask for is read; built it may be as large as it likes."""
    fields = of_fields(read_json(place / "agent" / "agent.json"), changes)
    refused_in_a_line(lambda: to_toml(read_recorded(fields)[0].to_dict()))


def test_what_was_changed_back_is_read(place: Path) -> None:
    assert len(read_results([place / "plain"]).episodes) == 2
    load_agent(place / "agent", "cpu")
