"""What the rules fit to the game from decision to decision: the grain, pardons and noise."""

import math
from dataclasses import dataclass, field
from typing import final

import numpy as np
from xxhash import xxh3_64_intdigest

from olive_iw.features.base import Atoms
from olive_iw.planners.house_rules import HouseRules
from olive_iw.randomness import generator

PATIENCE = 4
"""Decisions between two changes of the grain."""
SLACK = 1.5
"""Factor by which rollouts may be too short or too deep before the grain changes."""
PLAIN_SPELL, NOISY_SPELL = 10, 100
"""Decisions after which fit = noise asks whether noise is wanted: without it, and with it for the
first time in an episode; every further spell with it is twice as long."""
USUAL_NOISE = 0.1
"""Noise that fit = noise switches on where the rules do not say how much."""
UNDECIDED = 0.1
"""Share of decisions that may be ties before fit = noise wants noise."""
MOST_LOG_ODDS = 5.0
"""Bounds of the log odds of a pardon that is fitted; below the lower one there is none."""


@final
@dataclass(slots=True)
class Fitted:
    """What changes from decision to decision, so that the search's shape fits the game."""

    rules: HouseRules
    grains: tuple[int, ...]
    """Grains at which the features can be read, ascending."""
    generator: np.random.Generator
    """Of noise and pardons."""
    grain: int = field(init=False)
    """The one at which they are read now."""
    salt: int = 0
    """What the noise of every state is drawn from, with its true bits."""
    of_state: bool = False
    """Whether nodes of this decision have the noise of their states, not one of their own."""
    noisy: bool = field(init=False)
    """Whether there is noise now; fit = noise switches it."""
    spell: int = NOISY_SPELL
    """Decisions for which it then stays on."""
    plain: int = 0
    """Decisions of the episode without noise, where noise is fitted and actions differ."""
    undecided: float = 0.0
    """Share of them that were ties."""
    log_odds: float = -MOST_LOG_ODDS
    """Of a pardon."""
    lack: float = 0.0
    """Mean of log(wanted depth / depth of rollouts) over about `PATIENCE` decisions; where noise
    is fitted, over the `plain` ones."""
    unchanged: int = 0
    """Decisions since the grain changed, or since it was last asked whether noise is wanted."""

    def __post_init__(self) -> None:
        finest = self.rules.fit == "grain" and self.rules.grain == 1
        self.grain = self.grains[-1] if finest else self.rules.grain
        self.noisy = self.rules.fit != "noise"
        if self._takes_turns:
            self.salt, self.of_state = int(self.generator.integers(2**32)), True

    # Noise

    @property
    def _chance(self) -> float:
        """Chance of a bit to be flipped, where there is noise."""
        return self.rules.noise or (USUAL_NOISE if self.rules.fit == "noise" else 0.0)

    @property
    def _takes_turns(self) -> bool:
        """Whether noise is of nodes in some decisions, and of states in the others."""
        return self.rules.fit == "noise"

    def start_decision(self) -> None:
        """Draw whose noise this decision has, if they take turns."""
        if self._takes_turns:
            self.of_state = bool(self.generator.random() < 0.5)

    def noisy_atoms(self, atoms: Atoms, size: int) -> Atoms:
        """Draw a node's atoms, of `size` bits: each true or false one may be flipped."""
        if not self._chance or not self.noisy:
            return atoms
        source = self.generator
        if self.of_state:
            source = generator(self.salt, xxh3_64_intdigest(atoms.tobytes()))
        bits = source.random(size) < self._chance
        bits[atoms] ^= True
        return np.flatnonzero(bits).astype(np.int32)

    # Depth

    @property
    def pardon(self) -> float:
        """Chance of a node that shows nothing new to be passed."""
        if self.log_odds <= -MOST_LOG_ODDS:
            return 0.0
        return 1 / (1 + math.exp(-self.log_odds))

    def fit(self, depth: float, undecided: bool | None = None) -> None:
        """Learn from the mean depth of a decision's rollouts whether they are too short or deep.

        `undecided` is what `Search.undecided` says after them.
        """
        if self.rules.fit == "none":
            return
        lack = math.log(self.rules.wanted_depth / max(depth, 1.0))
        self.unchanged += 1
        if self.rules.fit == "noise":
            self._fit_noise(lack, undecided)
            return
        self.lack += (lack - self.lack) / PATIENCE
        if self._fit_grain():
            return
        moved = self.log_odds + lack / 2
        self.log_odds = min(max(moved, -MOST_LOG_ODDS), MOST_LOG_ODDS)

    def _fit_grain(self) -> bool:
        """Take the next finer or coarser grain if it is time; False if only pardons can help."""
        finest = self.grains[-1]
        place = self.grains.index(self.grain)
        if self.lack > math.log(SLACK) and self.grain == finest:
            return False
        if self.log_odds > -MOST_LOG_ODDS:  # pardons are taken back before the grain is
            return False
        if self.unchanged >= PATIENCE and abs(self.lack) > math.log(SLACK):
            self.grain = self.grains[max(0, place + (1 if self.lack > 0 else -1))]
            self.unchanged = 0
        return True

    def _fit_noise(self, lack: float, undecided: bool | None) -> None:
        """Switch noise on where rollouts are short and do not decide; off, to ask again.

        Elsewhere it would only make old what is to be found new. Moments in which it does not
        matter what is done, such as a game's fanfare, tell nothing.
        """
        if self.noisy:
            if self.unchanged == self.spell:
                self.noisy, self.unchanged, self.spell = False, 0, 2 * self.spell
        elif undecided is None:
            self.unchanged -= 1
        else:
            self.plain += 1
            self.lack += (lack - self.lack) / self.plain
            self.undecided += (undecided - self.undecided) / self.plain
            if self.unchanged == PLAIN_SPELL:
                self.noisy = self.lack > math.log(SLACK) and self.undecided > UNDECIDED
                self.unchanged = 0
