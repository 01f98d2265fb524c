"""Which nodes a walk may go on from: those that show something new, and whom the rules let pass."""

import math
from collections.abc import Callable
from typing import final

import numpy as np
from numba import njit

from olive_iw.errors import InputError
from olive_iw.features.base import Atoms, BitFeatures, Features, NoisyFeatures, check_grain, grains
from olive_iw.novelty import NoveltyTable, RewardTable, make_novelty_table
from olive_iw.novelty.base import check_range
from olive_iw.planners.fitting import Fitted
from olive_iw.planners.house_rules import HouseRules
from olive_iw.planners.tree import AGAIN, ROOT, Tree
from olive_iw.simulators.base import Screen


@final
class Judge:
    """Judges the nodes of an episode's searches, by the novelty tables and by the rules."""

    def __init__(self, features: Features | None, depth_limit: int, rules: HouseRules) -> None:
        bits = features if isinstance(features, BitFeatures) else None
        if bits is None and (rules.grain > 1 or rules.noise > 0):
            raise InputError("grain and noise are for features of bits, such as learned ones")
        self.features, self.rules = features, rules
        self.grains = (1,) if bits is None else grains(bits.bits_per_place)
        """Grains at which the features can be read, ascending."""
        if bits is not None:
            check_grain(rules.grain, bits.bits_per_place)
        self._of_bits = bits is not None
        self._depth_limit = depth_limit
        self.apart: Callable[[int], int] | None = None
        """Number of the table that a node is judged by, for planners that have several."""
        self._tables: dict[tuple[int, int, int], NoveltyTable] = {}
        self._fresh: dict[int, NoveltyTable] = {}
        self._searched: list[NoveltyTable] = []
        self._rewards: RewardTable | None = None
        self.start(np.random.default_rng(0))

    def start(self, generator: np.random.Generator) -> None:
        """Begin an episode; noise and pardons are drawn from `generator`."""
        self.fitted = Fitted(self.rules, self.grains, generator)
        self.begin(None)

    @property
    def most_calls(self) -> float:
        """Calls that one rollout may make."""
        bounded = self.rules.fit not in ("none", "noise") and not self._far
        return 2 * self.rules.wanted_depth if bounded else math.inf

    # A search

    def start_decision(self) -> None:
        """Forget which tables the last decision used; draw whose noise this one has."""
        self._searched.clear()
        self.fitted.start_decision()

    def begin(self, width: int | None, far: bool = False) -> None:
        """Begin a search that judges at a width (None: nothing).

        One that looks `far` has rollouts that may be as long as they like.
        """
        if width is not None and self.features is None:
            raise InputError("novelty needs features")
        self.width, self.grain, self._far = width, self.fitted.grain, far
        self._fresh = {}
        self._pardoned: set[int] = set()
        if width is not None and self.rules.novelty == "reward":
            self._rewards = self._rewards or RewardTable(self.features.size)  # type: ignore[union-attr]
            self._rewards.start_decision()

    def noisy(self, screen: Screen, atoms: Atoms) -> Atoms:
        """Draw a node's atoms, if the rules want noise: each true or false bit may be flipped."""
        if self.rules.training_mode and isinstance(self.features, NoisyFeatures):
            return self.features.noisy_atoms(screen, self.fitted.generator)
        if self.features is None or not self._of_bits:
            return atoms
        return self.fitted.noisy_atoms(atoms, self.features.size)

    def atoms(self, tree: Tree, node: int) -> Atoms:
        """Atoms of a node as the current search reads them."""
        seen, grain = tree.seen[node], self.grain
        if grain == 1 or self.features is None:
            return seen.atoms
        if grain not in seen.readings:
            seen.readings[grain] = grouped(seen.atoms, grain, self.features.size // grain)
        return seen.readings[grain]

    def new_atoms(self, tree: Tree, node: int, depth: int) -> Atoms:
        """Atoms of a node that are new at a depth, as the current search reads them."""
        if self.width is None:
            return np.empty(0, np.int32)
        atoms = self.atoms(tree, node)
        if self._rewards is not None:
            return atoms[self._rewards.best_of(atoms) < gained(tree, node)]
        return atoms[self._table(tree, node).depth_of(atoms) > self._counted(depth)]

    def _counted(self, depth: int) -> int:
        """Depth as novelty counts it."""
        return 0 if self.rules.novelty == "classic" else depth

    def passes(self, tree: Tree, node: int, depth: int, entered: int) -> bool:
        """Whether novelty lets a walk go on from a node, which it enters as `Tree.enter` says."""
        rules, kept = self.rules, not tree.is_new(node)
        if rules.novelty == "classic" and tree.decision == 1:
            kept = False  # the episode's first root, too, is met for the first time
        if self.width is None or self._outside(tree, node, kept):
            return True
        if rules.max_repeats and (repeats := self.repeats(tree, node)):
            return repeats <= rules.max_repeats
        if entered == AGAIN or (kept and rules.kept_nodes == "known" and node != ROOT):
            again = self._is_new(tree, node, depth, first=False)
            return again or node in self._pardoned or node == ROOT
        if self._is_new(tree, node, depth, first=True) or node == ROOT:
            return True
        pardon = self.fitted.pardon
        if pardon and not tree.is_twin(node) and self.fitted.generator.random() < pardon:
            self._pardoned.add(node)
            return True
        return False

    def _outside(self, tree: Tree, node: int, kept: bool) -> bool:
        """Whether a node passes unasked, and what it shows stays out of the table."""
        rules = self.rules
        if (node == ROOT and not rules.root_in_table) or (
            bool(tree.terminal[node]) and not rules.over_in_table
        ):
            return True
        retested = rules.kept_nodes == "retested" and node != ROOT and not tree.pruned[node]
        return kept and (rules.kept_nodes == "free" or retested)

    def _is_new(self, tree: Tree, node: int, depth: int, first: bool) -> bool:
        """Ask the table; a node that is entered for the first time is written into it."""
        atoms = self.atoms(tree, node)
        if self._rewards is not None:
            rewards, reward = self._rewards, gained(tree, node)
            enter = rewards.enter_first if first else rewards.enter_again
            return enter(atoms, reward)
        table, depth = self._table(tree, node), self._counted(depth)
        return table.enter_first(atoms, depth) if first else table.enter_again(atoms, depth)

    def repeats(self, tree: Tree, node: int) -> int:
        """Count the steps up from a node that showed nothing else than the node above.

        No more are counted than one too many.
        """
        count = 0
        while node != ROOT and count <= self.rules.max_repeats:
            above = int(tree.parent[node])
            if not np.array_equal(self.atoms(tree, node), self.atoms(tree, above)):
                break
            node, count = above, count + 1
        return count

    @property
    def overflowed(self) -> bool:
        """Whether a table of this decision could not take all that was to be remembered."""
        return any(table.overflowed for table in self._searched)

    def close(self) -> None:
        """Give the tables' memory back."""
        self._tables.clear()
        self._rewards = None

    def _table(self, tree: Tree, node: int) -> NoveltyTable:
        """Table that knows what this search has met where a node is."""
        stratum = 0 if self.apart is None else self.apart(node)
        if self.rules.reward_strata:
            stratum = reward_stratum(gained(tree, node))
        if stratum not in self._fresh:
            self._fresh[stratum] = self._emptied(stratum)
        return self._fresh[stratum]

    def _emptied(self, stratum: int) -> NoveltyTable:
        assert self.width is not None, "nothing is judged"
        assert self.features is not None, "checked when the search began"
        key, size = (self.width, self.grain, stratum), self.features.size
        if key not in self._tables:
            size = size if self.grain == 1 else size // self.grain << self.grain
            self._tables[key] = make_novelty_table(self.width, size, self._depth_limit)
        table = self._tables[key]
        table.start_decision()
        self._searched.append(table)
        return table


def gained(tree: Tree, node: int) -> float:
    """Reward on the way from the root to a node, undiscounted, with risk aversion."""
    return float(tree.total[node] - tree.total[ROOT])


def reward_stratum(reward: float) -> int:
    """Class of a path's reward: 0 for none or less, then one for every power of two."""
    return 0 if reward <= 0 else math.floor(math.log2(reward)) + (reward >= 1)


@njit(cache=True)
def grouped(atoms: Atoms, grain: int, groups: int) -> Atoms:
    """Read true bits in groups of `grain`: (group · 2^grain + value) of each, shape (groups,).

    The first bit of a group counts 1 in its value, the next 2, then 4.
    """
    check_range(atoms, groups * grain)
    found = np.empty(groups, np.int32)
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
