"""Explore: where nothing is to be earned, go where the episode has not been.

Novelty is of one decision. Over an episode it forgets, so that an agent who sees nothing to earn
walks in circles. This rule remembers what the screens of the executed steps have shown, and is
drawn to states that show what was shown least: be safe, earn, else explore.

A screen shows atoms: every colour in every tile (14 rows, 16 columns of them), and one cell, which
is the whole screen seen coarsely: 8×11 mean grey levels, of 8 each. An atom that n executed screens
have shown is worth 1 / (1 + n)²; one that all have shown, nothing.
"""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.bandits.base import Values
from olive_iw.compiled import njit
from olive_iw.features.base import Atoms
from olive_iw.rules.errand import PATIENCE, Sending, way_to
from olive_iw.search.measures import safe_below
from olive_iw.search.search import Search
from olive_iw.search.tree import NONE, ROOT
from olive_iw.search.walk import Walk
from olive_iw.simulators.base import Screen, grey_levels

TILE_ROWS, TILE_COLUMNS, COLOURS = 14, 16, 256
IN_TILES = TILE_ROWS * TILE_COLUMNS * COLOURS
"""Atoms of colours in tiles: (row · 16 + column) · 256 + colour."""
MOST_ATOMS = 4096
"""Atoms of a screen; colours beyond them are not heeded."""
CELL_ROWS, CELL_COLUMNS, CELL_LEVELS = 8, 11, 8
CELLS = 1 << 14
"""Atoms of cells, which come after those of tiles: a cell's hash says which."""
CELL_WORTH = 3.0
"""What a cell is worth in colours of tiles."""
HALFWAY = 5.0
"""Worth of atoms at which a state is worth half of what any can be."""
SIGHT = 0.97
"""What a state is worth less for every action that it is farther away."""
OF_TREE = 0.1
"""How much a node of the tree counts of an executed screen, for where to search."""
STEPS_AHEAD = 8
"""Steps without a loss that must be known to follow a state before it is gone for."""
STEPS_FIRST = 16
"""Steps without a loss that must be known to follow the root before rollouts are sent anywhere."""


@final
@dataclass(unsafe_hash=True)
class Explore(Sending):
    """Leads where the episode has not been: among actions that tie at 0, and in searching far."""

    neutral: ClassVar = {"explore": False}

    explore: bool = True
    """Where nothing is to be earned, go towards the state of the tree that shows most of what the
    screens of the episode have not shown, and search from such states in the calls of
    look_further."""

    def start(self, search: Search) -> None:
        """Begin an episode, of which nothing was seen."""
        self.counts = np.zeros(IN_TILES + CELLS, np.int32)
        """Executed screens that showed each atom."""
        self.steps = 0
        """Executed screens."""
        self.way: list[int] = []
        """Actions from the root to the state that the last decision went for; none: no such."""
        self._forget()

    def start_decision(self, search: Search) -> None:
        """Remember what the executed screen shows."""
        self._forget()
        self.steps += 1
        self.counts[self._atoms_of(search, ROOT)] += 1

    def _forget(self) -> None:
        """Forget what is known of the tree's nodes, which have other numbers in each decision."""
        self._ends, self._atoms = np.zeros(1, np.int64), np.zeros(0, np.int32)
        self._met = np.zeros(0, np.int32)  # nodes that showed each atom, in a search sent somewhere
        self._searched = NONE  # the number of that search
        self._fruitless = 0  # rollouts of it since the last call

    def _atoms_of(self, search: Search, node: int) -> Atoms:
        """Atoms of a node, shape (n,), which it keeps."""
        seen = search.tree.seen[node]
        if self._NOTE not in seen.readings:
            levels = grey_levels(search.simulator)
            seen.readings[self._NOTE] = shown(seen.step.screen, levels)
        return seen.readings[self._NOTE]

    _NOTE: ClassVar = -1
    """Under what nodes keep their atoms; readers of learned bits have numbers above 0."""

    def _look(self, search: Search) -> Atoms:
        """Learn the atoms of the nodes that are new in the tree, and return them."""
        known = len(self._ends) - 1
        new = [self._atoms_of(search, node) for node in range(known, search.tree.size)]
        if not new:
            return self._atoms[:0]
        ends = np.cumsum([len(atoms) for atoms in new]) + self._ends[-1]
        self._atoms = np.concatenate([self._atoms, *new])
        self._ends = np.concatenate([self._ends, ends])
        return self._atoms[self._ends[known] :]

    # Searching

    def walk(self, search: Search, walk: Walk) -> None:
        """Send a rollout, where nothing is to be earned, to where most is new."""
        tree = search.tree
        if not search.far or tree.value[ROOT] != 0:
            return
        new = self._look(search)
        if self._searched != tree.search:
            self._searched, self._fruitless, new = tree.search, 0, self._atoms
            self._met, self._sent = np.zeros_like(self.counts), np.zeros(0, np.int64)
        count(new, self._met)
        if self._fruitless == PATIENCE:
            return
        size = tree.size
        if len(self._sent) != size:  # the tree has grown
            self._sent = np.append(self._sent, np.zeros(size - len(self._sent), np.int64))
            safe, ahead = safe_below(tree.parent[:size], tree.shaped_reward, tree.terminal)
            self._is_safe = bool(ahead[ROOT] >= STEPS_FIRST)
            rows = self._atoms, self._ends, self.counts, self._met
            self._worth = worth(*rows, OF_TREE, self.steps)
            self._worth[~safe | (tree.alike[:size] != tree.action[:size])] = 0.0  # twins neither
        if not self._is_safe:
            return
        target = int((self._worth / (1.0 + self._sent)).argmax())
        while tree.was_entered(target) and tree.solved[target] and self._worth[target] > 0:
            self._worth[target] = 0.0
            target = int((self._worth / (1.0 + self._sent)).argmax())
        self._sent[target] += 1
        self._fruitless += 1
        self.send(walk, tree, target)

    def added(self, search: Search, child: int) -> None:
        """Note that a call was found to be made."""
        self._fruitless = 0

    # Choosing

    def prefer(self, search: Search, best: NDArray[np.int64], values: Values) -> NDArray[np.int64]:
        """Of actions that all earn nothing, take the one towards the state that is worth most."""
        self.way = []
        if values[best[0]] != 0:
            return best
        tree = search.tree
        self._look(search)
        no_met = np.zeros(0, np.int32)
        bonus = worth(self._atoms, self._ends, self.counts, no_met, 0.0, self.steps)
        size = tree.size
        safe, ahead = safe_below(tree.parent[:size], tree.shaped_reward, tree.terminal)
        bonus[~safe | (ahead < STEPS_AHEAD)] = 0.0
        target = _target(tree.parent[:size], tree.action, best, bonus)
        self.way = way_to(tree, target)
        self._forget()
        return np.array(self.way[:1]) if self.way else best


