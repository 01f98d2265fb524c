"""HIW: width-based planning on two levels, coarse pictures above and a network's atoms below.

The two levels share one tree. An *area* is what is reached from its first node, the entry, without
the coarse picture changing; a child with another picture is the entry of an area of its own, and
the area above does not go on from it. So returns pass from area to area by themselves.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Annotated, Literal, TypeAlias, Unpack, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.bandits import Bandit
from olive_iw.features import Features
from olive_iw.features.cache import screen_key
from olive_iw.features.image import grey_tiles
from olive_iw.planners.base import Common, Planner
from olive_iw.planners.rollout_iw import GuidedOptions
from olive_iw.search.decision import Stopped, softmax
from olive_iw.search.rule import Stream
from olive_iw.search.search import Search
from olive_iw.search.tree import NONE, ROOT, Tree
from olive_iw.settings import Range
from olive_iw.simulators.base import Simulator, Step, grey_levels

HighWidth: TypeAlias = Literal["tiles", "whole"]
TILE_ROWS, TILE_COLUMNS, TILE_VALUES = 8, 11, 8
VISIT_TEMPERATURE = 0.005


@dataclass(frozen=True)
class HIWOptions(GuidedOptions):
    """Options of HIW."""

    tile_rows: Annotated[int, Range(1, 128)] = TILE_ROWS
    """Rows of tiles of the coarse picture."""
    tile_columns: Annotated[int, Range(1, 128)] = TILE_COLUMNS
    """Columns of tiles of the coarse picture."""
    tile_values: Annotated[int, Range(2, 256)] = TILE_VALUES
    """Steps of grey of a tile of the coarse picture."""
    high_width: HighWidth = "whole"
    """When the coarse picture is new: as a whole (width n), or by a tile's value (width 1)."""
    visit_temperature: Annotated[float, Range(0, 1e9)] = VISIT_TEMPERATURE
    """Temperature of the softmax of 1 / (visits + 1) by which it is drawn where to go on."""


@dataclass(slots=True)
class _Areas:
    """What one decision knows of areas, each by its entry."""

    entry: list[int] = field(default_factory=list)
    """Entry of the area that each node is in."""
    depth: dict[int, int] = field(default_factory=dict)
    """Areas between the root's and each."""
    numbers: dict[int, int] = field(default_factory=dict)
    """Of each area's novelty table."""
    open: dict[bytes, int] = field(default_factory=dict)
    """Areas that can be searched further, by picture."""
    latest: dict[bytes, int] = field(default_factory=dict)
    """The last novel area of each picture, open or not."""
    seen: dict[object, int] = field(default_factory=dict)
    """Least depth of each atom of the pictures."""


