"""Small deterministic worlds whose widths are known: for tests and first tours.

A world is drawn as a grey 128×128 screen of 16×16 cells, 8×8 pixels each: a cell is exactly one
patch of the image that features look at. The agent always looks the same; that it has the key shows
only in the key being gone from its cell. So the atoms (cell, content) describe a state completely.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from olive_iw.errors import unknown_name
from olive_iw.simulators.base import Step, check_call, read_only

GRID_SIZE = 16
"""Cells in each direction."""
CELL_SIZE = 8
"""Pixels of a cell in each direction."""


class Content(IntEnum):
    """What a cell shows."""

    VOID = 0
    FLOOR = 1
    WALL = 2
    AGENT = 3
    KEY = 4
    DOOR = 5
    OPEN_DOOR = 6
    GOAL = 7
    COIN = 8
    LAVA = 9
    LIFE = 10


# Letter in maps (those without one only come later), ink and paper (grey levels), and the 8×8 bits
# of ink, a byte per row from the top.
_LOOKS = {
    Content.VOID: ("", 0, 0, 0x0000000000000000),
    Content.FLOOR: (".", 64, 48, 0x0000000000000001),
    Content.WALL: ("#", 128, 96, 0xFEFEFE00EFEFEF00),
    Content.AGENT: ("", 255, 48, 0x3C7EDBFFFFC37E3C),
    Content.KEY: ("K", 208, 48, 0x0060909F95650000),
    Content.DOOR: ("D", 160, 32, 0x7EFFFFF9F9FFFFFF),
    Content.OPEN_DOOR: ("", 160, 48, 0x7EC3818181818181),
    Content.GOAL: ("G", 232, 48, 0x40787E7840404040),
    Content.COIN: ("C", 192, 48, 0x003C66DBDB663C00),
    Content.LAVA: ("L", 176, 112, 0x00669900669900FF),
    Content.LIFE: ("", 144, 0, 0x0066FFFF7E3C1800),
}
_LETTERS = {letter: content for content, (letter, *_) in _LOOKS.items()} | {"A": Content.FLOOR}


class World(NamedTuple):
    """A map and its rules."""

    description: str
    """What it is, in one line."""
    rows: tuple[str, ...]
    width: int
    """Smallest w for which breadth-first IW(w) over the atoms (cell, content) finds a reward."""
    lives: int = 0
    """Lives at the start; lava takes one and sends the agent back to its start."""


WORLDS = {
    "corridor": World(
        "a corridor with the goal at its end",
        ("################", "#A............G#", "################"),
        width=1,
    ),
    # The key lies on the only way to the door, so every step of the plan enters a new cell.
    "key-on-path": World(
        "a corridor with a key on the way to its door",
        ("################", "#A...K....D...G#", "################"),
        width=1,
    ),
    # The key lies on no shortest path to another cell, so after taking it the agent only comes
    # where it has been before: what is new is a cell together with the missing key.
    "key-door": World(
        "two rooms, and the key to the door between them in a corner",
        (
            "############",
            "#....#.....#",
            "#....#.....#",
            "#.A..D...G.#",
            "#....#.....#",
            "#K...#.....#",
            "############",
        ),
        width=2,
    ),
    "lava": World(
        "a way between fields of lava, each of which costs a life",
        (
            "############",
            "#A..L..L...#",
            "#...L..L...#",
            "#......L...#",
            "#...L......#",
            "#LLLL..LL.G#",
            "############",
        ),
        width=1,
        lives=3,
    ),
    "collect": World(
        "rooms with coins, which all have to be collected",
        (
            "################",
            "#A....#.....C..#",
            "#.....#........#",
            "#..C..#..###...#",
            "#........#.....#",
            "#.....#..#..C..#",
            "###.###..#.....#",
            "#.....#..###.###",
            "#.C...#........#",
            "#.....#..C.....#",
            "#........#.....#",
            "#.....#..#.....#",
            "###.###..###.###",
            "#.....#........#",
            "#..C..#..#...C.#",
            "################",
        ),
        width=1,
    ),
}
"""Every world by name. Goals and coins give 1; an episode ends at a goal or with the last coin."""


class GridState(NamedTuple):
    """The true state of a world."""

    row: int
    column: int
    taken: frozenset[tuple[int, int]]
    """Cells whose key or coin was taken, or whose door was opened."""
    lives: int


class GridWorld:
    """A small world of known width, one of `WORLDS`, with the actions up, down, left and right.

    A move into a wall, or into the door without the key, changes nothing.
    """

    action_names = ("UP", "DOWN", "LEFT", "RIGHT")
    action_count = len(action_names)

    def __init__(self, name: str) -> None:
        if name not in WORLDS:
            raise unknown_name("grid world", name, WORLDS)
        world = WORLDS[name]
        self.name = name
        self.width = world.width
        self._map, start = _read_map(world.rows)
        self._start = GridState(*start, frozenset(), world.lives)
        self._coins = self._cells_with(Content.COIN)
        self._keys = self._cells_with(Content.KEY)
        self._untouched = np.full((GRID_SIZE, GRID_SIZE), Content.VOID, np.uint8)
        for cell, content in self._map.items():
            self._untouched[cell] = content
        self._state = self._start

    def __repr__(self) -> str:
        return f"<GridWorld {self.name}>"

    @property
    def cells(self) -> NDArray[np.uint8]:
        """What every cell shows now, uint8, shape (16, 16), values of `Content`."""
        state = self._state
        cells = self._untouched.copy()
        for cell in state.taken:
            is_door = self._map[cell] is Content.DOOR
            cells[cell] = Content.OPEN_DOOR if is_door else Content.FLOOR
        cells[state.row, state.column] = Content.AGENT
        cells[0, : state.lives] = Content.LIFE
        return cells

    def reset(self) -> Step:
        """Go to the start."""
        self._state = self._start
        return self._look(0.0)

    def step(self, action: int) -> Step:
        """Move by one cell."""
        check_call(self, self.name, action, self._over(self._state))
        self._state, reward = self._after(self._state, action)
        return self._look(reward)

    def save(self) -> GridState:
        """Return the true state."""
        return self._state

    def restore(self, state: GridState) -> None:
        """Go back to a state of the same world."""
        self._state = state

    def _after(self, state: GridState, action: int) -> tuple[GridState, float]:
        """State and reward of moving."""
        down, right = ((-1, 0), (1, 0), (0, -1), (0, 1))[action]
        cell = (state.row + down, state.column + right)
        content = Content.FLOOR if cell in state.taken else self._map[cell]
        if content is Content.WALL or (content is Content.DOOR and not self._keys <= state.taken):
            return state, 0.0
        if content is Content.LAVA:
            return self._start._replace(taken=state.taken, lives=state.lives - 1), 0.0
        taken = state.taken
        if content in (Content.KEY, Content.COIN, Content.DOOR):
            taken |= {cell}
        reward = 1.0 if content in (Content.GOAL, Content.COIN) else 0.0
        return GridState(*cell, taken, state.lives), reward

    def _over(self, state: GridState) -> bool:
        at_goal = self._map[state.row, state.column] is Content.GOAL
        has_all = bool(self._coins) and self._coins <= state.taken
        return at_goal or has_all or (self._start.lives > 0 and state.lives == 0)

    def _cells_with(self, content: Content) -> frozenset[tuple[int, int]]:
        return frozenset(cell for cell, shown in self._map.items() if shown is content)

    def _look(self, reward: float) -> Step:
        screen = read_only(_draw(self.cells))
        return Step(screen, reward, self._over(self._state), self._state.lives)


def _read_map(rows: Sequence[str]) -> tuple[dict[tuple[int, int], Content], tuple[int, int]]:
    """Content by cell of a map put in the middle of the screen, and the agent's start."""
    top, left = (GRID_SIZE - len(rows)) // 2, (GRID_SIZE - len(rows[0])) // 2
    letters = {
        (row, column): letter
        for row, line in enumerate(rows, top)
        for column, letter in enumerate(line, left)
    }
    start = next(cell for cell, letter in letters.items() if letter == "A")
    return {cell: _LETTERS[letter] for cell, letter in letters.items()}, start


def _picture(content: Content) -> NDArray[np.uint8]:
    """Grey levels of one cell, uint8 (8, 8)."""
    _, ink, paper, bits = _LOOKS[content]
    is_ink = np.unpackbits(np.frombuffer(bits.to_bytes(CELL_SIZE, "big"), np.uint8))
    return np.where(is_ink, ink, paper).astype(np.uint8).reshape(CELL_SIZE, CELL_SIZE)


_PICTURES = np.stack([_picture(content) for content in Content])


def _draw(cells: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Screen, uint8 (128, 128), of what the cells show."""
    side = GRID_SIZE * CELL_SIZE
    return np.ascontiguousarray(_PICTURES[cells].swapaxes(1, 2)).reshape(side, side)