@njit
def shown(screen: Screen, levels: NDArray[np.uint8]) -> Atoms:
    """Atoms of a screen, int32, shape (n,): of its tiles, in the order they are met, and a cell."""
    height, width = screen.shape
    found, count = np.empty(MOST_ATOMS, np.int32), 0
    seen = np.zeros(IN_TILES, np.bool_)
    begins = np.arange(CELL_COLUMNS + 1) * width // CELL_COLUMNS
    tile_of = np.arange(width) * TILE_COLUMNS // width
    cell_of = np.searchsorted(begins, np.arange(width), "right") - 1
    sums, rows = np.zeros((CELL_ROWS, CELL_COLUMNS), np.int64), np.zeros(CELL_ROWS, np.int64)
    of_row, band = np.zeros(CELL_COLUMNS, np.int64), -1
    for row in range(height):
        line, above = screen[row], screen[max(0, row - 1)]
        differs = np.uint8(row == 0)
        for column in range(width):
            differs |= line[column] ^ above[column]
        if differs or row * TILE_ROWS // height != band:  # most rows are the row above
            band = row * TILE_ROWS // height
            for cell in range(CELL_COLUMNS):
                of_row[cell] = 0
            begin = 0
            for end in range(1, width + 1):  # what is of one colour from `begin` to `end`
                if end < width and line[end] == line[begin]:
                    continue
                colour = np.int64(line[begin])
                for cell in range(cell_of[begin], cell_of[end - 1] + 1):
                    across = min(end, begins[cell + 1]) - max(begin, begins[cell])
                    of_row[cell] += levels[colour] * across
                for tile in range(tile_of[begin], tile_of[end - 1] + 1):
                    atom = (band * TILE_COLUMNS + tile) * COLOURS + colour
                    if not seen[atom] and count < MOST_ATOMS - 1:
                        seen[atom], found[count] = True, atom
                        count += 1
                begin = end
        down = row * CELL_ROWS // height
        for cell in range(CELL_COLUMNS):
            sums[down, cell] += of_row[cell]
        rows[down] += 1
    found[count] = IN_TILES + cell_atom(sums, rows, begins)
    return found[: count + 1].copy()


@njit
def cell_atom(
    sums: NDArray[np.int64], rows: NDArray[np.int64], begins: NDArray[np.int64]
) -> np.int32:
    """Hash cells: their sums of grey, shape (8, 11), their rows, and the columns they begin at."""
    key = np.uint64(0)
    for down in range(CELL_ROWS):
        for column in range(CELL_COLUMNS):
            pixels = rows[down] * (begins[column + 1] - begins[column])
            level = CELL_LEVELS * sums[down, column] // max(1, 256 * pixels)
            key = (key ^ np.uint64(level + 1)) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(29)
    return np.int32(key % np.uint64(CELLS))


@njit
def count(atoms: Atoms, counts: NDArray[np.int32]) -> None:
    """Count atoms, each as often as it stands there."""
    for atom in atoms:
        counts[atom] += 1


@njit
def worth(
    atoms: Atoms,
    ends: NDArray[np.int64],
    counts: NDArray[np.int32],
    met: NDArray[np.int32],
    of_met: float,
    steps: int,
) -> Values:
    """Worth of nodes, float64, shape (N,), whose atoms end at ends[1:] of `atoms`.

    counts: executed screens that showed each atom, of `steps`; met: nodes, each `of_met` of one
    """
    found = np.empty(len(ends) - 1)
    all_of_them = 1.0 + steps
    always = 1.0 / (all_of_them * all_of_them)
    for node in range(len(found)):
        total = 0.0
        for atom in atoms[ends[node] : ends[node + 1]]:
            times = 1.0 + counts[atom]
            if of_met:
                times += of_met * met[atom]
            new = max(0.0, 1.0 / (times * times) - always)
            total += new if atom < IN_TILES else CELL_WORTH * new
        found[node] = total / (1.0 + total / HALFWAY)
    return found


@njit
def _target(
    parent: NDArray[np.int32], action: NDArray[np.int32], best: NDArray[np.int64], bonus: Values
) -> int:
    """Node below one of the best actions that is worth most; the root if none is worth anything."""
    first, sight = np.empty(len(parent), np.int32), np.ones(len(parent))
    target, most = 0, 0.0
    for node in range(1, len(parent)):
        first[node] = action[node] if parent[node] == 0 else first[parent[node]]
        sight[node] = SIGHT * sight[parent[node]]
        if sight[node] * bonus[node] > most and (best == first[node]).any():
            target, most = node, sight[node] * bonus[node]
    return target
