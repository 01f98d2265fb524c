"""Grain: learned bits are read in groups, as large as makes rollouts as deep as they should be.

Single bits are soon all old: rollouts end at once, near the root. A group of ten bits has a
thousand values, so that more looks new and rollouts go deeper. How deep they go depends on the
game; so the size of the groups follows it, decision by decision. Where even the largest groups are
too few, states that show nothing new are pardoned by chance.
"""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, TypeAlias, final

import numpy as np

from olive_iw.arithmetic import log, sigmoid
from olive_iw.compiled import njit
from olive_iw.errors import InputError
from olive_iw.features.base import (
    MOST_GRAIN,
    Atoms,
    BitFeatures,
    Features,
    check_grain,
    grains,
)
from olive_iw.novelty.base import check_range
from olive_iw.search.node import NodeData
from olive_iw.search.rule import Rule, Stream
from olive_iw.search.search import Search
from olive_iw.search.walk import Walk
from olive_iw.settings import Range

Fit: TypeAlias = Literal["none", "grain", "noise"]
PATIENCE = 4
"""Decisions between two changes of the grain."""
SLACK = math.log(1.5)
"""Log of the factor by which rollouts may be too short or too deep before something changes."""
MOST_LOG_ODDS = 5.0
"""Bounds of the log odds of a pardon; below the lower one there is none."""


@final
@dataclass(unsafe_hash=True)
class Grain(Rule):
    """Reads learned bits in groups; fits the size of the groups to the game."""

    neutral: ClassVar = {"grain": 1, "fit": "none"}

    grain: Annotated[int, Range(1, MOST_GRAIN)] = 1
    """How learned features are read: 1, an atom for every true bit (the paper); more, one for the
    value of every group of so many bits. It must divide the bits of a place (20). Where fit is
    grain, an episode begins with it; 1: with the finest."""
    fit: Fit = "grain"
    """What is fitted to the game, decision by decision, so that rollouts are wanted_depth deep:
    nothing (none); the grain of learned features, and then pardons of states that show nothing new
    (grain); or noise (noise), which is switched on where rollouts without it are less than two
    thirds as deep and more than a tenth of the decisions are ties."""
    wanted_depth: Annotated[float, Range(1, 100)] = 10.0
    """Depth that the rollouts of a decision should have on average, where fit says how. With fit =
    grain no rollout makes more than twice as many calls."""

    @property
    def acts(self) -> bool:
        """Whether bits are read in groups."""
        return self.grain > 1 or self.fits

    @property
    def fits(self) -> bool:
        """Whether the groups follow the game."""
        return self.fit == "grain"

    @property
    def moments(self) -> frozenset[str]:
        """Groups of a fixed size are only read."""
        read = {"check", "start", "begin", "sizes", "read"}
        return super().moments if self.fits else frozenset(read)

    def check(self, features: Features | None) -> None:
        """Raise `InputError` if the features cannot be read so."""
        if isinstance(features, BitFeatures):
            check_grain(self.grain, features.bits_per_place)
        elif self.grain > 1:
            raise InputError("grain is for features of bits, such as learned ones")

    def start(self, search: Search) -> None:
        """Begin an episode at the finest grain, or at the one that was asked for."""
        features = search.features
        bits = features.bits_per_place if isinstance(features, BitFeatures) else 1
        self._grains = grains(bits)
        self.now = self._grains[-1] if self.fits and self.grain == 1 else self.grain
        """Bits of a group as the next search reads them."""
        self._searched = self.now
        self.log_odds = -MOST_LOG_ODDS
        """Of a pardon."""
        # What was fitted is not kept: an episode does not depend on the ones before it.
        self._lack = 0.0  # mean of log(wanted depth / depth) over about `PATIENCE` decisions
        self._unchanged = 0  # decisions since the grain changed
        self._pardoned = set[int]()

    def begin(self, search: Search) -> None:
        """Take the grain for a whole search: it may be fitted anew before the search has ended."""
        self._searched = self.now
        self._pardoned = set()

    # Reading

    def sizes(self, size: int) -> int:
        """Count the values of all groups: 2^grain of each."""
        return size if self.now == 1 else size // self.now << self.now

    def read(self, seen: NodeData, size: int) -> Atoms:
        """Read true bits in groups; a node keeps what was read of it."""
        grain = self._searched
        if grain == 1:
            return seen.atoms
        if grain not in seen.readings:
            seen.readings[grain] = grouped(seen.atoms, grain, size // grain)
        return seen.readings[grain]

    # Pardons, and how long rollouts may be

    @property
    def pardon(self) -> float:
        """Chance of a node that shows nothing new to be passed."""
        return 0.0 if self.log_odds <= -MOST_LOG_ODDS else sigmoid(self.log_odds)

    def pardons(self, search: Search, node: int, first: bool) -> bool:
        """Pardon a node by chance, once for the whole search; a twin never."""
        # Met again, a node is passed as it was the first time: a walk may lead through it.
        if not first or not self.pardon or search.tree.is_twin(node):
            return node in self._pardoned
        if search.random(Stream.READING).random() < self.pardon:
            self._pardoned.add(node)
        return node in self._pardoned

    def stops(self, search: Search, walk: Walk) -> bool:
        """End a rollout that has made twice as many calls as it should be deep."""
        return not search.far and walk.calls >= 2 * self.wanted_depth

    # Fitting

    def after(self, search: Search, depth: float) -> None:
        """Learn from the mean depth of a decision's rollouts whether they are too short or deep."""
        # Logs: twice as deep is as far from what is wanted as half as deep.
        lack = log(self.wanted_depth / max(depth, 1.0))
        self._unchanged += 1
        self._lack += (lack - self._lack) / PATIENCE
        if self._only_pardons_help():
            # Half a step at a time, since a single decision's depth says little.
            self.log_odds = min(max(self.log_odds + lack / 2, -MOST_LOG_ODDS), MOST_LOG_ODDS)
        elif self._unchanged >= PATIENCE and abs(self._lack) > SLACK:
            place = self._grains.index(self.now) + (1 if self._lack > 0 else -1)
            self.now = self._grains[max(0, place)]
            self._unchanged = 0

    def _only_pardons_help(self) -> bool:
        """Whether the grain is as fine as can be; pardons are taken back before it changes."""
        too_short = self._lack > SLACK and self.now == self._grains[-1]
        return too_short or self.log_odds > -MOST_LOG_ODDS


@njit
def grouped(atoms: Atoms, grain: int, groups: int) -> Atoms:
    """Read true bits in groups of `grain`: (group · 2^grain + value) of each, shape (groups,).

    The first bit of a group counts 1 in its value, the next 2, then 4.
    """
    check_range(atoms, groups * grain)
    found = np.empty(groups, np.int32)  # first as if no bit were true
    for number in range(groups):
        found[number] = number << grain
    group, first, value, width = np.uint32(0), np.int32(0), np.int32(0), np.uint32(grain)
    for atom in atoms:
        offset = np.uint32(atom - first)  # the next one is mostly in the same group
        if offset >= width:
            found[group] += value
            group, value = np.uint32(atom) // width, np.int32(0)
            first = np.int32(group * width)
            offset = np.uint32(atom - first)
        value |= np.int32(1) << offset
    found[group] += value
    return found
