"""Noise: learned bits are flipped by chance, where plain reading decides nothing.

Noise of nodes lets walks pass what they have met: few long rollouts. Noise of states is drawn once
in an episode for every set of true bits, so that what was met is not new again: many shorter
rollouts. Some games want to look far, others near, so a coin decides before every decision.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

import numpy as np
from xxhash import xxh3_64_intdigest

from olive_iw.arithmetic import log
from olive_iw.errors import InputError
from olive_iw.features.base import Atoms, BitFeatures, Features
from olive_iw.randomness import generator
from olive_iw.rules.grain import SLACK, Fit
from olive_iw.search.decision import best_actions
from olive_iw.search.rule import Rule, Stream
from olive_iw.search.search import Search
from olive_iw.search.tree import NONE, ROOT
from olive_iw.settings import Range

PLAIN_SPELL, NOISY_SPELL = 10, 100
"""Decisions after which it asks whether noise is wanted: without it, and with it for the first time
in an episode; every further spell with it is twice as long."""
USUAL = 0.1
"""Noise that it switches on where its numbers do not say how much."""
UNDECIDED = 0.1
"""Share of decisions that may be ties before noise is wanted."""


@final
@dataclass(unsafe_hash=True)
class Noise(Rule):
    """Flips learned bits by chance; switches itself on where the game wants it."""

    neutral: ClassVar = {"noise": 0.0, "fit": "none"}

    noise: Annotated[float, Range(0, 1)] = 0.0
    """Chance of every bit of learned features to be flipped, drawn anew for every node. With fit =
    noise, 0 stands for 0.1, and noise is drawn by turns: for every node, or once for every state.
    """
    fit: Fit = "noise"
    """As in `Grain`: with noise it switches itself on and off."""
    wanted_depth: Annotated[float, Range(1, 100)] = 10.0
    """As in `Grain`."""

    @property
    def acts(self) -> bool:
        """Whether bits may be flipped."""
        return self.noise > 0 or self.fits

    @property
    def fits(self) -> bool:
        """Whether it switches itself on and off."""
        return self.fit == "noise"

    @property
    def moments(self) -> frozenset[str]:
        """Noise that is always there is drawn, and no more."""
        return super().moments if self.fits else frozenset({"check", "start", "perceive"})

    def check(self, features: Features | None) -> None:
        """Raise `InputError` if the features are no bits."""
        if self.noise > 0 and not isinstance(features, BitFeatures):
            raise InputError("noise is for features of bits, such as learned ones")

    def start(self, search: Search) -> None:
        """Begin an episode; what is fitted begins without noise."""
        self.noisy = not self.fits
        """Whether there is noise now."""
        self.of_state = self.fits
        """Whether nodes of this decision have the noise of their states, not one of their own."""
        # With it the noise of states is another one in each episode.
        self._salt = int(search.random(Stream.READING).integers(2**32)) if self.fits else 0
        self._unchanged = 0  # decisions since it was last asked whether noise is wanted
        self._spell = NOISY_SPELL
        self._plain = 0  # decisions without noise in which actions differed, and their means:
        self._lack = 0.0  # of log(wanted depth / depth of rollouts)
        self._undecided = 0.0  # of being a tie

    def start_decision(self, search: Search) -> None:
        """Draw whose noise this decision has."""
        self.of_state = bool(search.random(Stream.READING).random() < 0.5)

    def perceive(self, search: Search, atoms: Atoms) -> Atoms:
        """Flip bits, if there is noise now: each true or false one may be."""
        if not self.noisy or not isinstance(search.features, BitFeatures):
            return atoms
        source = search.random(Stream.READING)
        if self.of_state:  # seeded by the bits themselves: the same noise wherever they are met
            source = generator(self._salt, xxh3_64_intdigest(atoms.tobytes()))
        bits = source.random(search.features.size) < (self.noise or USUAL)
        bits[atoms] ^= True
        return np.flatnonzero(bits).astype(np.int32)

    def after(self, search: Search, depth: float) -> None:
        """Switch noise on where rollouts are short and do not decide; off again after a spell.

        Where they are long it would do harm: noise makes states look old that are new.
        """
        if self.noisy:
            self._unchanged += 1
            if self._unchanged == self._spell:
                # Longer each time: a plain spell costs good decisions, and the game stays the same.
                self.noisy, self._unchanged, self._spell = False, 0, 2 * self._spell
            return
        tied = undecided(search)
        if tied is None:  # no action matters now, as in a game's fanfare: that tells nothing
            return
        self._unchanged += 1
        self._plain += 1
        lack = log(self.wanted_depth / max(depth, 1.0))
        self._lack += (lack - self._lack) / self._plain
        self._undecided += (tied - self._undecided) / self._plain
        if self._unchanged == PLAIN_SPELL:
            self.noisy = self._lack > SLACK and self._undecided > UNDECIDED
            self._unchanged = 0


def undecided(search: Search) -> bool | None:
    """Whether several actions share the greatest value; None if all lead to the same state."""
    tree = search.tree
    children = tree.children[ROOT][tree.children[ROOT] != NONE]
    if (tree.alike[children] == tree.alike[children[:1]]).all():
        return None
    return len(best_actions(tree.action_values())) > 1
