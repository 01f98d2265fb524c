"""Which nodes a walk may go on from: those that show something new, and whom the rules let pass."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numba import njit
from xxhash import xxh3_64_intdigest

from olive_iw.errors import InputError
from olive_iw.features.base import Atoms, BitFeatures, Features, NoisyFeatures, check_grain, grains
from olive_iw.novelty import NoveltyTable, RewardTable, make_novelty_table
from olive_iw.novelty.base import check_range
from olive_iw.planners.house_rules import HouseRules
from olive_iw.planners.tree import AGAIN, ROOT, Tree
from olive_iw.randomness import generator
from olive_iw.simulators.base import Screen

PATIENCE = 4
"""Decisions between two changes of the grain."""
SLACK = 1.5
"""Factor by which rollouts may be too short or too deep before the grain changes; with fit = band
also before there are pardons."""
BY_GRAIN = ("grain", "band")
"""Values of fit that change the grain before they pardon."""
PLAIN_SPELL, NOISY_SPELL = 10, 100
"""Decisions after which fit = noise asks whether noise is wanted: without it, and with it for the
first time in an episode; every further spell with it is twice as long."""
USUAL_NOISE = 0.1
"""Noise that fit = noise switches on where the rules do not say how much."""
UNDECIDED = 0.1
"""Share of decisions that may be ties before fit = noise wants noise."""
MOST_LOG_ODDS = 5.0
"""Bounds of the log odds of a pardon that is fitted; below the lower one there is none."""


@dataclass(slots=True)
class Fitted:
    """What changes from decision to decision, so that the search's shape fits the game."""

    generator: np.random.Generator
    """Of noise and pardons."""
    grain: int
    salt: int = 0
    """What the noise of every state is drawn from, with its true bits."""
    of_state: bool = False
    """Whether nodes of this decision have the noise of their states, not one of their own."""
    log_odds: float = -MOST_LOG_ODDS
    """Of a pardon."""
    lack: float = 0.0
    """Mean of log(wanted depth / depth of rollouts) over about `PATIENCE` decisions; where noise
    is fitted, over the `plain` ones."""
    unchanged: int = 0
    """Decisions since the grain changed, or since it was last asked whether noise is wanted."""
    noisy: bool = False
    """Whether fit = noise has switched the noise on."""
    spell: int = NOISY_SPELL
    """Decisions for which it then stays on."""
    plain: int = 0
    """Decisions of the episode without noise, where noise is fitted and actions differ."""
    undecided: float = 0.0
    """Share of them that were ties."""


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
        fits_noise = bits is not None and rules.fit == "noise"
        self._noise = rules.noise or (USUAL_NOISE if fits_noise else 0.0)
        usual = "turns" if fits_noise else "node"
        self._noise_of = usual if rules.noise_of == "auto" else rules.noise_of
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
        finest = self.rules.fit in BY_GRAIN and self.rules.grain == 1
        grain = self.grains[-1] if finest else self.rules.grain
        self.fitted = Fitted(generator, grain)
        if self._noise and self._noise_of != "node":
            self.fitted.salt, self.fitted.of_state = int(generator.integers(2**32)), True
        self.begin(None)

    # Shape: what is fitted from decision to decision

    @property
    def pardon(self) -> float:
        """Chance of a node that shows nothing new to be passed."""
        if self.fitted.log_odds <= -MOST_LOG_ODDS:
            return self.rules.pardon
        return 1 / (1 + math.exp(-self.fitted.log_odds))

    @property
    def most_calls(self) -> float:
        """Calls that one rollout may make."""
        bounded = self.rules.fit not in ("none", "noise") and not self._far
        return 2 * self.rules.wanted_depth if bounded else math.inf

    def fit(self, depth: float, undecided: bool | None = None) -> None:
        """Learn from the mean depth of a decision's rollouts whether they are too short or deep.

        `undecided` is what `Search.undecided` says after them.
        """
        if self.rules.fit == "none":
            return
        now = self.fitted
        lack = math.log(self.rules.wanted_depth / max(depth, 1.0))
        now.unchanged += 1
        if self.rules.fit == "noise":
            self._fit_noise(lack, undecided)
            return
        now.lack += (lack - now.lack) / PATIENCE
        if self.rules.fit in BY_GRAIN and self._fit_grain():
            return
        # As long as there are pardons they follow the depth. So what they aim at is where they
        # would begin: or else a few short rollouts would bring them, and nothing take them back.
        excess = lack - math.log(SLACK) if self.rules.fit == "band" else lack
        moved = now.log_odds + excess / 2
        now.log_odds = min(max(moved, -MOST_LOG_ODDS), MOST_LOG_ODDS)

    def _fit_grain(self) -> bool:
        """Take the next finer or coarser grain if it is time; False if only pardons can help."""
        now, finest = self.fitted, self.grains[-1]
        place = self.grains.index(now.grain)
        if now.lack > math.log(SLACK) and now.grain == finest:
            return False
        if now.log_odds > -MOST_LOG_ODDS:  # pardons are taken back before the grain is
            return False
        if now.unchanged >= PATIENCE and abs(now.lack) > math.log(SLACK):
            now.grain = self.grains[max(0, place + (1 if now.lack > 0 else -1))]
            now.unchanged = 0
        return True

    def _fit_noise(self, lack: float, undecided: bool | None) -> None:
        """Switch noise on where rollouts are short and do not decide; off, to ask again.

        Elsewhere it would only make old what is to be found new. Moments in which it does not
        matter what is done, such as a game's fanfare, tell nothing.
        """
        now = self.fitted
        if now.noisy:
            if now.unchanged == now.spell:
                now.noisy, now.unchanged, now.spell = False, 0, 2 * now.spell
        elif undecided is None:
            now.unchanged -= 1
        else:
            now.plain += 1
            now.lack += (lack - now.lack) / now.plain
            now.undecided += (undecided - now.undecided) / now.plain
            if now.unchanged == PLAIN_SPELL:
                now.noisy = now.lack > math.log(SLACK) and now.undecided > UNDECIDED
                now.unchanged = 0

    # A search

    def start_decision(self) -> None:
        """Forget which tables the last decision used; draw whose noise this one has."""
        self._searched.clear()
        if self._noise and self._noise_of == "turns":
            self.fitted.of_state = bool(self.fitted.generator.random() < 0.5)

    def begin(self, width: int | None, grain: int | None = None, far: bool = False) -> None:
        """Begin a search that judges at a width (None: nothing), and at a grain of its own.

        One that looks `far` has rollouts that may be as long as they like.
        """
        if width is not None and self.features is None:
            raise InputError("novelty needs features")
        self.width, self.grain, self._far = width, grain or self.fitted.grain, far
        self._fresh = {}
        self._pardoned: set[int] = set()
        if width is not None and self.rules.novelty == "reward":
            self._rewards = self._rewards or RewardTable(self.features.size)  # type: ignore[union-attr]
            self._rewards.start_decision()

    def noisy(self, screen: Screen, atoms: Atoms) -> Atoms:
        """Draw a node's atoms, if the rules want noise: each true or false bit may be flipped."""
        if self.rules.training_mode and isinstance(self.features, NoisyFeatures):
            return self.features.noisy_atoms(screen, self.fitted.generator)
        quiet = self.rules.fit == "noise" and not self.fitted.noisy
        if not self._noise or quiet or self.features is None:
            return atoms
        bits = self._source(atoms).random(self.features.size) < self._noise
        bits[atoms] ^= True
        return np.flatnonzero(bits).astype(np.int32)

    def _source(self, atoms: Atoms) -> np.random.Generator:
        """Where the noise of a node comes from: the episode's generator, or its true bits' own."""
        now = self.fitted
        if not now.of_state:
            return now.generator
        return generator(now.salt, xxh3_64_intdigest(atoms.tobytes()))

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
        pardon = self.pardon
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
