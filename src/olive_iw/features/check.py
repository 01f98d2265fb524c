"""Do features keep their contract? For those who write some of their own."""

import numpy as np

from olive_iw.features.base import Atoms, AtomsError, Features, check_atoms
from olive_iw.randomness import generator
from olive_iw.simulators.base import Simulator, Step


def check_features(
    features: Features, simulator: Simulator, *, seed: int = 0, steps: int = 25
) -> None:
    """Compute the atoms of a random walk of `steps` steps, twice; `InputError` if they are wrong.

    Atoms must be int32, sorted, unique, in [0, size), the same for the same steps, and not
    change afterwards.
    """
    walk, random = [simulator.reset()], generator(seed)
    for _ in range(steps):
        action = int(random.integers(simulator.action_count))
        walk.append(simulator.reset() if walk[-1].terminal else simulator.step(action))
    first = _along(features, simulator, walk)
    kept = [atoms.copy() for atoms in first]  # features may write into arrays that they gave
    again = _along(features, simulator, walk)
    name = f"the features {type(features).__name__}"
    for number, (atoms, before, after) in enumerate(zip(first, kept, again, strict=True)):
        if not np.array_equal(atoms, before):
            raise AtomsError(f"{name} changed the atoms of step {number} afterwards: give copies")
        if not np.array_equal(atoms, after):
            raise AtomsError(
                f"{name} gave other atoms for step {number} of the same walk: "
                "prepare must forget what was before"
            )


def _along(features: Features, simulator: Simulator, walk: list[Step]) -> list[Atoms]:
    """Atoms of each step of a walk, in the form that they must have."""
    features.prepare(simulator, walk[0])
    found = []
    for number, step in enumerate(walk):
        atoms = check_atoms(features.of_step(step, walk[number - 1] if number else None), features)
        problem = None
        if atoms.dtype != np.int32:
            problem = f"are {atoms.dtype}, not int32"
        elif (np.diff(atoms) <= 0).any():
            problem = "are not sorted, or not unique"
        elif len(atoms) and not 0 <= atoms[0] <= atoms[-1] < features.size:
            problem = f"are outside [0, {features.size})"
        if problem is not None:
            raise AtomsError(f"atoms of {type(features).__name__} {problem}, at step {number}")
        found.append(atoms)
    return found
