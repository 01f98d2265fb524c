"""Where networks run: device, threads, and generators of torch."""

from contextlib import AbstractContextManager, nullcontext

import numpy as np
import torch
from torch import Generator

from olive_iw.errors import InputError
from olive_iw.features.binary_vae.model import LaptopVae, Vae
from olive_iw.features.binary_vae.threads import one_thread


def choose_device(name: str = "auto") -> torch.device:
    """Device by name: cpu, cuda, mps, or auto for the fastest there is."""
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if name == "auto":
        return torch.device(next(device for device, usable in there.items() if usable))
    if name not in there:
        raise InputError(f"unknown device {name!r}; known: auto, cpu, cuda, mps")
    if not there[name]:
        usable = ", ".join(device for device, is_there in there.items() if is_there)
        raise InputError(f"device {name!r} is not there; this machine has: {usable}")
    return torch.device(name)


def torch_generator(
    generator: np.random.Generator, device: torch.device | str = "cpu"
) -> Generator:
    """Make a generator of torch, seeded by a draw from one of numpy."""
    return Generator(device).manual_seed(int(generator.integers(2**63)))


def threads_for(network: Vae) -> AbstractContextManager[None]:
    """One thread while the laptop network works; torch's own number for the paper network.

    The laptop network's matrices are so small that a second thread gains nothing, and where the
    cores are busy the threads wait for each other: 300 steps took 107 s with two threads on two
    busy cores, 3.5 s with one. With one thread results do not depend on the number of cores either.
    """
    return one_thread() if isinstance(network, LaptopVae) else nullcontext()
