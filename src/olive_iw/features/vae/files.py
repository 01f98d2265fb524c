"""Weights on disk: safetensors, with the configuration in the file's metadata."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from olive_iw.errors import InputError, needing
from olive_iw.features.vae.config import ADDED_TO_NETWORK, PROFILES, LaptopConfig, VaeConfig
from olive_iw.features.vae.network import Network
from olive_iw.files import atomic_write
from olive_iw.reading import parse_json

KEY = "olive-iw"
FORMAT = "olive-iw binary-vae"
VERSIONS = {"laptop": "2", "paper": "1"}
"""What is written. Laptop networks of version 1 were trained by torch: they load and play, but a
training that began with one would not end as it would have."""


def make_network(config: VaeConfig, device: str = "cpu") -> Network:
    """Network of a configuration; its weights are not set yet. The paper's needs torch."""
    if isinstance(config, LaptopConfig):
        from olive_iw.features.vae.laptop import LaptopNetwork

        return LaptopNetwork(config)
    with needing("torch", "the profile paper"):
        from olive_iw.features.vae.paper import PaperNetwork

    return PaperNetwork(config, device)


def save_network(network: Network, path: Path) -> None:
    """Write a network's weights and configuration."""
    config = dataclasses.asdict(network.config)
    for name, value in ADDED_TO_NETWORK.items():
        if config[name] == value:  # version 0.1.0 can read what it could have written
            del config[name]
    profile = network.config.profile
    description = {
        "format": FORMAT,
        "version": VERSIONS[profile],
        "profile": profile,
        "config": config,
    }
    # Under one name, because the file's order of several names changes from run to run.
    content = safetensors.numpy.save(network.weights(), {KEY: json.dumps(description)})
    with atomic_write(path) as aside:
        aside.write_bytes(content)


def load_network(path: Path, device: str = "cpu") -> Network:
    """Network of a file."""
    config, weights = read_weights(path)
    network = make_network(config, device)
    network.set_weights(weights)
    return network


def read_weights(path: Path) -> tuple[VaeConfig, dict[str, NDArray[Any]]]:
    """Read configuration and weights of a file; `InputError` if they are no network's."""
    metadata, weights = _parts(path)
    try:
        # Of the profile only its type counts; the numbers are the file's own.
        profile, *_ = PROFILES.known(str(metadata.get("profile", "")))
        config: VaeConfig = type(profile)(**{**ADDED_TO_NETWORK, **metadata["config"]})
    except (KeyError, TypeError, InputError) as error:
        raise InputError(f"{path} holds no configuration of a network: {error}") from error
    # Before memory is taken for them: a small file may describe a huge network.
    if path.stat().st_size < 4 * config.weights:
        raise InputError(f"{path} is smaller than the network that it describes")
    expected, found = _shapes(make_network(config).weights()), _shapes(weights)
    if found != expected:
        wrong = ", ".join(sorted(dict(expected.items() ^ found.items())))
        raise InputError(
            f"{path} does not hold the {config.profile} architecture; "
            f"expected other shapes or types of {wrong}"
        )
    bad = [name for name, tensor in weights.items() if not np.isfinite(tensor).all()]
    if bad:
        raise InputError(f"{path} holds weights that are no finite numbers: {', '.join(bad)}")
    return config, weights


def trained_by_torch(path: Path) -> bool:
    """Whether a file holds a laptop network of a time when torch trained it."""
    metadata, _ = _parts(path)
    return (metadata.get("profile"), metadata.get("version")) == ("laptop", "1")


def _parts(path: Path) -> tuple[Mapping[str, Any], dict[str, NDArray[Any]]]:
    """Metadata and tensors of a file of weights."""
    if not path.is_file():
        raise InputError(f"{path} is not there; expected a file of weights ({FORMAT})")
    try:
        with safe_open(path, framework="np") as file:
            metadata = parse_json((file.metadata() or {}).get(KEY, "{}"), path)
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except (SafetensorError, TypeError) as error:  # the latter for types that numpy has not
        raise InputError(f"{path} is corrupt or no safetensors file ({error})") from error
    if metadata.get("format") != FORMAT:
        held = metadata.get("format", "safetensors without a format")
        raise InputError(f"{path} holds {held!r}; expected {FORMAT!r}")
    if metadata.get("version") not in VERSIONS.values():
        known = " or ".join(sorted(map(repr, VERSIONS.values())))
        raise InputError(f"{path} has format version {metadata.get('version')!r}; expected {known}")
    return metadata, weights


def _shapes(weights: Mapping[str, NDArray[Any]]) -> dict[str, tuple[tuple[int, ...], str]]:
    return {name: (tensor.shape, str(tensor.dtype)) for name, tensor in weights.items()}
