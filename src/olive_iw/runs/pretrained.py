"""Trained agents as compact files, which the package ships: what was learned, and where it is from.

Such a file is the network's own, with one more entry in the metadata: the configuration, versions
and result of the run that it was made from, and a hash of everything in the file.
"""

import dataclasses
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from olive_iw.agents import Agent
from olive_iw.agents.learner import WEIGHTS, NetworkLearner, Progress
from olive_iw.algorithms import build_agent, load_agent
from olive_iw.errors import DamagedFileError, InputError
from olive_iw.files import atomic_write
from olive_iw.reading import fill, parse_json, read_bytes
from olive_iw.runs.config import RunConfig, folder_name
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.records import Result

SHELF = Path(__file__).with_name("pretrained")
"""Where the package keeps its own."""
ENDING = ".safetensors"
FORMAT = 1
ENTRY = "olive-iw pretrained"
_METADATA = "__metadata__"
_NO_HASH = "0" * 64
"""What stands in place of the hash while it is computed."""


@dataclass(frozen=True, slots=True)
class Pretrained:
    """What a file says about its agent; its hash is right."""

    path: Path
    config: RunConfig
    """Of the run that trained it."""
    result: Result
    """What the run came to, with the versions of the packages."""
    progress: Progress

    @property
    def description(self) -> str:
        """How it was trained and what it scored, in a line."""
        result, spec = self.result, self.config.spec
        games, cap = len(result.scores), self.config.max_actions
        mean = sum(result.scores) / games
        return (
            f"{spec.label}, seed {spec.seed}, {result.training_calls:,} training calls: scored "
            f"{mean:,.1f}".removesuffix(".0")
            + f" ({games} game{'s' * (games != 1)} of at most {cap:,} actions, "
            f"{result.calls_per_action:,} calls per action)"
        )

    def load(self, device: str = "auto", **settings: Any) -> Agent:
        """Make the agent; given settings take the place of its own."""
        agent = build_agent(self.config.spec.changed(**settings), device)
        assert isinstance(agent.learner, NetworkLearner)  # as `read` has seen
        agent.learner.load_weights(self.path)
        agent.learner.progress = dataclasses.replace(self.progress)
        agent.trained_on = self.config.game
        return agent


def load_pretrained(game: str | Path, device: str = "auto", **settings: Any) -> Agent:
    """Agent that was trained on a game and is shipped with the package; it plays at once.

    Instead of a game, a file that `olive-iw pretrained add` made may be given, by its `Path` or by
    its name, which ends in `.safetensors`.
    Settings take the place of those it was trained with, for example `calls_per_action=50`. The
    screens it learned from are not in the file: trained further, it learns from new ones alone.
    """
    is_file = isinstance(game, Path) or game.endswith(ENDING)
    found = read(Path(game)) if is_file else find(str(game))
    if found is None:
        raise InputError(
            f"there is no pretrained agent for {game!r} ('olive-iw list pretrained' shows all); "
            "train one: olive-iw run GAME"
        )
    return found.load(device, **settings)


def find(game: str) -> Pretrained | None:
    """Return what is shipped for a game, if anything is."""
    path = SHELF / (folder_name(game) + ENDING)
    return read(path) if path.is_file() else None


def shipped() -> Iterator[Pretrained]:
    """All that are shipped, by their games' names."""
    return map(read, sorted(SHELF.glob(f"*{ENDING}")))


def read(path: Path) -> Pretrained:
    """Read what a file says about its agent, and check its hash; the weights are not loaded."""
    content = read_bytes(path)
    header, _ = _parts(content, path)
    entry = header[_METADATA].get(ENTRY)
    if not isinstance(entry, str):
        raise DamagedFileError(path, "is no pretrained agent; 'olive-iw pretrained add' makes them")
    fields = parse_json(entry, path)
    if fields.get("format") != FORMAT:
        raise DamagedFileError(path, f"is not of this version's format, {FORMAT}")
    digest = str(fields.get("sha256"))
    unsigned = content.replace(digest.encode(), _NO_HASH.encode(), 1)
    if not re.fullmatch("[0-9a-f]{64}", digest) or sha256(unsigned).hexdigest() != digest:
        raise DamagedFileError(path, "has been changed since it was made: its hash is another")
    tables = [fields.get(name) for name in ("config", "result", "progress")]
    config, result, progress = (table if isinstance(table, dict) else {} for table in tables)
    made = RunConfig.from_dict(config, path)
    found = fill(Result, result, path), fill(Progress, progress, path)
    if not made.spec.parts.trains_network or not found[0].scores:
        raise DamagedFileError(path, "is no pretrained agent: it has learned or played nothing")
    if len(content) < 4 * made.spec.network.weights:
        raise DamagedFileError(path, "is smaller than the network that it describes")
    return Pretrained(path, made, *found)


def add(folder: Path, shelf: Path = SHELF) -> Pretrained:
    """Make the file of a finished run's agent, in the place of an earlier one of the same game."""
    run = RunFolder(folder)
    if not run.finished or not run.begun:
        raise InputError(f"{folder} is not the folder of a finished run: its score is not known")
    config = run.config()
    if not config.spec.parts.trains_network:
        raise InputError(f"{folder}: {config.spec.algorithm} learns nothing that could be kept")
    checkpoint = run.checkpoint()
    agent = load_agent(checkpoint, "cpu")
    if agent.learner is None or agent.spec != config.spec:
        raise DamagedFileError(checkpoint, "is not of the run that config.toml describes")
    weights = checkpoint / WEIGHTS
    header, data = _parts(read_bytes(weights), weights)
    fields = {
        "sha256": _NO_HASH,
        "format": FORMAT,
        "config": run.settings(),
        "result": dataclasses.asdict(run.read_result()),
        "progress": dataclasses.asdict(agent.learner.progress),
    }
    header[_METADATA][ENTRY] = json.dumps(fields)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # the format wants the weights aligned
    content = len(text).to_bytes(8, "little") + text + data
    signed = content.replace(_NO_HASH.encode(), sha256(content).hexdigest().encode(), 1)
    shelf.mkdir(parents=True, exist_ok=True)
    path = shelf / (folder_name(config.game) + ENDING)
    with atomic_write(path) as aside:
        aside.write_bytes(signed)
    return read(path)


def _parts(content: bytes, path: Path) -> tuple[dict[str, Any], bytes]:
    """Header of a safetensors file, and its weights: the header's length stands before it."""
    end = 8 + int.from_bytes(content[:8], "little")
    header = parse_json(content[8:end].decode(errors="replace"), path)
    if not isinstance(header.get(_METADATA), dict):
        raise DamagedFileError(path, "is no file of weights that this package wrote")
    return header, content[end:]
