"""A trained agent in one file, as somebody may send it: it plays, or a line says why not.

The hash of every file here is right, so that it is not the hash that refuses them.
"""

import gzip
import io
import json
import os
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from strangers import Said

import olive_iw as olive
from olive_iw.algorithms import make_spec
from olive_iw.features.vae import LaptopConfig, PaperConfig
from olive_iw.features.vae.files import make_network
from olive_iw.policy.config import PolicyConfig
from olive_iw.processes import forget_peak_memory, peak_memory
from olive_iw.reading import LARGEST_FILE
from olive_iw.runs import pretrained
from olive_iw.runs.config import RunConfig
from olive_iw.runs.run import run

MEMORY = 400_000_000
"""Bytes that refusing a file may take."""
WEIGHTS = "olive-iw"
NO_HASH = "0" * 64
Header = dict[str, Any]


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return an agent's file, of a run that learned a little."""
    folder = tmp_path_factory.mktemp("sent")
    few = {"calls_per_action": 5, "training_actions": 5, "screen_limit": 8, "steps": 1}
    config = RunConfig("grid:collect", make_spec("vae-iw", **few), 60, 1, 3)
    run(config, folder, device="cpu")
    return pretrained.add(config.folder(folder), folder / "shelf").path.read_bytes()


def parts(content: bytes) -> tuple[Header, Header, bytes]:
    """Header, what it says of the agent, and weights."""
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    return header, json.loads(header["__metadata__"][pretrained.ENTRY]), content[end:]


def signed(header: Header, about: Header, data: bytes) -> bytes:
    """Put them together again, with the hash that fits."""
    header["__metadata__"][pretrained.ENTRY] = json.dumps({**about, "sha256": NO_HASH})
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    content = len(text).to_bytes(8, "little") + text + data
    return content.replace(NO_HASH.encode(), sha256(content).hexdigest().encode(), 1)


def refused(content: bytes, folder: Path) -> str:
    """Return the line that refuses a file, which took little memory and left nothing behind."""
    path = folder / "sent.safetensors"
    path.write_bytes(content)
    forget_peak_memory()
    before = peak_memory()
    with pytest.raises(olive.InputError) as error:
        olive.load_pretrained(path).play(olive.make_simulator("grid:collect"), max_actions=1)
    assert peak_memory() - before < MEMORY
    assert str(error.value).isprintable()
    assert "sent.safetensors" in str(error.value)
    assert list(folder.iterdir()) == [path]
    return str(error.value)


def test_signed_anew_it_still_plays(sent: bytes, tmp_path: Path) -> None:
    path = tmp_path / "sent.safetensors"
    path.write_bytes(signed(*parts(sent)))
    agent = olive.load_pretrained(str(path))
    assert agent.play(olive.make_simulator("grid:collect"), max_actions=1).actions


def zipped(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\0" * 7, b"\0" * 8, b"\xff" * 64, b"{}", b"\x80\x04\x8c\x02os\x94."),
        gzip.compress(bytes(300_000_000), 1),
        zipped("archive/data.pkl", bytes(300_000_000)),
        zipped("../../outside", b"text"),
        (2**63).to_bytes(8, "little") + b"{}",
        (40_000_000).to_bytes(8, "little") + b"[" * 40_000_000,
        (40_000_000).to_bytes(8, "little") + b'{"a":' * 8_000_000,
    ],
    ids=lambda content: f"{content[:4]!r}-{len(content)}",
)
def test_bombs_and_other_things(content: bytes, tmp_path: Path) -> None:
    refused(content, tmp_path)


def test_what_is_no_plain_file_or_too_large(sent: bytes, tmp_path: Path) -> None:
    path, real = tmp_path / "agent.safetensors", tmp_path / "real"
    real.write_bytes(sent)
    for make in (path.mkdir, lambda: os.mkfifo(path), lambda: path.symlink_to(real)):
        make()
        with pytest.raises(olive.InputError, match=r"agent\.safetensors"):
            olive.load_pretrained(path)
        path.rmdir() if path.is_dir() else path.unlink()
    with path.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(olive.InputError, match="larger than 64 MB"):
        olive.load_pretrained(path)


@pytest.mark.filterwarnings("always")  # that it was trained on another
@pytest.mark.parametrize("game", ["../../x", "/etc/passwd", "gym:os:Env-v0", "\0", "..", ""])
def test_a_game_that_leads_elsewhere_leads_nowhere(
    game: str, sent: bytes, tmp_path: Path, command: Callable[..., Said]
) -> None:
    header, about, data = parts(sent)
    about["config"]["game"] = game
    path = tmp_path / "agents" / "sent.safetensors"
    path.parent.mkdir()
    path.write_bytes(signed(header, about, data))
    said = command("play", "grid:collect", "--agent", path, "--max-actions", 1)
    assert said.code == 0
    assert "warning: this agent was trained on" in said.err
    assert all(line.isprintable() for line in said.err.splitlines())
    assert list(path.parent.iterdir()) == [path]


