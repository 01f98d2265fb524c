"""Where every random number comes from: one seed, and a generator of its own for each part."""

import numpy as np


def generator(seed: int, *key: int) -> np.random.Generator:
    """Return the generator of one part of a run: the descendant `key` of the run's seed sequence.

    `generator(seed, 2, 5)` is what spawning from `SeedSequence(seed)` and then from its child 2
    gives child 5, but without having to spawn the others: a resumed run finds its place again.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def child_seed(seed: int, *key: int) -> int:
    """Seed (64 bits) of one part of a run that makes generators of its own."""
    state = np.random.SeedSequence(seed, spawn_key=key).generate_state(1, np.uint64)
    return int(state[0])
