"""Weights on disk: safetensors, with the configuration in the file's metadata."""

import dataclasses
import json
from pathlib import Path

import safetensors.torch
from safetensors import SafetensorError, safe_open
from torch import Generator, Tensor

from olive_iw.errors import InputError
from olive_iw.features.binary_vae.config import ADDED_TO_NETWORK, PROFILES, VaeConfig
from olive_iw.features.binary_vae.model import Vae, build
from olive_iw.files import atomic_write
from olive_iw.reading import parse_json

KEY = "olive-iw"
FORMAT = "olive-iw binary-vae"
VERSION = "1"


def save_network(network: Vae, path: Path) -> None:
    """Write a network's weights and configuration."""
    tensors = {name: tensor.contiguous() for name, tensor in network.state_dict().items()}
    config = dataclasses.asdict(network.config)
    for name, value in ADDED_TO_NETWORK.items():
        if config[name] == value:  # version 0.1.0 can read what it could have written
            del config[name]
    description = {
        "format": FORMAT,
        "version": VERSION,
        "profile": network.config.profile,
        "config": config,
    }
    # Under one name, because the file's order of several names changes from run to run.
    with atomic_write(path) as aside:
        aside.write_bytes(safetensors.torch.save(tensors, {KEY: json.dumps(description)}))


def load_network(path: Path) -> Vae:
    """Network of a file, on the CPU, in evaluation mode."""
    if not path.is_file():
        raise InputError(f"{path} is not there; expected a file of weights ({FORMAT})")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = parse_json((file.metadata() or {}).get(KEY, "{}"), path)
            tensors: dict[str, Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except SafetensorError as error:
        raise InputError(f"{path} is corrupt or no safetensors file ({error})") from error
    if metadata.get("format") != FORMAT:
        held = metadata.get("format", "safetensors without a format")
        raise InputError(f"{path} holds {held!r}; expected {FORMAT!r}")
    if metadata.get("version") != VERSION:
        raise InputError(
            f"{path} has format version {metadata.get('version')!r}; expected {VERSION!r}"
        )
    try:
        profile, *_ = PROFILES.known(str(metadata.get("profile", "")))
        config: VaeConfig = type(profile)(**{**ADDED_TO_NETWORK, **metadata["config"]})
    except (KeyError, TypeError, InputError) as error:
        raise InputError(f"{path} holds no configuration of a network: {error}") from error
    network = build(config, Generator().manual_seed(0))
    expected, found = _shapes(network.state_dict()), _shapes(tensors)
    if found != expected:
        wrong = ", ".join(sorted(dict(expected.items() ^ found.items())))
        raise InputError(
            f"{path} does not hold the {config.profile} architecture; "
            f"expected other shapes or types of {wrong}"
        )
    bad = [name for name, tensor in tensors.items() if not bool(tensor.isfinite().all())]
    if bad:
        raise InputError(f"{path} holds weights that are no finite numbers: {', '.join(bad)}")
    network.load_state_dict(tensors)
    return network


def _shapes(tensors: dict[str, Tensor]) -> dict[str, tuple[tuple[int, ...], str]]:
    return {name: (tuple(tensor.shape), str(tensor.dtype)) for name, tensor in tensors.items()}
