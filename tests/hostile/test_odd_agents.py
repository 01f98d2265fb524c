"""A saved agent of a stranger: it loads, or a line says why not."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from strangers import Said

from olive_iw.algorithms import load_agent, make_agent
from olive_iw.errors import InputError
from olive_iw.simulators import make_simulator

ODD = {
    **{"empty": b"", "a list": b"[]", "null": b"null", "torn": b'{"a": 1', "text": b"\x00\xff"},
    **{"infinity": b'{"calls": Infinity}', "deep": b"[" * 100_000, "wrong": b'{"calls": "x"}'},
    "many digits": b'{"calls": ' + b"9" * 5000 + b"}",
    "a pickle": b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94\x93\x94\x8c\x04true\x94\x85\x94R\x94.",
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained agent that has every file of a checkpoint."""
    folder = tmp_path_factory.mktemp("agent") / "agent"
    numbers = {"calls_per_action": 5, "training_actions": 5, "screen_limit": 8, "steps": 1}
    agent = make_agent("vae-iw", device="cpu", **numbers)
    agent.train(make_simulator("grid:collect"), 60)
    agent.save(folder)
    load_agent(folder, "cpu")
    return folder


def names() -> list[str]:
    return ["agent.json", "network.safetensors", "progress.json", "screens.json", "screens.npy"]


def test_these_are_all_its_files(saved: Path) -> None:
    assert sorted(path.name for path in saved.iterdir()) == names()


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("content", ODD)
def test_a_file_of_anything(name: str, content: str, saved: Path, tmp_path: Path) -> None:
    agent = shutil.copytree(saved, tmp_path / "agent")
    (agent / name).write_bytes(ODD[content])
    with pytest.raises(InputError, match=name) as error:
        load_agent(agent, "cpu")
    assert str(error.value).isprintable()


def test_arrays_of_objects_and_of_other_shapes(saved: Path, tmp_path: Path) -> None:
    agent = shutil.copytree(saved, tmp_path / "agent")
    for array in (np.array([print], object), np.zeros(3), np.zeros((2, 9, 9), np.uint8)):
        np.save(agent / "screens.npy", array, allow_pickle=True)
        with pytest.raises(InputError, match=r"screens\.npy"):
            load_agent(agent, "cpu")


@pytest.mark.parametrize(
    ("table", "name", "value"),
    [
        *(("search", "search_workers", 10**9), ("search", "width", 10**400)),
        *(("search", "discount", 1e999), ("search", "bandit", "evilmod:Bandit")),
        *(("network", "hidden", 10**9), ("network", "bits", -1), ("training", "batch", 0)),
        *(("training", "learning_rate", "x"), ("rules", "unheard", 1), ("options", "width", 1)),
    ],
)
def test_settings_that_cannot_be(
    table: str, name: str, value: object, saved: Path, tmp_path: Path, command: Callable[..., Said]
) -> None:
    agent = shutil.copytree(saved, tmp_path / "agent")
    fields = json.loads((agent / "agent.json").read_text())
    fields.setdefault(table, {})[name] = value
    (agent / "agent.json").write_text(json.dumps(fields))
    said = command("play", "grid:collect", "--agent", agent)
    assert said.code == 2
    assert "agent.json" in said.err