@final
class HIW(Planner):
    """Rollouts between areas of equal coarse pictures, and rollouts of π-IW+ within them."""

    options = HIWOptions
    never_asks = frozenset(
        {"leaves_out", "reserve", "again", "further", "after", "stops", "pardons"}
    )
    rolls_out = True
    memory: Counter[bytes]
    """How often areas of each picture were searched in this episode."""

    def __init__(
        self,
        features: str | Features | None,
        bandit: str | Bandit = "policy",
        width: int | None = 1,
        *,
        tile_rows: int = TILE_ROWS,
        tile_columns: int = TILE_COLUMNS,
        tile_values: int = TILE_VALUES,
        high_width: HighWidth = "whole",
        visit_temperature: float = VISIT_TEMPERATURE,
        value_everywhere: bool = False,
        **common: Unpack[Common],
    ) -> None:
        """Assemble a planner.

        features, bandit, width: of rollouts within an area; depths are counted from its entry
        tile_rows, tile_columns, tile_values: of the coarse picture, the mean grey of tiles
        high_width: whether a picture is new as a whole, or by a tile's value
        visit_temperature: of the softmax of 1 / (visits + 1) that an area is drawn from
        value_everywhere: whether a learned value counts where more is known, too
        """
        super().__init__(features, width, bandit, value_everywhere=value_everywhere, **common)
        self._tiles = tile_rows, tile_columns, tile_values
        self.high_width = high_width
        self.visit_temperature = visit_temperature
        self._pictures: dict[bytes, bytes] = {}
        self._levels: NDArray[np.uint8] = np.arange(256, dtype=np.uint8)

    def start(self, simulator: Simulator, seed: int, after: Sequence[int] = ()) -> Step:
        """Begin an episode, in which no picture was visited yet."""
        self._levels, self._pictures = grey_levels(simulator), {}
        self.memory = Counter()
        return super().start(simulator, seed, after)

    def picture(self, node: int) -> bytes:
        """Coarse picture of a node, a byte for every tile."""
        screen = self.tree.seen[node].step.screen
        key = screen_key(screen)
        if key not in self._pictures:
            self._pictures[key] = grey_tiles(screen, self._levels, *self._tiles).tobytes()
        return self._pictures[key]

    def grow(self, search: Search) -> Stopped:
        """Search an area that was rarely visited, then the areas that it leads to; and again."""
        budget, areas = search.ledger.budget, self._begin(search)
        while budget.left and areas.open:
            pictures = list(areas.open)
            shares = visit_shares([self.memory[it] for it in pictures], self.visit_temperature)
            drawn = int(search.random(Stream.BANDIT).choice(len(pictures), p=shares))
            entry = areas.open[pictures[drawn]]
            # Its picture may have been met in an area nearer to the root since it was opened.
            if not self._is_new(pictures[drawn], areas.depth[entry], first=False):
                del areas.open[pictures[drawn]]
                continue
            self._walk(search, entry)
        return search.stopped

    def _begin(self, search: Search) -> _Areas:
        """Begin a search; judge what is kept anew, on both levels, in the order it was made."""
        self._areas = areas = _Areas()
        search.table_of = lambda node: areas.numbers[areas.entry[node]]  # a table for every area
        search.begin(self.width)
        tree = search.tree
        for node in range(tree.size):
            entry = self._place(tree, node)
            depth = int(tree.depth[node] - tree.depth[entry])
            if not search.enter(node, depth):
                self._seal(tree, node)
                tree.solved[node] = True
            elif node == entry:
                self._seal(tree, node)
                self._open(tree, node)
        return areas

    def _place(self, tree: Tree, node: int) -> int:
        """Return the entry of a node's area: the area of the node above, or one of its own."""
        areas, above = self._areas, int(tree.parent[node])
        # A game's last screen, whatever it shows, belongs to the area in which the game ended.
        same = above != NONE and (tree.terminal[node] or self.picture(node) == self.picture(above))
        entry = areas.entry[above] if same else node
        areas.entry.append(entry)
        if not same:
            areas.depth[node] = 0 if above == NONE else areas.depth[areas.entry[above]] + 1
            areas.numbers[node] = len(areas.numbers)
        return entry

    def _walk(self, search: Search, entry: int) -> None:
        """Search an area until it leads into another one, then that one, while these are novel."""
        areas, tree = self._areas, search.tree
        while True:
            picture = self.picture(entry)
            self.memory[picture] += 1
            found = self._search_area(search, entry)
            if found == NONE:
                if not tree.unsolved[entry].any():
                    areas.open.pop(picture, None)
                return
            if not self._open(tree, found):
                return
            entry = found

    def _open(self, tree: Tree, entry: int) -> bool:
        """Take an area in if its picture is new; it replaces an earlier area with this picture."""
        areas, picture = self._areas, self.picture(entry)
        if not self._is_new(picture, areas.depth[entry], first=True):
            return False
        if picture in areas.latest:
            old = areas.latest[picture]
            # What was reached through the earlier area is deeper than need be, and goes with it.
            for other, begins in list(areas.open.items()):
                if old in tree.path(begins):
                    del areas.open[other]
        areas.latest[picture] = areas.open[picture] = entry
        return True

    def _is_new(self, picture: bytes, depth: int, first: bool) -> bool:
        """Whether a picture, or one of its tiles, is new at a depth; `first` enters it.

        As in novelty tables: met only deeper (first), or not met less deep (again).
        """
        seen = self._areas.seen
        atoms: list[object] = [picture] if self.high_width == "whole" else [*enumerate(picture)]
        known = [seen.get(atom, inf) for atom in atoms]
        if not first:
            return any(depth <= it for it in known)
        for atom, it in zip(atoms, known, strict=True):
            seen[atom] = int(min(depth, it))
        return any(depth < it for it in known)

    def _search_area(self, search: Search, entry: int) -> int:
        """Roll out within an area until a new one is entered; NONE if that does not happen."""
        found = NONE
        while found == NONE and search.ledger.budget.left and search.tree.unsolved[entry].any():
            found = self._rollout(search, entry)
        return found

    def _rollout(self, search: Search, entry: int) -> int:
        """Walk from an area's entry to where it ends; return the entry of a new area, or NONE."""
        tree, walk, found = search.tree, search.walk(entry), NONE
        path = walk.path
        while search.enter(path[-1], depth=len(path) - 1):
            action = search.choose(walk)
            child = search.known_child(path[-1], action)
            if child == NONE:
                if not search.ledger.budget.left:
                    break
                child = search.expand(path[-1], action)
                if self._place(tree, child) == child:
                    found = child
            path.append(child)
            if found != NONE:
                search.enter(found, 0)
                self._seal(tree, found)
                break
        else:
            self._seal(tree, path[-1])
            tree.solved[path[-1]] = True
            tree.unsolved[path[-1]] = False  # it may be the entry, which has no action left then
        # From the root, not from the entry: the areas above learn what this one earned.
        search.back_up([*tree.path(entry)[:-1], *path])
        return found

    def _seal(self, tree: Tree, node: int) -> None:
        """Note that nothing is left to search below a node; that goes up to its area's entry."""
        entries = self._areas.entry
        while node != ROOT:
            above = int(tree.parent[node])
            tree.unsolved[above, tree.action[node]] = False
            if tree.unsolved[above].any():
                return
            tree.solved[above] = True
            if above == entries[above]:
                return
            node = above


def visit_shares(visits: Sequence[int], temperature: float) -> NDArray[np.float64]:
    """Shares by which areas are drawn that were visited so often, shape (areas,)."""
    return softmax(1.0 / (np.array(visits, np.float64) + 1.0), temperature)
