"""Where networks run: device, threads, memory, and generators of torch."""

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Generator

from olive_iw.errors import InputError


def choose_device(name: str = "auto") -> torch.device:
    """Device by name: cpu, cuda, mps, or auto for the fastest there is."""
    there = ["cuda"] if torch.cuda.is_available() else []
    there += ["mps"] if torch.backends.mps.is_available() else []
    there += ["cpu"]
    if name not in ("auto", "cpu", "cuda", "mps"):
        raise InputError(f"unknown device {name!r}; known: auto, cpu, cuda, mps")
    if name not in ("auto", *there):
        raise InputError(f"device {name!r} is not there; this machine has: {', '.join(there)}")
    return torch.device(there[0] if name == "auto" else name)


def torch_generator(random: np.random.Generator, device: torch.device | str = "cpu") -> Generator:
    """Make a generator of torch, seeded by a draw from one of numpy."""
    # Torch's generators cannot be spawned from ours, only seeded.
    return Generator(device).manual_seed(int(random.integers(2**63)))


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread meanwhile: results then do not depend on the number of cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def kept_memory() -> Iterator[None]:
    """Let the process use large freed blocks again meanwhile; only glibc (Linux) needs telling.

    A layer of the paper network has 64 MB at a batch of 64. glibc asks the system for every such
    block and gives it back when it is freed, so that each step's memory is mapped and zeroed page
    by page: some 600,000 page faults a step, 2.7 of its 9.3 seconds in a virtual machine.
    """
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if library is None or not hasattr(library, "mallopt"):
        yield
        return
    largest_from_heap, kept_at_top = -3, -1  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, in bytes
    library.mallopt(largest_from_heap, 2**31 - 1)
    library.mallopt(kept_at_top, 2**31 - 1)
    try:
        yield
    finally:
        # Not its first values: these are where it gets by itself once large blocks were freed.
        library.mallopt(largest_from_heap, 32 * 2**20)
        library.mallopt(kept_at_top, 64 * 2**20)
        library.malloc_trim(0)
