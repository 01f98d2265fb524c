"""Your own features: the brightness of coarse cells, beside the ones that come with the package."""

import numpy as np

import olive_iw as olive
from olive_iw.features.image import grey_image
from olive_iw.simulators.base import grey_levels

CELLS, LEVELS = 32, 8  # cells each way; steps of brightness


class Brightness:
    """One atom for each of 32×32 cells: the cell, and how bright it is on average, in 8 steps."""

    size = CELLS * CELLS * LEVELS

    def prepare(self, simulator, first):
        """Learn how bright each colour of the simulator is; comes before each episode."""
        self._levels = grey_levels(simulator)

    def of_step(self, step, previous):
        """Atoms of a step: sorted, unique int32 in [0, size)."""
        image = grey_image(step.screen, self._levels)  # uint8, shape (128, 128)
        side = len(image) // CELLS
        means = image.reshape(CELLS, side, CELLS, side).mean(axis=(1, 3))
        level = (means * LEVELS / 256).astype(np.int32).ravel()
        return np.arange(CELLS * CELLS, dtype=np.int32) * LEVELS + level


def play(features, seed=0):
    """Score and calls of 25 actions of Space Invaders, planning at most 50 calls for each."""
    planner = olive.RolloutIW(features, bandit="ttts")
    planner.start(olive.make_simulator("space_invaders"), seed)
    score = sum(planner.advance(planner.decide(calls=50).action).reward for _ in range(25))
    counters = planner.ledger.counters
    return score, planner.ledger.calls / 25, counters.rollout_depth / counters.rollouts


print("Space Invaders, 25 actions of at most 50 calls each, seed 0:")
print("features              score   calls per action   mean depth of a rollout")
for name, features in (("patches", "patches"), ("bprost", "bprost"), ("ours", Brightness())):
    score, calls, depth = play(features)
    print(f"{name:<20} {score:>6g} {calls:>18.0f} {depth:>25.1f}")
