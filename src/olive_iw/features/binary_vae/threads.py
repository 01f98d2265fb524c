"""How many threads torch uses."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from olive_iw.features.binary_vae.model import LaptopVae, Vae


@contextmanager
def threads_for(network: Vae) -> Iterator[None]:
    """One thread while the laptop network works; torch's own number for the paper network.

    The laptop network's matrices are so small that a second thread gains nothing, and where the
    cores are busy the threads wait for each other: 300 steps took 107 s with two threads on two
    busy cores, 3.5 s with one. With one thread results do not depend on the number of cores either.
    """
    before = torch.get_num_threads()
    if isinstance(network, LaptopVae):
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
