"""What tests of strangers' files share: a run to copy and change, and what a command says."""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Said:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out + self.err


def copy_run(folder: Path, to: Path) -> Path:
    shutil.copytree(folder, to)
    (to / "lock").unlink(missing_ok=True)
    return to


def change(path: Path, **entries: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))


def set_seed(folder: Path, seed: int) -> None:
    """Make a run one of another seed, as far as its files say."""
    for path in (*folder.glob("episodes/*.json"), folder / "result.json"):
        change(path, seed=seed)
    config = folder / "config.toml"
    config.write_text(re.sub(r"(?m)^seed = \d+$", f"seed = {seed}", config.read_text()))
