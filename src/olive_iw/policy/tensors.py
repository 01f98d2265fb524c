"""Tensors on disk: safetensors, which hold numbers and nothing that could be run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors.torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from olive_iw.errors import DamagedFileError
from olive_iw.files import atomic_write
from olive_iw.reading import open_plain, parse_json

KEY = "olive-iw"


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str]) -> None:
    """Write tensors, and a text about them, as a whole or not at all."""
    plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    with atomic_write(path) as aside:
        aside.write_bytes(safetensors.torch.save(plain, metadata))


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `write_tensors` wrote, the text as a JSON object; `DamagedFileError` otherwise."""
    open_plain(path).close()
    try:
        with safe_open(path, framework="pt") as file:
            about = parse_json((file.metadata() or {}).get(KEY, "{}"), path)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise DamagedFileError(path, f"is corrupt or no safetensors file ({error})") from None
    return tensors, about