def odd_members() -> dict[str, Callable[[Header, bytes], tuple[Header, bytes]]]:
    def put(header: Header, data: bytes, *tensors: tuple[str, str, list[int], int, int]) -> Any:
        for name, kind, shape, first, last in tensors:
            header[name] = {"dtype": kind, "shape": shape, "data_offsets": [first, last]}
        return header, data

    def name_of(header: Header) -> str:
        return next(name for name in header if not name.startswith("__"))

    def drop(header: Header, data: bytes) -> tuple[Header, bytes]:
        return {key: it for key, it in header.items() if key != name_of(header)}, data

    def nan(header: Header, data: bytes) -> tuple[Header, bytes]:
        return header, b"\xff" * len(data)

    return {
        "one more": lambda header, data: put(
            header, data + b"\0" * 8, ("more", "F32", [2], len(data), len(data) + 8)
        ),
        "nothing, of 4096 columns": lambda header, data: put(
            header, data, ("../../more", "F32", [0, 4096], len(data), len(data))
        ),
        "a huge shape": lambda header, data: put(
            header, data, (name_of(header), "F32", [2**40, 2**40], 0, len(data))
        ),
        "overlapping": lambda header, data: put(header, data, ("more", "F32", [2], 0, 8)),
        "beyond the end": lambda header, data: put(
            header, data, ("more", "F32", [2**30], len(data), len(data) + 2**32)
        ),
        "another type": lambda header, data: put(
            header, data + b"\0" * 8, ("more", "I64", [1], len(data), len(data) + 8)
        ),
        "one less": drop,
        "no numbers": nan,
        "a list": lambda header, data: ({**header, "more": [1]}, data),
    }


@pytest.mark.parametrize("what", odd_members())
def test_odd_members(what: str, sent: bytes, tmp_path: Path) -> None:
    header, about, data = parts(sent)
    header, data = odd_members()[what](header, data)
    refused(signed(header, about, data), tmp_path)


@pytest.mark.parametrize(
    ("profile", "table"),
    [
        ("laptop", {"hidden": 4096, "bits": 1024}),
        ("paper", {"channels": 4096}),
        ("paper", {"channels": 700, "bits": 1024}),
    ],
)
@pytest.mark.parametrize("where", ["agent", "weights", "both"])
def test_a_network_that_would_fill_the_memory(
    profile: str, table: Header, where: str, sent: bytes, tmp_path: Path
) -> None:
    header, about, data = parts(sent)
    if where != "weights":
        spec = make_spec("vae-iw", profile, **table)
        about["config"] |= RunConfig("grid:collect", spec).to_dict()
    if where != "agent":
        network = json.loads(header["__metadata__"][WEIGHTS])
        usual = {"slope": 0.01, "bits": 20, **({"dropout": 0.2} if profile == "paper" else {})}
        network |= {"profile": profile, "version": "1", "config": {**usual, **table}}
        header["__metadata__"][WEIGHTS] = json.dumps(network)
    assert "smaller than" in refused(signed(header, about, data), tmp_path)


@pytest.mark.parametrize(
    "config",
    [
        *(LaptopConfig(), LaptopConfig(bits=1, hidden=1), LaptopConfig(bits=1024)),
        *(PaperConfig(), PaperConfig(bits=1, channels=1), PaperConfig(bits=512, channels=8)),
    ],
    ids=str,
)
def test_no_network_is_larger_than_its_weights(config: LaptopConfig | PaperConfig) -> None:
    network = safetensors.numpy.save(make_network(config).weights())
    assert 4 * config.weights <= len(network)


@pytest.mark.parametrize("side", [36, 44, 63, 64, 84, 256])
@pytest.mark.parametrize("third", [False, True])
def test_no_policy_is_larger_than_its_weights(side: int, third: bool) -> None:
    torch = pytest.importorskip("torch", reason="the extra torch is not installed")
    from olive_iw.policy.network import PolicyNetwork

    config = PolicyConfig(side=side, third=third, channels=5, hidden=7)
    with torch.device("meta"):
        network = PolicyNetwork(config, actions=2)
    assert config.weights <= sum(np.prod(it.shape) for it in network.parameters())
